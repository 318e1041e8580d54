import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOBODY_WAITS } from '../../src/conversation/wait.js';
import { PlayedCarrier, type Weather } from './played-carrier.js';
import { runs } from '../support/depth.js';

/** What people, networks and agents do to a call. */
const STEPS = {
  'the other side answers': (carrier) => carrier.answer(),
  'the other side leaves': (carrier) => carrier.leave(),
  'the stream breaks': (carrier) => carrier.cut(),
  'the number answers': (carrier) => carrier.dialed('answers'),
  'the number is busy': (carrier) => carrier.dialed('busy'),
  'the number leaves': (carrier) => carrier.dialed('leaves'),
  human: (carrier) => carrier.report({ type: 'machine-detection', verdict: 'human' }),
  machine: (carrier) => carrier.report({ type: 'machine-detection', verdict: 'machine' }),
  'machine ready': (carrier) => carrier.report({ type: 'machine-detection', verdict: 'machine-ready' }),
  'a webhook arrives': (carrier) => carrier.deliver('first'),
  'the last webhook arrives': (carrier) => carrier.deliver('last'),
  'a webhook arrives twice': (carrier) => carrier.deliver('first', 2),
  'operator hangs up': ({ bench, callId }) => void bench.desk.hangUp(callId).catch(() => {}),
  'operator transfers': ({ bench, callId }) => void bench.desk.transfer(callId, '+15550123').catch(() => {}),
  'operator sends keys': ({ bench, callId }) => void bench.desk.sendDigits(callId, '1w2').catch(() => {}),
  'agent hangs up': ({ bench }) => bench.engines[0]?.context.endCall('agent-hangup'),
  'agent is lost for words': ({ bench }) =>
    bench.engines[0]?.context.endCall('provider-failed', { code: 'X', message: 'x', wait: NOBODY_WAITS }),
  'agent breaks': ({ bench }) => {
    const engine = bench.engines[0];
    if (engine !== undefined) engine.trouble = 'hold';
  },
  'a moment': ({ bench }) => bench.pass(100),
  'three seconds': ({ bench }) => bench.pass(3000),
  'twelve seconds': ({ bench }) => bench.pass(12_000),
  'a minute': ({ bench }) => bench.pass(60_000),
  'an hour': (carrier) => {
    carrier.deliverAll();
    return carrier.bench.pass(3_600_000);
  },
  shutdown: ({ bench }) => void bench.desk.shutDown(5000),
} satisfies Record<string, (carrier: PlayedCarrier) => unknown>;

type Step = keyof typeof STEPS;

const anyStep = fc.constantFrom(...(Object.keys(STEPS) as Step[]));
const anyWeather = fc.constantFrom<Weather>('well', 'well', 'refused', 'unreachable', 'lost', 'slow');
/** A step, and what the network is like while it happens. */
const anySchedule = fc.array(fc.tuple(anyStep, anyWeather), { maxLength: 20 });
/** Most calls that are worth something come as far as a conversation. */
const anyOpening = fc.boolean();

describe.each(['replies', 'commands'] as const)('at a carrier that is steered by %s', (steering) => {
  describe.each(['inbound', 'outbound'] as const)('an %s call', (direction) => {
    it('leaves nobody on the line, or its record says so', async () => {
      await fc.assert(
        fc.asyncProperty(anyOpening, anySchedule, anyWeather, async (isTalking, schedule, atDial) => {
          const carrier = new PlayedCarrier(steering, direction);
          const { bench } = carrier;
          carrier.weather = isTalking ? 'well' : atDial;
          await carrier.begin();
          if (isTalking) {
            carrier.answer();
            for (let letter = 0; letter < 3; letter += 1) {
              carrier.deliver('first');
              await bench.pass(100);
            }
            expect(bench.engines).toHaveLength(1);
          }
          for (const [step, weather] of schedule) {
            carrier.weather = weather;
            await STEPS[step](carrier);
            await bench.pass();
          }
          await carrier.settle();
          // A conversation that nobody ends lasts.
          void bench.desk.hangUp(carrier.callId).catch(() => {});
          await carrier.settle();

          // Whatever was refused until now works again some time.
          carrier.weather = 'well';
          await bench.pass(10 * 60_000);
          await carrier.settle();

          expect(bench.desk.liveCount).toBe(0);
          const types = bench.types(carrier.callId);
          expect(types.filter((type) => type === 'call.ended').length).toBe(types.length > 0 ? 1 : 0);
          if (!carrier.isStranded) return;
          const notes = bench.record(carrier.callId).incidents.map(({ message }) => message);
          expect(notes.join()).toMatch(/did not confirm|not known/);
        }),
        { numRuns: runs(75, 300) },
      );
    }, 60_000);
  });
});
