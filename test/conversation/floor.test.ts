import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLeaving, NOBODY_SPEAKS } from '../../src/conversation/floor.js';
import { stepFloor } from '../../src/conversation/floor-step.js';
import { runs } from '../support/depth.js';
import { type Act, type Mode, play, type StepFunction } from './floor-play.js';

const act = fc.oneof(
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(20, 300, 1000, 8000) }),
  fc.record({ act: fc.constant('words' as const), text: fc.constantFrom('yes', 'no, Friday') }),
  fc.record({ act: fc.constant('ask' as const), interrupts: fc.boolean() }),
  fc.record({
    act: fc.constant('resume' as const),
    how: fc.constantFrom('continue' as const, 'listen', 'news'),
  }),
  fc.record({
    act: fc.constantFrom(
      'speak' as const,
      'fall silent',
      'say nothing',
      'press',
      'finish pressing',
      'vendor interrupts',
      'interrupt',
      'doubt',
      'sign',
      'answer begins',
      'audible',
      'audible',
      'ends call',
      'heard out',
      'heard out',
      'tool gives',
      'hold',
    ),
  }),
);

const acts: fc.Arbitrary<Act[]> = fc.array(act, { minLength: 40, maxLength: 60 });

const idle = { afterMs: 8000, prompts: ['Are you still there?', 'Hello?'], goodbye: 'Goodbye.' };

const modes: fc.Arbitrary<Mode> = fc.record({
  policy: fc.record({
    interruptible: fc.boolean(),
    keysInterrupt: fc.boolean(),
    idle: fc.constantFrom(idle, undefined),
    endsTurns: fc.boolean(),
  }),
  greeting: fc.record({ text: fc.constant('Hello, this is the bakery.'), interruptible: fc.boolean() }),
});

/** The first broken sentence of any schedule, and the fewest acts that break it. */
function counterexample(step: StepFunction): { acts: readonly Act[]; broken: readonly string[] } | undefined {
  const property = fc.property(fc.array(act, { maxLength: 60 }), modes, (schedule, mode) => {
    return play(schedule, mode, step).broken.length === 0;
  });
  const found = fc.check(property, { seed: 1, numRuns: 5000 });
  if (found.counterexample === null) return undefined;
  const [shortest, mode] = found.counterexample;
  return { acts: shortest, broken: play(shortest, mode, step).broken };
}

describe('the floor', () => {
  it('keeps its promises, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(acts, modes, (schedule, mode) => {
        expect(play(schedule, mode).broken).toEqual([]);
      }),
      { numRuns: runs(150, 20_000) },
    );
  });
});

it('says after a hold what was asked for before it, and answers the caller behind that', () => {
  const acts: Act[] = [
    { act: 'words', text: 'yes' },
    { act: 'audible' },
    { act: 'heard out' },
    { act: 'say nothing' },
    { act: 'ask', interrupts: true },
    { act: 'hold' },
    { act: 'resume', how: 'continue' },
    { act: 'audible' },
    { act: 'heard out' },
  ];
  const policy = { interruptible: false, keysInterrupt: false, idle: undefined, endsTurns: false };
  const mode: Mode = { policy, greeting: { text: 'Hello, this is the bakery.', interruptible: false } };
  const spoken: string[] = [];
  const cuttingIn: unknown[] = [];
  const step: StepFunction = (...given) => {
    const taken = stepFloor(...given);
    for (const effect of taken.effects) {
      if (!('utterance' in effect)) continue;
      spoken.push(effect.utterance?.text ?? effect.type);
      if (effect.utterance?.manner.cutsIn === true) cuttingIn.push(effect);
    }
    return taken;
  };
  expect(play(acts, { ...mode, isStored: false }, step).broken).toEqual([]);
  expect(spoken).toEqual(['Hello, this is the bakery.', 'answer', 'request 0', 'request 0', 'answer-again']);
  // The caller may interrupt each of them at once.
  expect(cuttingIn).toEqual([]);
});

it.each([
  ['nobody has to be heard', false, {}, true],
  ['the caller is owed an answer', true, {}, false],
  ['the caller has said something', false, { hasText: true }, false],
  ['the caller has pressed keys', false, { hasKeys: true }, false],
  ['the caller makes a sound', false, { isSounding: true }, false],
] as const)('takes leave of an idle caller, or not, where %s', (_, isCallerOwed, heard, leaves) => {
  const caller = { hasText: false, hasKeys: false, isSounding: false, isActive: false, ...heard };
  const manner = { ends: 'idle' } as const;
  const utterance = { id: 1, manner, text: 'Goodbye.', isPaused: false, isWhole: true };
  const floor = { phase: 'speaking', utterance, audibleAt: 0 } as const;
  expect(isLeaving({ ...NOBODY_SPEAKS, floor, manner, isCallerOwed }, { caller })).toBe(leaves);
});

describe('a planted fault', () => {
  const faults: Readonly<Record<string, StepFunction>> = {
    'what a hold cuts off is forgotten': (state, input, view, policy) => {
      const step = stepFloor(state, input, view, policy);
      const { floor } = step.state;
      return floor.phase === 'held'
        ? { ...step, state: { ...step.state, floor: { ...floor, rest: null } } }
        : step;
    },
    'keys interrupt whatever is said': (state, input, view, policy) => {
      const isKey = input.type === 'key';
      const { floor } = state;
      if (!isKey || (floor.phase !== 'thinking' && floor.phase !== 'speaking'))
        return stepFloor(state, input, view, policy);
      const manner = { ...floor.utterance.manner, interruptible: true };
      const yielding = { ...state, floor: { ...floor, utterance: { ...floor.utterance, manner } } };
      return stepFloor(yielding, input, view, policy);
    },
    'a goodbye ends nothing': (state, input, view, policy) => {
      const step = stepFloor(state, input, view, policy);
      const effects = step.effects.filter(({ type }) => input.type !== 'over' || type !== 'hang-up');
      return { ...step, effects };
    },
  };

  it.each(Object.keys(faults))('is found, and shown in eight acts at most: %s', (name) => {
    const found = counterexample(faults[name] as StepFunction);
    expect(found?.broken).not.toEqual([]);
    expect(found?.acts.length).toBeLessThanOrEqual(8);
  });
});
