import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { step } from '../../src/conversation/step.js';
import { runs } from '../support/depth.js';
import { ACTS, type Act, type Mode, play, type StepFunction } from './play.js';

const act: fc.Arbitrary<Act> = fc.constantFrom(...ACTS);

const idle = { afterMs: 8000, prompts: ['Are you still there?', 'Hello?'], goodbye: 'Goodbye.' };

const modes: fc.Arbitrary<Mode> = fc
  .record({
    interruptible: fc.boolean(),
    keysInterrupt: fc.boolean(),
    idle: fc.constantFrom(idle, undefined),
    endsTurns: fc.boolean(),
    isInterruptibleGreeting: fc.boolean(),
    fallbacks: fc.nat({ max: 2 }),
  })
  .map(({ isInterruptibleGreeting: interruptible, fallbacks, ...policy }) => ({
    policy: { ...policy, transcribesCaller: policy.endsTurns },
    greeting: { text: 'Hello, this is the bakery.', interruptible },
    fallbacks,
  }));

/** The first broken sentence of any schedule, and the fewest acts that break it. */
function counterexample(by: StepFunction): { acts: readonly Act[]; broken: readonly string[] } | undefined {
  const property = fc.property(fc.array(act, { maxLength: 60, size: 'max' }), modes, (acts, mode) => {
    return play(acts, mode, by).broken.length === 0;
  });
  const found = fc.check(property, { seed: 1, numRuns: 3000 });
  if (found.counterexample === null) return undefined;
  const [acts, mode] = found.counterexample;
  return { acts, broken: play(acts, mode, by).broken };
}

describe('the conversation', () => {
  it('keeps its promises, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(act, { minLength: 40, maxLength: 60 }), modes, (acts, mode) => {
        expect(play(acts, mode).broken).toEqual([]);
      }),
      { numRuns: runs(150, 20_000) },
    );
  });
});

it('says after a hold what was asked for before it, and answers the caller behind that', () => {
  const acts: Act[] = [
    { act: 'words', text: 'yes' },
    { act: 'fall silent' },
    { act: 'audible' },
    { act: 'heard out' },
    { act: 'say nothing' },
    { act: 'ask', interrupts: true },
    { act: 'hold' },
    { act: 'resume', how: 'continue' },
    { act: 'audible' },
    { act: 'heard out' },
  ];
  const policy = {
    interruptible: false,
    keysInterrupt: false,
    idle: undefined,
    endsTurns: false,
    transcribesCaller: false,
  };
  const mode: Mode = { policy, greeting: { text: 'Hello, this is the bakery.', interruptible: false } };
  const spoken: string[] = [];
  const cuttingIn: unknown[] = [];
  const by: StepFunction = (...given) => {
    const taken = step(...given);
    for (const effect of taken.effects) {
      if (!('utterance' in effect)) continue;
      spoken.push(effect.utterance?.text ?? effect.type);
      if (effect.utterance?.manner.cutsIn === true) cuttingIn.push(effect);
    }
    return taken;
  };
  expect(play(acts, { ...mode, isStored: false }, by).broken).toEqual([]);
  expect(spoken).toEqual(['Hello, this is the bakery.', 'answer', 'request-0', 'request-0', 'answer-again']);
  // The caller may interrupt each of them at once.
  expect(cuttingIn).toEqual([]);
});

describe('a planted fault', () => {
  const changed =
    (
      change: (
        step: ReturnType<StepFunction>,
        ...given: Parameters<StepFunction>
      ) => ReturnType<StepFunction>,
    ): StepFunction =>
    (...given) =>
      change(step(...given), ...given);

  const held = new WeakSet<object>();
  const faults: Readonly<Record<string, StepFunction>> = {
    'what a hold cuts off is forgotten': changed((next) => {
      const { floor } = next.state.floor;
      if (floor.phase !== 'held') return next;
      return {
        ...next,
        state: { ...next.state, floor: { ...next.state.floor, floor: { ...floor, rest: null } } },
      };
    }),
    'keys interrupt whatever is said': (state, input, given) => {
      const { floor } = state.floor;
      const isSaid = floor.phase === 'thinking' || floor.phase === 'speaking';
      if (input.type !== 'key' || !isSaid) return step(state, input, given);
      const manner = { ...floor.utterance.manner, interruptible: true };
      const yielding = { ...floor, utterance: { ...floor.utterance, manner } };
      return step({ ...state, floor: { ...state.floor, floor: yielding } }, input, given);
    },
    'a goodbye ends nothing': changed((next, _, input) => {
      return {
        ...next,
        effects: next.effects.filter(({ type }) => input.type !== 'over' || type !== 'hang-up'),
      };
    }),
    'an answer is in the history as it was meant': (state, input, given) => {
      if (input.type !== 'stopped' || input.answer === null) return step(state, input, given);
      const { heard, unheard } = input.answer;
      const heardAfter = `${heard} ${unheard}`.trim();
      return step(state, { ...input, answer: { ...input.answer, heardAfter } }, given);
    },
    'nobody knows that the caller waits': changed((next) => {
      const { watch } = next.state;
      const wait = { ...watch.wait, since: null };
      return { ...next, state: { ...next.state, watch: { ...watch, wait, runsSince: null } } };
    }),
    'a request is told of before it is said': changed((next, _, input) => {
      if (input.type !== 'request') return next;
      const id = input.manner.request ?? '';
      return { ...next, effects: [...next.effects, { type: 'requested', id, outcome: 'heard' }] };
    }),
    'a takeover owes nothing': changed((next, _, input) => {
      return input.type === 'leaves'
        ? { ...next, state: { ...next.state, owed: { kind: 'nothing' } } }
        : next;
    }),
    'something is known that is not in the state': (state, input, given) => {
      const next = step(state, input, given);
      if (input.type === 'hold') held.add(next.state);
      return input.type === 'stopped' && held.has(state) ? { ...next, effects: [] } : next;
    },
  };

  it.each(Object.keys(faults))('is found, and shown in eight acts at most: %s', (name) => {
    const found = counterexample(faults[name] as StepFunction);
    expect(found?.broken).not.toEqual([]);
    expect(found?.acts.length).toBeLessThanOrEqual(8);
  });
});
