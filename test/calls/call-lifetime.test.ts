import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallBench, startText, text } from '../support/call-fakes.js';

/** What may happen to a call, in any order. */
const STEPS = {
  start: ({ receiver }) => receiver.receiveText(startText()),
  'start of another codec': ({ receiver }) => receiver.receiveText(startText({ format: null, codec: 'x' })),
  audio: ({ receiver }) => receiver.receiveText(text({ type: 'audio', samples: 700 })),
  key: ({ receiver }) => receiver.receiveText(text({ type: 'dtmf', digit: '1' })),
  stop: ({ receiver }) => receiver.receiveText(text({ type: 'stop' })),
  bomb: ({ receiver }) => receiver.receiveText('bomb'),
  noise: ({ receiver }) => receiver.receiveUnexpected('noise'),
  'socket closes': ({ receiver }) => receiver.socketClosed(1006),
  'operator hangs up': ({ bench }) => void bench.desk.hangUp('call-1').catch(() => {}),
  'operator transfers': ({ bench }) => void bench.desk.transfer('call-1', '+15550123').catch(() => {}),
  'carrier reports the end': ({ bench }) => bench.desk.report('carrier-call-1', 'completed', 'answered'),
  'agent speaks': ({ bench }) => bench.engines[0]?.context.playout.push(new Int16Array(4000)),
  'agent hangs up': ({ bench }) => bench.engines[0]?.context.endCall('agent-hangup'),
  'engine breaks': ({ bench }) => {
    const engine = bench.engines[0];
    if (engine !== undefined) engine.trouble = 'audio';
  },
  'a second': ({ bench }) => bench.clock.advanceAsync(1000),
  'an hour': ({ bench }) => bench.clock.advanceAsync(3_600_000),
  shutdown: ({ bench }) => void bench.desk.shutDown(1000),
} satisfies Record<string, (call: { bench: CallBench } & ReturnType<CallBench['admit']>) => unknown>;

type Step = keyof typeof STEPS;
const anyStep = fc.constantFrom(...(Object.keys(STEPS) as Step[]));

it('whatever happens in whatever order, a call ends once, keeps count of its facts, and leaves nothing behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 20 }), async (steps) => {
      const bench = new CallBench();
      const other = bench.call('call-2');
      bench.engines.length = 0;
      const call = { bench, ...bench.admit() };
      for (const step of steps) await STEPS[step](call);
      call.receiver.socketClosed(1005);
      await bench.clock.advanceAsync(5000);

      const types = bench.types();
      const events = bench.events.filter(({ callId }) => callId === 'call-1');
      expect(types.filter((type) => type === 'call.ended')).toHaveLength(types.length === 0 ? 0 : 1);
      if (types.length > 0) expect(types.at(-1)).toBe('call.ended');
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(bench.desk.isLive('call-1')).toBe(false);
      expect(call.socket.closes.length).toBeLessThanOrEqual(1);
      expect(bench.engines.every(({ heard }) => heard.at(-1) === 'close')).toBe(true);
      expect(bench.logger.sentences('error').every((line) => line === 'voice engine failed')).toBe(true);

      other.receiver.receiveText(text({ type: 'stop' }));
      expect(bench.ofType('call.ended', 'call-2')).toHaveLength(1);
      expect(bench.clock.pending).toBe(0);
    }),
    { numRuns: 150 },
  );
});
