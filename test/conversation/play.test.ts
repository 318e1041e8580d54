import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { step } from '../../src/conversation/step.js';
import { runs } from '../support/depth.js';
import { ACTS, type Act } from './acts.js';
import { type Mode, play, type StepFunction } from './play.js';

/** Without more of these, hardly any schedule comes to a tool that gives its result when another answer is on. */
const TOOLS: readonly Act[] = [
  { act: 'words', text: 'yes' },
  { act: 'fall silent' },
  { act: 'call tool' },
  { act: 'tool gives' },
];

const act: fc.Arbitrary<Act> = fc.constantFrom(...ACTS, ...Array.from({ length: 6 }, () => TOOLS).flat());

const ANSWERING: readonly Act[] = [
  { act: 'audible' },
  { act: 'heard out' },
  { act: 'speak' },
  { act: 'words', text: 'yes' },
  { act: 'fall silent' },
  { act: 'audible' },
];

/** Chance comes too seldom to where a tool runs, and where the call is to be hung up. */
const beginning: fc.Arbitrary<readonly Act[]> = fc.constantFrom<readonly Act[]>(
  [],
  [],
  [...ANSWERING, { act: 'call tool' }],
  [...ANSWERING, { act: 'ends call' }, { act: 'heard out' }],
);

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
  const [first, { policy, ...mode }] = found.counterexample;
  // The other kind of driver may need fewer.
  const brokenBy = (acts: readonly Act[]) =>
    [policy.endsTurns, !policy.endsTurns]
      .map((endsTurns) => ({ ...mode, policy: { ...policy, endsTurns, transcribesCaller: endsTurns } }))
      .map((each) => play(acts, each, by).broken)
      .find((broken) => broken.length > 0) ?? [];
  const acts = fewest(first, (some) => brokenBy(some).length > 0);
  return { acts, broken: brokenBy(acts) };
}

/** Without any act that it does without: what is left out in the middle is not tried by fast-check. */
function fewest(acts: readonly Act[], isBroken: (acts: readonly Act[]) => boolean): readonly Act[] {
  const place = acts.findIndex((_, index) => isBroken(acts.toSpliced(index, 1)));
  return place === -1 ? acts : fewest(acts.toSpliced(place, 1), isBroken);
}

describe('the conversation', () => {
  it('keeps its promises, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(beginning, fc.array(act, { minLength: 40, maxLength: 60 }), modes, (first, acts, mode) => {
        expect(play([...first, ...acts], mode).broken).toEqual([]);
      }),
      { numRuns: runs(150, 10_000) },
    );
  });
});

const REQUEST = 'request-0 request-0-ends';

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
  expect(spoken).toEqual(['Hello, this is the bakery.', 'answer', REQUEST, REQUEST, 'answer-again']);
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
    'what a tool gave stays news': changed((next, _, input) => {
      if (input.type !== 'news') return next;
      const { turns } = next.state;
      const untold = Object.entries(turns.tools).map(([id, tool]) => [id, { ...tool, told: false }] as const);
      return { ...next, state: { ...next.state, turns: { ...turns, tools: Object.fromEntries(untold) } } };
    }),
    'words in whose place a tool was called are given up': (state, input, given) => {
      return input.type === 'unsaid' ? { state, effects: [] } : step(state, input, given);
    },
    'what a tool gave is never answered': (state, input, given) => {
      return input.type === 'results' ? { state, effects: [] } : step(state, input, given);
    },
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
