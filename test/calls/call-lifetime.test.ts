import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import type { CallEventType } from '../../src/contract/call-event.js';
import { reduceCall } from '../../src/events/reduce.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { CallBench, type ReportFields, type Steering, startText, text } from '../support/call-bench.js';
import { runs } from '../support/depth.js';

/** A call of either direction at a carrier of either kind, with every socket it has had. */
class Call {
  readonly bench: CallBench;
  readonly sockets: ReturnType<CallBench['admit']>[] = [];
  callId = 'call-1';
  carrierCallId = 'carrier-call-1';

  constructor(steering: Steering) {
    this.bench = new CallBench({ steering, supports: { callCost: true }, recording: true, prepares: true });
  }

  async begin(direction: 'inbound' | 'outbound'): Promise<void> {
    if (direction === 'inbound') {
      this.bench.ring();
      return;
    }
    this.bench.desk
      .dial({
        to: '+15550111',
        from: '+15550100',
        recipe: undefined,
        machineDetection: true,
        voicemailMessage: 'Please call back.',
        ringTimeoutSeconds: 25,
      })
      .catch(() => {});
    this.callId = this.bench.rest.dials[0]?.callId ?? '';
    this.carrierCallId = 'carrier-out-1';
    await this.bench.pass();
  }

  connect(): void {
    const { callId, bench } = this;
    if (!bench.desk.hasEnded(callId) && bench.desk.expectsStream(callId))
      this.sockets.push(bench.admit({ callId }));
  }

  say(message: string): void {
    this.sockets.at(-1)?.receiver.receiveText(message);
  }

  report(report: ReportFields): void {
    this.bench.report({ callId: this.callId, carrierCallId: this.carrierCallId, ...report });
  }
}

/** What may happen to a call, in any order. */
const STEPS = {
  'the carrier asks': ({ bench, callId, carrierCallId }) => {
    const direction = callId === 'call-1' ? 'inbound' : 'outbound';
    return bench.ring(callId, { carrierCallId, direction });
  },
  'a socket': (call) => call.connect(),
  start: (call) => call.say(startText({ carrierCallId: call.carrierCallId })),
  'a socket that starts': (call) => {
    call.connect();
    call.say(startText({ carrierCallId: call.carrierCallId }));
  },
  'start of another call': (call) => call.say(startText({ carrierCallId: 'carrier-other' })),
  'start of another codec': (call) =>
    call.say(startText({ carrierCallId: call.carrierCallId, format: null, codec: 'x' })),
  audio: (call) => call.say(text({ type: 'audio', samples: 700 })),
  key: (call) => call.say(text({ type: 'dtmf', digit: '1' })),
  stop: (call) => call.say(text({ type: 'stop' })),
  bomb: (call) => call.say('bomb'),
  noise: ({ sockets }) => sockets.at(-1)?.receiver.receiveUnexpected('noise'),
  'socket closes': ({ sockets }) => sockets.at(-1)?.receiver.socketClosed(1006),
  ringing: (call) => call.report({ type: 'status', status: 'ringing', outcome: null, sequence: null }),
  active: (call) => call.report({ type: 'status', status: 'active', outcome: null, sequence: 2 }),
  over: (call) => call.report({ type: 'status', status: 'completed', outcome: 'answered', sequence: 3 }),
  busy: (call) => call.report({ type: 'status', status: 'completed', outcome: 'busy', sequence: null }),
  'key by webhook': (call) => call.report({ type: 'dtmf', digit: '1' }),
  human: (call) => call.report({ type: 'machine-detection', verdict: 'human' }),
  machine: (call) => call.report({ type: 'machine-detection', verdict: 'machine' }),
  'machine ready': (call) => call.report({ type: 'machine-detection', verdict: 'machine-ready' }),
  fax: (call) => call.report({ type: 'machine-detection', verdict: 'fax' }),
  'transfer connected': (call) => call.report({ type: 'transfer', result: 'connected' }),
  'transfer failed': (call) => call.report({ type: 'transfer', result: 'busy' }),
  'stream failed': (call) => call.report({ type: 'stream-failed', streamId: null }),
  'speech ended': (call) => call.report({ type: 'speech-ended' }),
  cost: (call) => call.report({ type: 'cost', costUsd: 0.01 }),
  recording: (call) =>
    call.report({ type: 'recording', recording: { url: null, durationMs: 1, status: 'completed' } }),
  'operator hangs up': ({ bench, callId }) => void bench.desk.hangUp(callId).catch(() => {}),
  'operator transfers': ({ bench, callId }) => void bench.desk.transfer(callId, '+15550123').catch(() => {}),
  'operator sends keys': ({ bench, callId }) => void bench.desk.sendDigits(callId, '1w2').catch(() => {}),
  'agent speaks': ({ bench }) => bench.engines[0]?.context.playout.push(new Int16Array(4000)),
  'agent hangs up': ({ bench }) => bench.engines[0]?.context.endCall('agent-hangup'),
  'engine breaks': ({ bench }) => {
    const engine = bench.engines[0];
    if (engine !== undefined) engine.trouble = 'audio';
  },
  'carrier refuses': ({ bench }) => {
    bench.rest.failure = new CarrierError('no', { status: 422, retryable: false });
  },
  'carrier is well': ({ bench }) => {
    bench.rest.failure = undefined;
  },
  'a moment': ({ bench }) => bench.pass(0),
  'a second': ({ bench }) => bench.pass(1000),
  'twelve seconds': ({ bench }) => bench.pass(12_000),
  'an hour': ({ bench }) => bench.pass(3_600_000),
  shutdown: ({ bench }) => void bench.desk.shutDown(1000),
} satisfies Record<string, (call: Call) => unknown>;

type Step = keyof typeof STEPS;
const anyStep = fc.constantFrom(...(Object.keys(STEPS) as Step[]));
/** Calls that are over are remembered for two hours: what comes later is a stranger's. */
const anySteps = fc
  .array(anyStep, { maxLength: 25 })
  .filter((steps) => steps.filter((step) => step === 'an hour').length < 2);

/** Facts that may follow the end. */
const LATE: readonly CallEventType[] = [
  'recording.completed',
  'cost.updated',
  'incident.noted',
  'hangup.updated',
];

/** What may be an error in the log: the engine breaks, and the carrier refuses until the server has stopped. */
const TROUBLE = ['voice engine failed', 'the call may still be up at the carrier: hang it up there'];

describe.each(['replies', 'commands'] as const)('at a carrier that is steered by %s', (steering) => {
  describe.each(['inbound', 'outbound'] as const)('an %s call', (direction) => {
    it('ends once whatever happens in whatever order, keeps count of its facts, and leaves nothing behind', async () => {
      await fc.assert(
        fc.asyncProperty(anySteps, async (steps) => {
          const call = new Call(steering);
          const { bench } = call;
          const other = bench.call('call-2');
          bench.engines.length = 0;
          await call.begin(direction);
          for (const step of steps) await STEPS[step](call);
          for (const { receiver } of call.sockets) receiver.socketClosed(1005);
          // The longest that a call without a stream lasts: a transfer, a machine's greeting and the message.
          await bench.pass(150_000);

          const events = bench.events.filter(({ callId }) => callId === call.callId);
          const types = events.map(({ type }) => type);
          const end = types.indexOf('call.ended');
          if (types.length > 0) {
            expect(types.filter((type) => type === 'call.ended')).toHaveLength(1);
            expect(types.slice(end + 1).filter((type) => !LATE.includes(type))).toEqual([]);
          }
          expect(types.filter((type) => type === 'call.started').length).toBeLessThan(2);
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
          const record = events.reduce<CallRecord | undefined>(reduceCall, undefined);
          expect([undefined, 'completed']).toContain(record?.status);
          expect(bench.desk.isLive(call.callId)).toBe(false);
          for (const { socket } of call.sockets) expect(socket.closes.length).toBeLessThanOrEqual(1);
          expect(bench.engines.length).toBeLessThan(2);
          expect(bench.engines.every(({ heard }) => heard.at(-1) === 'close')).toBe(true);
          expect(bench.preparations.every(({ isSettled }) => isSettled)).toBe(true);
          expect(bench.logger.sentences('error').filter((line) => !TROUBLE.includes(line))).toEqual([]);

          if (!steps.includes('shutdown')) {
            bench.rest.failure = undefined;
            other.receiver.receiveText(text({ type: 'stop' }));
            expect(bench.ofType('call.ended', 'call-2').length).toBe(1);
          }
          await bench.pass(700_000);
          expect(bench.clock.pending).toBe(0);
        }),
        { numRuns: runs(50, 200) },
      );
    }, 60_000);
  });
});
