// A transfer: a second leg is dialed, and connected with the first when it is answered.
import type { Exchange } from './exchange.js';
import type { LegSettings } from './leg-contract.js';
import { Leg } from './leg.js';
import { detectMachine, type DetectionMode } from './machine-detection.js';
import type { PreparedCallee } from './prepared-callee.js';
import { ring } from './ring.js';

export interface TransferOrder {
  settings: Omit<LegSettings, 'direction' | 'callSessionId'>;
  callee: PreparedCallee;
  timeoutMs: number;
  detection: DetectionMode;
}

/** Dials the second leg. The first one keeps its stream, and stays up when nobody answers. */
export function startTransfer(exchange: Exchange, first: Leg, order: TransferOrder): Leg {
  const { callee } = order;
  const second = new Leg(exchange, {
    ...order.settings,
    direction: 'outbound',
    callSessionId: first.callSessionId,
  });
  first.transferLeg = second;
  void second.initiate();
  ring(second, callee, {
    timeoutMs: order.timeoutMs,
    retryOnTimeout: undefined,
    onAnswered() {
      // No stream will come that this person could wait for.
      second.line.start(second.person.steps);
      first.bridge(second);
      if (exchange.bridgedLegs !== 'target') void first.emit('call.bridged', {});
      if (exchange.bridgedLegs !== 'caller') void second.emit('call.bridged', {});
      detectMachine(second, callee.callee, { mode: order.detection, how: exchange.machineDetection });
    },
  });
  void second.settled.then(() => {
    if (first.transferLeg === second) first.transferLeg = undefined;
  });
  return second;
}
