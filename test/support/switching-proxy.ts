// A proxy in front of several servers, of which one gets what comes next.
import { connect } from 'node:net';
import { type Joint, openJoint } from './joint.js';

export interface SwitchingProxy extends Joint {
  /** New connections go to this port of this machine; those that are there stay. */
  switchTo(port: number): void;
}

export async function startSwitchingProxy(): Promise<SwitchingProxy> {
  let port = 0;
  const joint = await openJoint(() => connect(port, '127.0.0.1'));
  return {
    ...joint,
    switchTo(next) {
      port = next;
    },
  };
}
