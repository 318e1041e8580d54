import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { begun, type ConversationState, deadlineOf } from '../../src/conversation/state.js';
import { type Effect, type Input, type Live, type Policy, step } from '../../src/conversation/step.js';
import { runningIn } from '../../src/conversation/turns.js';
import { runs } from '../support/depth.js';

const CALL = { id: 'c1', name: 'look_up', arguments: {}, argumentsText: '{}' };
const SAID = { heard: 'We have', unheard: 'one.', rounds: [], heardAfter: 'We have', isOwed: false };
const ACCOUNT = {
  heard: 'We have',
  unheard: 'one.',
  rest: 'We have one.',
  isOwed: false,
  goodbye: undefined,
};
const WORDS = { id: 'u1', turnIndex: 0, role: 'user', text: 'A table.', at: 0, final: true } as const;
const NOTHING = { heard: '', unheard: '', rounds: [], heardAfter: '', isOwed: false };
const LEAVING = { isCutOff: false, goodbye: undefined, unheardSince: [], troubledSince: [] };
const TOOL = { call: CALL, endsCall: false, joins: undefined, settlement: undefined };

const policyOf = (endsTurns: boolean): Policy => ({
  interruptible: true,
  keysInterrupt: true,
  idle: { afterMs: 8000, prompts: ['Are you there?'], goodbye: 'Goodbye.' },
  endsTurns,
  transcribesCaller: endsTurns,
});

const LIVE: Live = { hasVoice: true, isCaughtUp: false, awaitsTools: false };

/** A conversation that is told one thing after the other, a second apart. */
function told(inputs: readonly Input[], { from = begun({ hasGreeting: false }), endsTurns = true } = {}) {
  let state: ConversationState = from;
  const effects: Effect[] = [];
  for (const [place, input] of inputs.entries()) {
    const at = { now: 1000 * (place + 1), wall: 1000 * (place + 1) };
    const next = step(state, input, { at, live: LIVE, policy: policyOf(endsTurns) });
    state = next.state;
    effects.push(...next.effects);
  }
  return { state, types: effects.map(({ type }) => type) };
}

const OPEN: readonly Input[] = [{ type: 'starts', isReplaceable: false }, { type: 'ready' }];

const CALLER: readonly Input[] = [
  { type: 'caller.speaks' },
  { type: 'caller.finished', itemId: 'u1', agoMs: 300 },
  { type: 'caller.text', itemId: 'u1', text: 'A table.', isFinal: true },
];

it('a takeover while a tool runs and the caller speaks leaves both to the next driver', () => {
  const left = told([
    ...OPEN,
    ...CALLER,
    { type: 'began', isMore: false },
    { type: 'tools.called', tools: [TOOL] },
    { type: 'caller.speaks' },
    {
      type: 'leaves',
      answer: { ...NOTHING, rounds: [{ text: '', tools: ['tool-1'] }] },
      interrupted: false,
      leaving: { ...LEAVING, isCutOff: true },
    },
  ]).state;
  expect(left).toMatchObject({ owed: { kind: 'answer' }, unheardSince: 8000 });
  const [id = ''] = runningIn(
    told([{ type: 'takes-over', runs: [{ id: 'tool-1', settlement: undefined, isTold: false }] }], {
      from: left,
    }).state.turns,
  );
  expect(id).toBe('tool-1');
  const lost = told([{ type: 'takes-over', runs: [] }], { from: left }).state;
  expect(lost.turns.tools[id]?.status).toBe('lost');
});

it('a model that answers during a hold is not heard, and asked when the hold is over', () => {
  const held = told([...OPEN, ...CALLER, { type: 'hold' }, { type: 'stopped', account: null, answer: null }]);
  const { state, types } = told([{ type: 'began', isMore: false }], { from: held.state });
  expect(types).toEqual(['suppress', 'tell-phase']);
  expect(state).toMatchObject({ turns: held.state.turns, watch: held.state.watch });
  const back = told([{ type: 'resume', how: 'continue' }], { from: state });
  expect(back.types).toContain('respond');
  expect(back.state.watch.owed).not.toBeNull();
});

describe('whatever happens', () => {
  const of = (input: Input) => fc.constant(input);
  const input: fc.Arbitrary<Input> = fc.oneof(
    ...OPEN.map(of),
    ...CALLER.map(of),
    ...(['began', 'began'] as const).map((type, place) => of({ type, isMore: place > 0 })),
    ...(
      [
        'audible',
        'whole',
        'ends',
        'over',
        'news',
        'hold',
        'key',
        'due',
        'due',
        'asked',
        'filler.said',
      ] as const
    ).map((type) => of({ type })),
    ...(
      ['caller.active', 'interrupted', 'doubted', 'signed', 'cut-off', 'silenced', 'wait.over'] as const
    ).map((type) => of({ type })),
    ...(['given', 'empty', 'none'] as const).map((answer) =>
      of({ type: 'response.ended', answer, hasTools: false }),
    ),
    of({ type: 'say', text: 'Hello.', manner: {} }),
    of({ type: 'request', text: 'We close.', manner: { request: 'r1' }, interrupts: true }),
    of({ type: 'keys.complete', keys: '1' }),
    ...[false, true].map((isTaken) => of({ type: 'caller.words', entry: WORDS, isTaken })),
    ...[false, true].map((isLast) => of({ type: 'concluded', answer: SAID, interrupted: true, isLast })),
    ...[false, true].map((is) => of({ type: 'caller.wordless', is })),
    of({ type: 'caller.sounds' }),
    of({ type: 'caller.sounds', startedAt: 0 }),
    of({ type: 'quiet', end: { endedAt: 0, isCutShort: false }, means: 'unknown' }),
    of({ type: 'caller.complete' }),
    of({ type: 'pressed', text: '2' }),
    of({ type: 'stopped', account: ACCOUNT, answer: SAID }),
    of({ type: 'stopped', account: null, answer: null }),
    of({ type: 'finished', answer: SAID }),
    of({ type: 'resume', how: 'continue' }),
    of({ type: 'resume', how: { news: 'Busy.' } }),
    of({ type: 'tools.called', tools: [TOOL] }),
    of({ type: 'tool.settled', id: 'tool-1', settlement: { text: 'found', error: null }, isTold: true }),
    of({ type: 'wait.begun', since: 0 }),
    of({ type: 'sounds', until: 20_000 }),
    of({ type: 'spoken', text: 'We have' }),
    of({ type: 'connection.lost', agoMs: 100, unansweredMs: null, isAnswered: false }),
    of({ type: 'connection.back', isResponding: true, hearsAgain: false, gapMs: 400 }),
    of({
      type: 'failed',
      stage: 'llm',
      isPassing: false,
      hasFallback: false,
      isAwaited: true,
      awaitedSince: null,
    }),
    of({ type: 'apology.begun' }),
  );
  const schedule = fc.array(fc.record({ input, afterMs: fc.integer({ min: 0, max: 3000 }) }), {
    minLength: 1,
    maxLength: 40,
  });

  it('a state that is stored and read again goes on in the same way, and no deadline is left behind', () => {
    fc.assert(
      fc.property(schedule, fc.boolean(), (plan, endsTurns) => {
        let state = begun({ hasGreeting: true });
        let now = 0;
        for (const { input, afterMs } of plan) {
          now += afterMs;
          const given = {
            at: { now, wall: now },
            live: LIVE,
            policy: policyOf(endsTurns),
          };
          const next = step(state, input, given);
          const stored = step(JSON.parse(JSON.stringify(state)), input, given);
          expect(JSON.stringify(stored)).toBe(JSON.stringify(next));
          state = next.state;
          if (input.type !== 'due') continue;
          // Of what is due at the same time a part finds one after the other.
          for (let looks = 0; looks < 2; looks += 1) state = step(state, input, given).state;
          const dueAt = deadlineOf(state) ?? Number.POSITIVE_INFINITY;
          expect(dueAt).toBeGreaterThanOrEqual(now);
        }
      }),
      { numRuns: runs(300, 10_000) },
    );
  });
});

describe.each([false, true])(
  'what somebody outside wants said (whoever answers ends turns: %s)',
  (endsTurns) => {
    const NEWS = { text: 'I could not reach them.', manner: { isNews: true } };
    const UNHEARD = { ...ACCOUNT, heard: '', unheard: NEWS.text, rest: NEWS.text };
    const stop = (account: typeof ACCOUNT): readonly Input[] => [
      { type: 'interrupted' },
      { type: 'stopped', account, answer: { ...NOTHING, heard: account.heard, unheard: account.unheard } },
    ];

    it('is still to be said where the caller interrupts the words before it', () => {
      const aside: Input = { type: 'say', text: 'I am back.', manner: { leadsTo: NEWS } };
      const { state } = told([...OPEN, aside, { type: 'audible' }, ...stop(ACCOUNT)], { endsTurns });
      expect(state.floor.requests).toEqual([NEWS]);
    });

    it('is still to be said where the caller interrupts it before they have heard any of it', () => {
      const news: Input = { type: 'say', ...NEWS };
      const { state } = told([...OPEN, news, ...stop(UNHEARD)], { endsTurns });
      expect(state.floor.requests).toEqual([NEWS]);
      const heard = told([...OPEN, news, { type: 'audible' }, ...stop(ACCOUNT)], { endsTurns });
      expect(heard.state.floor.requests).toEqual([]);
    });
  },
);
