// From what `serve` was given as onMessage to what answers one call: a function, or the way to an address of the operator's.
import type { Clock } from '../../base/clock.js';
import type { MessageRoute, OnMessage } from './responder.js';
import { createHttpOnMessage } from './http.js';
import { ResponderSocket } from './socket.js';

/** A URL is http, https, ws or wss. */
export type MessageTarget = OnMessage | URL;

/** One call's way to the target. Who opens it closes it. */
export function openMessageRoute(target: MessageTarget, { clock }: { clock: Clock }): MessageRoute {
  if (!(target instanceof URL)) return { onMessage: target };
  if (/^https?:$/.test(target.protocol)) return { onMessage: createHttpOnMessage(target, clock) };
  const socket = new ResponderSocket(target);
  return {
    onMessage: (data) => socket.ask(data),
    warmUp: () => socket.warmUp(),
    close: () => socket.close(),
  };
}
