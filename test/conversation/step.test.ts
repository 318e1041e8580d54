import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { owedOf, utteranceOf } from '../../src/conversation/floor.js';
import { begun, type ConversationState, deadlineOf, restored } from '../../src/conversation/state.js';
import { type Effect, type Input, type Live, type Policy, step } from '../../src/conversation/step.js';
import { runningIn } from '../../src/conversation/turns.js';
import { beginningOf } from '../../src/engines/beginning.js';
import type { EngineContext } from '../../src/engines/engine.js';
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
const LEAVES: Input = { type: 'leaves', said: null, unheardSince: [], troubledSince: [] };
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
  return { state, effects, types: effects.map(({ type }) => type) };
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
    { type: 'gives-up' },
    {
      type: 'stopped',
      account: { ...ACCOUNT, heard: '', unheard: '' },
      answer: { ...NOTHING, rounds: [{ text: '', tools: ['tool-1'] }] },
    },
    LEAVES,
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

it('a caller who coughs while the agent thinks goes on waiting for the answer, and who hears it does not', () => {
  const end = { endedAt: 0, isCutShort: false };
  const cough: readonly Input[] = [
    { type: 'caller.sounds' },
    { type: 'doubted' },
    { type: 'quiet', end, means: 'unknown' },
    { type: 'caller.complete' },
  ];
  const answered: readonly Input[] = [
    { type: 'starts', isReplaceable: false },
    { type: 'caller.words', entry: WORDS, isTaken: false },
    { type: 'quiet', end, means: 'unknown' },
    { type: 'caller.complete' },
  ];
  const thinking = told([...answered, ...cough], { endsTurns: false });
  expect(thinking.types.slice(-3)).toEqual(['heard-nothing', 'go-on', 'tell-phase']);
  const speaking = told([...answered, { type: 'audible' }, ...cough], { endsTurns: false });
  expect(speaking.types.slice(-4)).toEqual(['heard-nothing', 'go-on', 'wordless', 'tell-phase']);
});

it('a key in the goodbye to a silent caller, with which the model is lost, is answered by whoever goes on', () => {
  const { state } = told([
    ...OPEN,
    { type: 'say', text: 'Are you there? Goodbye.', manner: { ends: 'idle', interruptible: false } },
    { type: 'began', isMore: false },
    { type: 'audible' },
    { type: 'key' },
    { type: 'pressed', text: 'The caller pressed 1' },
    { type: 'gives-up' },
    { type: 'stopped', account: { ...ACCOUNT, heard: 'Are you', unheard: 'there? Goodbye.' }, answer: SAID },
    { type: 'leaves', said: null, unheardSince: [], troubledSince: [] },
  ]);
  expect(state.owed.kind).toBe('answer');
});

it('a process that dies as its driver gives the call up leaves no goodbye that was cut off before', () => {
  const { state } = told([
    ...OPEN,
    { type: 'say', text: 'Are you there? Goodbye.', manner: { ends: 'idle' } },
    { type: 'began', isMore: false },
    { type: 'audible' },
    { type: 'cut-off' },
    { type: 'stopped', account: { ...ACCOUNT, heard: 'Are you', unheard: 'there? Goodbye.' }, answer: SAID },
    { type: 'gives-up' },
    { type: 'stopped', account: null, answer: null },
  ]);
  const at = { now: 20_000, wall: 20_000 };
  expect(restored(state, { at, transcribesCaller: true }).state.owed.kind).toBe('nothing');
});

describe.each([
  { endsTurns: true, manner: {}, means: 'a model' },
  { endsTurns: false, manner: {}, means: 'a pipeline' },
  { endsTurns: true, manner: { ends: 'idle' as const }, means: 'a model, to a silent caller' },
  { endsTurns: false, manner: { ends: 'idle' as const }, means: 'a pipeline, to a silent caller' },
])('a hang-up of $means', ({ endsTurns, manner }) => {
  const at = { now: 20_000, wall: 20_000 };
  const ended: readonly Input[] = [
    { type: 'starts', isReplaceable: true },
    { type: 'say', text: 'Goodbye.', manner },
    ...(endsTurns ? ([{ type: 'began', isMore: false }] as const) : []),
    { type: 'ends' },
    { type: 'audible' },
    { type: 'finished', answer: SAID },
    { type: 'over' },
  ];
  const reason = manner.ends ?? 'agent-hangup';
  const goodbye = { kind: 'goodbye', text: '', reason };

  it('is left to whoever goes on, also where the caller says something in that moment', () => {
    const decided = told(ended, { endsTurns });
    expect(decided.effects).toContainEqual({ type: 'hang-up', isOutside: true, reason });
    const late: readonly Input[] = [
      endsTurns ? { type: 'caller.speaks' } : { type: 'caller.sounds', startedAt: 3000 },
      { type: 'caller.words', entry: WORDS, isTaken: false },
    ];
    for (const said of [[], late]) {
      const { state } = told(said, { from: decided.state, endsTurns });
      const left = told([{ type: 'gives-up' }, LEAVES], { from: state, endsTurns }).state;
      expect(left.owed).toEqual(goodbye);
      expect(restored(state, { at, transcribesCaller: true }).state.owed).toEqual(goodbye);
    }
  });

  it('is done though something fails in that moment', () => {
    const { state } = told(ended, { endsTurns });
    const failing = { isPassing: false, hasFallback: true, isAwaited: false, awaitedSince: null } as const;
    for (const stage of ['llm', 'stt', 'tts'] as const)
      expect(told([{ type: 'failed', stage, ...failing }], { from: state, endsTurns }).effects).toEqual([]);
  });

  it('is left once more by whoever goes on and does not come to it', () => {
    const { state } = told([...ended, { type: 'gives-up' }, LEAVES], { endsTurns });
    const starts: Input = { type: 'starts', isReplaceable: true };
    const begun = told([starts], { from: state, endsTurns }).state;
    expect(restored(begun, { at, transcribesCaller: true }).state.owed).toEqual(goodbye);
    // Whoever was to do it could not begin.
    const unbegun = told([{ type: 'gives-up' }, LEAVES], { from: begun, endsTurns }).state;
    expect(unbegun.owed).toEqual(goodbye);
    const again = told([starts, { type: 'say', text: '', manner: { ends: reason } }], {
      from: state,
      endsTurns,
    });
    expect(again.types).toContain('hang-up');
    const left = told([{ type: 'gives-up' }, LEAVES], { from: again.state, endsTurns }).state;
    expect(left.owed).toEqual(goodbye);
  });
});

it('news that is being said is said in any case, and the caller is asked behind it', () => {
  const { state } = told(
    [
      { type: 'starts', isReplaceable: true },
      { type: 'say', text: 'Nobody took the call.', manner: { isNews: true } },
      { type: 'audible' },
      { type: 'caller.sounds', startedAt: 3000 },
      { type: 'caller.words', entry: { ...WORDS, final: false }, isTaken: false },
    ],
    { endsTurns: false },
  );
  const resumed = { state, term: 2, message: 'I am back.', open: [] };
  const clock = { now: () => 20_000, wallNow: () => 20_000 } as EngineContext['clock'];
  const options = {
    hasGreeting: false,
    transcribesCaller: true,
    repeat: 'Once more, please.',
    languages: [],
    providers: { engine: null, stt: null, llm: null, tts: null },
  };
  const { owed } = beginningOf({ clock, resumed }, options).state;
  expect(owed).toMatchObject({ kind: 'rest', text: 'Nobody took the call. Once more, please.' });
});

it.each([
  { what: 'what was said before a tool is not said again', hasSound: true, hasFilled: false, text: null },
  { what: 'nor is it behind a filler', hasSound: true, hasFilled: true, text: null },
  { what: 'words without a sound are said', hasSound: false, hasFilled: false, text: 'Hello, I am Anna.' },
])('$what, where a tool was called and nothing comes behind it', ({ hasSound, hasFilled, text }) => {
  const { effects } = told([
    ...OPEN,
    { type: 'say', text: 'Hello, I am Anna.', manner: {} },
    { type: 'began', isMore: false },
    ...(hasSound ? ([{ type: 'audible' }] as const) : []),
    { type: 'tools.called', tools: [TOOL] },
    { type: 'response.ended', answer: 'given', hasTools: true, hasSound },
    ...(hasFilled ? ([{ type: 'filler.said' }] as const) : []),
    { type: 'results', isCurrent: true },
    { type: 'began', isMore: true },
    { type: 'response.ended', answer: 'empty', hasTools: true, hasSound: hasSound && !hasFilled },
  ]);
  const asked = effects.filter(({ type }) => type === 'ask-again');
  expect(asked).toEqual([{ type: 'ask-again', text }]);
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
        'unsaid',
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
    of({ type: 'concluded', answer: SAID, interrupted: true }),
    of({ type: 'gives-up' }),
    of({ type: 'unheard' }),
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

    it.each<readonly [string, string, string, string | undefined]>([
      ['all', 'We close.', '', 'heard'],
      ['half', 'We', 'close.', undefined],
      ['nothing', '', 'We close.', undefined],
      ...(endsTurns ? [['other words', 'It closes', '', 'interrupted'] as const] : []),
    ])('is told of once in a takeover, of which %s was heard: "%s"', (_, heard, unheard, outcome) => {
      const request: Input = {
        type: 'request',
        text: 'We close.',
        manner: { request: 'r1' },
        interrupts: false,
      };
      const account = { ...ACCOUNT, heard, unheard, rest: unheard };
      const answer = { ...NOTHING, heard, unheard, heardAfter: heard };
      const stop: readonly Input[] = endsTurns ? [{ type: 'stopped', account, answer }] : [];
      const leaves: Input = { ...LEAVES, said: endsTurns ? null : { account, answer } };
      const acts: readonly Input[] = [request, { type: 'audible' }, { type: 'gives-up' }, ...stop, leaves];
      const { state, effects } = told([...OPEN, ...acts], { endsTurns });
      const outcomes = effects.filter(({ type }) => type === 'requested');
      expect(outcomes).toEqual(outcome === undefined ? [] : [{ type: 'requested', id: 'r1', outcome }]);
      expect(state.owed).toMatchObject(outcome === undefined ? { kind: 'rest', text: unheard } : {});
      expect(state.floor.requests).toEqual([]);
    });

    it('is said once where a takeover comes upon the words before it, or it before a word was heard', () => {
      for (const words of [NEWS, { text: 'I am back.', manner: { leadsTo: NEWS } }]) {
        const answer = { ...NOTHING, unheard: words.text };
        const account = { ...UNHEARD, unheard: words.text };
        const stop: readonly Input[] = endsTurns ? [{ type: 'stopped', account, answer }] : [];
        const leaves: Input = { ...LEAVES, said: endsTurns ? null : { account, answer } };
        const acts: readonly Input[] = [{ type: 'say', ...words }, { type: 'gives-up' }, ...stop, leaves];
        const { state } = told([...OPEN, ...acts], { endsTurns });
        expect([state.owed, state.floor.requests]).toMatchObject([{ kind: 'rest', ...NEWS }, []]);
      }
    });

    it('is not said again where all of it was heard as a hold came', () => {
      const request: Input = {
        type: 'request',
        text: 'We close.',
        manner: { request: 'r1' },
        interrupts: false,
      };
      const answer = { ...NOTHING, heard: 'We close.', heardAfter: 'We close.' };
      const account = { ...ACCOUNT, heard: 'We close.', unheard: '', rest: '' };
      const hold: readonly Input[] = [{ type: 'hold' }, { type: 'stopped', account, answer }];
      const { state, effects } = told([...OPEN, request, { type: 'audible' }, ...hold], { endsTurns });
      expect(state.floor.floor).toMatchObject({ phase: 'held', rest: null });
      expect(effects).toContainEqual({ type: 'requested', id: 'r1', outcome: 'heard' });
    });

    it('was not heard where an apology took the place of its end', () => {
      const request: Input = {
        type: 'request',
        text: 'We close.',
        manner: { request: 'r1' },
        interrupts: false,
      };
      const heard = (text: string): readonly Input[] => [
        { type: 'apologizes' },
        { type: 'finished', answer: { ...NOTHING, heard: text, heardAfter: text } },
      ];
      for (const [text, outcome] of [
        ['We Sorry.', 'interrupted'],
        ['We close. Sorry.', 'heard'],
      ] as const) {
        const { effects } = told([...OPEN, request, { type: 'audible' }, ...heard(text)], { endsTurns });
        expect(effects).toContainEqual({ type: 'requested', id: 'r1', outcome });
      }
    });

    const HOLD: readonly Input[] = [
      { type: 'hold' },
      { type: 'stopped', account: UNHEARD, answer: { ...NOTHING, unheard: NEWS.text } },
    ];
    const BACK: Input = { type: 'resume', how: 'continue' };

    it('is said after a hold that came before a word of it was heard, and what is owed besides behind it', () => {
      const owing: readonly Input[] = endsTurns
        ? [...HOLD, { type: 'results', isCurrent: false }]
        : [{ type: 'caller.words', entry: WORDS, isTaken: false }, ...HOLD];
      const { state, types } = told([...OPEN, { type: 'say', ...NEWS }, ...owing, BACK], { endsTurns });
      expect(utteranceOf(state.floor)).toMatchObject(NEWS);
      expect(types.at(-2)).toBe('say');
      const after = told([{ type: 'audible' }, { type: 'finished', answer: NOTHING }, { type: 'over' }], {
        from: state,
        endsTurns,
      });
      expect(after.types).toContain(endsTurns ? 'respond' : 'expect-words');
    });

    it('is said after a hold that came before a word of it was heard, also in a turn of the caller', () => {
      const turn: readonly Input[] = endsTurns
        ? [...CALLER, { type: 'began', isMore: false }, { type: 'cut-off' }]
        : [
            { type: 'caller.words', entry: WORDS, isTaken: false },
            { type: 'quiet', end: { endedAt: 0, isCutShort: false }, means: 'unknown' },
            { type: 'caller.complete' },
            { type: 'interrupted' },
          ];
      const dropped: Input = { type: 'stopped', account: { ...UNHEARD, rest: '' }, answer: NOTHING };
      const news: Input = { type: 'say', ...NEWS };
      const { state } = told([...OPEN, ...turn, dropped, news, ...HOLD, BACK], { endsTurns });
      expect(utteranceOf(state.floor)).toMatchObject(NEWS);
    });

    it('is said after a hold that has cut off the words before it', () => {
      const request = { text: 'We close.', manner: { request: 'r1' } };
      const aside: Input = { type: 'say', text: 'I am back.', manner: { leadsTo: request } };
      const results: Input = { type: 'results', isCurrent: false };
      const { state, effects } = told([...OPEN, aside, ...HOLD, results, BACK], { endsTurns });
      expect(owedOf(utteranceOf(state.floor) ?? null)).toMatchObject(request);
      expect(effects).not.toContainEqual(expect.objectContaining({ type: 'requested' }));
    });

    it('is said behind a caller who makes a sound as the words before it end', () => {
      const sound: Input = endsTurns ? { type: 'caller.speaks' } : { type: 'caller.sounds', startedAt: 0 };
      const aside: Input = { type: 'say', text: 'I am back.', manner: { leadsTo: NEWS } };
      const said: readonly Input[] = [
        ...OPEN,
        aside,
        { type: 'audible' },
        sound,
        { type: 'finished', answer: NOTHING },
        { type: 'over' },
        { type: 'caller.words', entry: WORDS, isTaken: false },
        { type: 'quiet', end: { endedAt: 0, isCutShort: false }, means: 'unknown' },
        { type: 'caller.complete' },
      ];
      const { state } = told(said, { endsTurns });
      const wanted = [utteranceOf(state.floor), ...state.floor.requests];
      expect(wanted).toContainEqual(expect.objectContaining(NEWS));
    });
  },
);
