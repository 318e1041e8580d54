import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import type { CallOutcome, EndReason } from '../../src/contract/call-record.js';
import { SORRY } from './scenario.js';
import { matching, OUTBOUND, Scene, type SceneKind } from './scene.js';

/** How far a call has come when the server stops, and what is asked of the carrier then. */
const PHASES: readonly {
  name: string;
  only?: Partial<SceneKind>;
  reach(scene: Scene): Promise<unknown>;
  outcome: CallOutcome;
  endReason?: EndReason;
  requests: string[];
}[] = [
  {
    name: 'rings',
    only: { steering: 'commands', direction: 'inbound' },
    reach: (scene) => scene.ring(),
    outcome: 'canceled',
    requests: ['answer ID', 'hangUp ID'],
  },
  {
    name: 'rings over there',
    only: { direction: 'outbound' },
    reach: (scene) => scene.ring(),
    outcome: 'canceled',
    requests: [`dial ${OUTBOUND.to}`, 'hangUp ID'],
  },
  {
    name: 'waits for its stream',
    only: { steering: 'commands', direction: 'inbound' },
    async reach(scene) {
      await scene.ring();
      await scene.answer();
    },
    outcome: 'answered',
    requests: ['answer ID', 'startStream ID preferred', 'hangUp ID'],
  },
  { name: 'is up', reach: (scene) => scene.up(), outcome: 'answered', requests: ['hangUp ID'] },
  {
    name: 'waits for its stream once more',
    only: { steering: 'commands' },
    async reach(scene) {
      await scene.up();
      scene.cut();
    },
    outcome: 'answered',
    requests: ['startStream ID preferred', 'hangUp ID'],
  },
  {
    name: 'sends keys',
    async reach(scene) {
      await scene.up();
      void scene.bench.desk.sendDigits(scene.callId, '1').catch(() => {});
    },
    outcome: 'answered',
    requests: ['sendDigits ID 1', 'hangUp ID'],
  },
  {
    name: 'is being handed over',
    async reach(scene) {
      await scene.up();
      await scene.bench.desk.transfer(scene.callId, '+15550123');
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100'],
  },
  {
    name: 'is being ordered to be handed over',
    async reach(scene) {
      await scene.up();
      void scene.bench.desk.transfer(scene.callId, '+15550123');
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100'],
  },
  {
    name: 'is refused to be handed over at that moment',
    async reach(scene) {
      await scene.up();
      scene.bench.rest.failures.transfer = new CarrierError('no', { status: 400, retryable: false });
      scene.bench.desk.transfer(scene.callId, '+15550123').catch(() => {});
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100', 'hangUp ID'],
  },
  {
    name: 'hears an apology',
    async reach(scene) {
      await scene.up();
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
    },
    outcome: 'answered',
    endReason: 'provider-failed',
    requests: [`speak ID ${SORRY}`, 'hangUp ID'],
  },
];

describe.each(PHASES)('a call that $name when the server stops', (phase) => {
  it.each(matching(phase))('$direction, $steering', async (kind) => {
    const scene = new Scene(kind);
    await phase.reach(scene);
    const closes = [...(scene.socket?.closes ?? [])];
    await scene.bench.desk.shutDown(5000);
    const record = await scene.expectEnd();
    expect([record.endReason, record.outcome]).toEqual([phase.endReason ?? 'server-shutdown', phase.outcome]);
    expect(scene.bench.rest.requests).toEqual(
      phase.requests.map((line) => line.replace('ID', scene.carrierCallId)),
    );
    // The sockets are the server's to close.
    if (phase.endReason !== 'provider-failed') expect(scene.socket?.closes ?? []).toEqual(closes);
  });
});
