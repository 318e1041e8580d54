import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Id, Moment } from '../../src/conversation/tools.js';
import * as rules from '../../src/conversation/turns.js';
import type { Change, TurnFact, Turns } from '../../src/conversation/turns.js';
import { runs } from '../support/depth.js';

/** Everything that can happen, in any order. `ms`: how long after what came before. */
const input = fc.record({
  ms: fc.nat(20_000).map((tenths) => tenths / 10),
  what: fc.oneof(
    fc.record({ type: fc.constantFrom('begins' as const, 'reconnects' as const, 'due' as const) }),
    fc.record({ type: fc.constant('ends' as const), item: fc.nat(4) }),
    fc.record({
      type: fc.constant('words' as const),
      item: fc.nat(4),
      isEmpty: fc.boolean(),
      isFinal: fc.boolean(),
    }),
    fc.record({ type: fc.constantFrom('keys' as const, 'answers' as const, 'takes-over' as const) }),
    fc.record({ type: fc.constant('asks' as const), hasText: fc.boolean() }),
    fc.record({ type: fc.constantFrom('is-heard' as const, 'sounds' as const, 'fills' as const) }),
    fc.record({
      type: fc.constant('calls' as const),
      count: fc.integer({ min: 1, max: 2 }),
      isRefused: fc.boolean(),
    }),
    fc.record({ type: fc.constant('settles' as const), tool: fc.nat(9), fails: fc.boolean() }),
    fc.record({ type: fc.constant('goes-on' as const) }),
    fc.record({ type: fc.constantFrom('drops' as const, 'completes' as const), isOwed: fc.boolean() }),
    fc.record({ type: fc.constant('completes' as const), isOwed: fc.boolean() }),
  ),
});
type Input = typeof input extends fc.Arbitrary<infer Value> ? Value : never;
const schedule = fc.record({
  transcribesCaller: fc.boolean(),
  inputs: fc.array(input, { minLength: 1, maxLength: 60 }),
});
type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

const BEGAN_AT = 1_700_000_000_000;

/** One call, as a driver would have it: what its inputs lead to. */
class Played {
  turns: Turns = rules.NO_TURNS;
  readonly facts: TurnFact[] = [];
  /** The value after each input. */
  readonly values: Turns[] = [];
  readonly requests: unknown[] = [];
  readonly #policy: rules.TurnsPolicy;
  readonly #store: (turns: Turns) => Turns;
  #at: Moment = { now: 0.5, wall: BEGAN_AT };
  #count = 0;
  /** Called behind what was said, and in no account. */
  #called: Id[] = [];
  #tools: Id[] = [];

  constructor({ transcribesCaller, inputs }: Schedule, store: (turns: Turns) => Turns = (turns) => turns) {
    this.#policy = { transcribesCaller };
    this.#store = store;
    for (const each of inputs) {
      const now = this.#at.now + each.ms;
      this.#at = { now, wall: Math.floor(BEGAN_AT + now) };
      this.#take(each.what);
      this.turns = this.#store(this.turns);
      this.values.push(this.turns);
      this.requests.push(rules.requestOf(this.turns, 'You bake.'), rules.historyOf(this.turns));
    }
    this.#become(rules.complete(this.turns, this.#end({ isOwed: false }), this.#policy));
    this.#become(rules.closed(this.turns, this.#policy));
  }

  #become<Became extends Change>(change: Became): Became {
    this.turns = change.turns;
    this.facts.push(...change.facts);
    return change;
  }

  #take(what: Input['what']): void {
    const [policy, at] = [this.#policy, this.#at];
    this.#count += 1;
    const text = `said${this.#count}`;
    const itemId = 'item' in what ? `item${what.item}` : '';
    switch (what.type) {
      case 'begins':
        this.turns = rules.speechStarted(this.turns, at);
        break;
      case 'ends':
        this.#become(rules.speechEnded(this.turns, { itemId, agoMs: 500, at }, policy));
        break;
      case 'words': {
        const told = { itemId, text: what.isEmpty ? '' : text, isFinal: what.isFinal, at };
        this.#become(rules.heard(this.turns, told, policy));
        break;
      }
      case 'keys':
        this.turns = rules.says(this.turns, text, at);
        break;
      case 'reconnects':
        this.turns = rules.connectionLost(this.turns, { isAnswered: false, at }, policy);
        this.#become(rules.connectionBack(this.turns, policy));
        break;
      case 'due':
        this.#become(rules.due(this.turns, at, policy));
        break;
      case 'answers':
        this.#become(rules.answer(this.turns, at, policy));
        break;
      case 'asks': {
        this.turns = rules.goOnWithout(this.turns, rules.awaitedIn(this.turns));
        const said = { text: what.hasText ? text : '', startedAt: at.wall, at };
        this.#become(rules.answerTo(this.turns, said, policy));
        break;
      }
      case 'is-heard':
        this.#become(rules.spoken(this.turns, `heard${this.#count}`, at));
        break;
      case 'sounds':
        this.turns = rules.measured(this.turns, { milestone: 'firstFrameSent', at: at.now });
        break;
      case 'fills':
        this.turns = rules.filled(this.turns, { afterMs: 800, of: { turnIndex: 0, answer: 1 } });
        break;
      case 'calls':
        this.#call(what);
        break;
      case 'settles': {
        const id = this.#tools[what.tool];
        const settlement = what.fails ? { text: '{}', error: 'It failed.' } : { text: 'done', error: null };
        if (id !== undefined) this.#become(rules.toolSettled(this.turns, { id, settlement, at }));
        break;
      }
      case 'goes-on':
        this.turns = rules.goOnWithout(this.turns, rules.awaitedIn(this.turns));
        break;
      case 'drops': {
        const { account } = this.#end(what);
        const unheard = {
          ...account,
          heard: '',
          heardAfter: '',
          rounds: account.rounds.map((round) => ({ ...round, text: '' })),
        };
        this.#become(rules.dropAnswer(this.turns, unheard, at));
        break;
      }
      case 'completes':
        this.#become(rules.complete(this.turns, this.#end(what), policy));
        break;
      case 'takes-over':
        this.#become(rules.givenUp(this.turns, this.#end({ isOwed: false }), policy));
        this.#become(rules.takenOver(this.turns, { live: rules.runningIn(this.turns), at }));
    }
  }

  #call({ count, isRefused }: { count: number; isRefused: boolean }): void {
    if (this.turns.open === null) return;
    const wanted = Array.from({ length: count }, (_, place) => ({
      call: { id: `c${this.#count}-${place}`, name: 'look_up', arguments: {}, argumentsText: '{}' },
      endsCall: false,
      joins: this.#tools.at(-1),
      settlement: isRefused ? { text: '{}', error: 'Too many.' } : undefined,
    }));
    const ids = rules.nextToolIds(this.turns, wanted.length);
    this.#become(rules.called(this.turns, wanted, this.#at));
    this.#called.push(...ids);
    this.#tools.push(...ids);
  }

  /** What was heard of the answer that is on; nothing where none is. */
  #end({ isOwed }: { isOwed: boolean }): rules.End {
    const tools = this.#called;
    this.#called = [];
    const [heard, behind, unheard] = ['heard', 'heardbehind', 'unheard'].map(
      (word) => `${word}${this.#count}`,
    );
    const rounds = tools.length === 0 ? [] : [{ text: heard ?? '', tools }];
    const account = {
      heard: `${heard} ${behind}`,
      unheard: unheard ?? '',
      rounds,
      heardAfter: rounds.length === 0 ? `${heard} ${behind}` : (behind ?? ''),
      isOwed,
    };
    return { account, interrupted: true, at: this.#at };
  }
}

const each = (check: (played: Played, schedule: Schedule) => void) =>
  fc.assert(
    fc.property(schedule, (plan) => check(new Played(plan), plan)),
    { numRuns: runs(300, 3000) },
  );

describe('the turns of a call as a value', () => {
  it('can be stored and read again after any input: nothing is different afterwards', () => {
    each((played, plan) => {
      for (const value of played.values) expect(JSON.parse(JSON.stringify(value))).toStrictEqual(value);
      const stored = new Played(plan, (turns) => JSON.parse(JSON.stringify(turns)));
      expect(stored.facts).toStrictEqual(played.facts);
      expect(stored.requests).toStrictEqual(played.requests);
      expect(stored.turns).toStrictEqual(played.turns);
    });
  });

  it('are each completed once that are started, in their order', () => {
    each(({ facts }) => {
      const started = facts.flatMap((fact) => (fact.type === 'turn.started' ? [fact.turnIndex] : []));
      const completed = facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn.index] : []));
      expect(started).toEqual(started.map((_, place) => place));
      expect(completed).toEqual(started);
    });
  });

  it('are settled in the transcript once they are completed, and all of it at the end of the call', () => {
    each(({ facts }) => {
      const open = new Map<string, number>();
      for (const fact of facts) {
        if (fact.type === 'transcript.segment' && fact.entry.role !== 'tool') {
          const { id, turnIndex, text, final } = fact.entry;
          if (final || text === '') open.delete(id);
          else open.set(id, turnIndex);
        }
        if (fact.type === 'turn.completed') expect([...open.values()]).not.toContain(fact.turn.index);
      }
      expect([...open.keys()]).toEqual([]);
    });
  });

  it('tell a model nothing that the caller has not heard, and all that was said and heard once', () => {
    each(({ requests, facts, turns }) => {
      expect(JSON.stringify(requests)).not.toContain('unheard');
      const told = rules.historyOf(turns).flatMap(({ content }) => content.split(' '));
      for (const fact of facts) {
        if (fact.type !== 'turn.completed') continue;
        const words = `${fact.turn.userText} ${fact.turn.agentText}`.split(' ').filter((word) => word !== '');
        for (const word of words) expect(told.filter((each) => each === word)).toHaveLength(1);
      }
    });
  });

  it('say when the speech ended wherever they have a latency, which counts from it: no sooner than they began', () => {
    each(({ facts }) => {
      for (const fact of facts) {
        if (fact.type !== 'turn.completed') continue;
        const { startedAt, speechEndedAt, latency } = fact.turn;
        if (latency.totalMs !== null) expect(speechEndedAt).not.toBeNull();
        if (speechEndedAt !== null) expect(startedAt).toBeLessThanOrEqual(speechEndedAt);
      }
    });
  });

  it('name no tool without knowing what became of it', () => {
    each(({ values }) => {
      for (const { history, tools } of values)
        for (const step of history)
          if ('tools' in step) expect(Object.keys(tools)).toEqual(expect.arrayContaining([...step.tools]));
    });
  });
});

describe('tools of a value that was read again', () => {
  it('are lost where nobody runs them any more, which the transcript and the model are told', () => {
    const at = { now: 0, wall: 0 };
    const policy = { transcribesCaller: false };
    const call = { id: 'c1', name: 'look_up', arguments: {}, argumentsText: '{}' };
    const wanted = { call, endsCall: false, joins: undefined, settlement: undefined };
    const asked = rules.answerTo(rules.NO_TURNS, { text: 'When?', startedAt: 0, at }, policy);
    const called = rules.called(asked.turns, [wanted, wanted], at);
    const ids = rules.nextToolIds(asked.turns, 2);
    const rounds = [{ text: 'One moment.', tools: ids }];
    const account = { heard: 'One moment.', unheard: '', rounds, heardAfter: '', isOwed: true };
    const { turns } = rules.complete(called.turns, { account, interrupted: true, at }, policy);
    const read: Turns = JSON.parse(JSON.stringify(turns));
    const { turns: next, facts } = rules.takenOver(read, { live: ids.slice(1), at });
    expect(facts).toMatchObject([
      {
        type: 'transcript.segment',
        entry: expect.objectContaining({
          id: 'tool-1',
          text: 'look_up failed: The result of the tool was lost.',
          final: true,
        }),
        tool: {
          ...{ id: 'tool-1', name: 'look_up', startedAt: 0, durationMs: null },
          error: 'The result of the tool was lost.',
          arguments: { text: '{}', cut: false },
          result: { text: expect.stringContaining('It may have been done'), cut: false },
        },
      },
    ]);
    expect(rules.requestOf(next, '').map(({ content }) => content)).toEqual([
      'When?',
      'One moment.',
      expect.stringContaining('It may have been done'),
      expect.stringContaining('still running'),
    ]);
  });
});

describe('what the caller said in a turn', () => {
  it('is told to its end where more of it comes after its turn, and another engine takes over', () => {
    const [at, policy] = [{ now: 1, wall: 1 }, { transcribesCaller: false }];
    const said = { itemId: 'item-1', text: 'What do you', isFinal: false, at };
    const asked = rules.answer(rules.heard(rules.NO_TURNS, said, policy).turns, at, policy);
    const account = { heard: '', unheard: '', rounds: [], heardAfter: '', isOwed: false };
    const end = { account, interrupted: false, at };
    const over = rules.complete(asked.turns, end, policy);
    const late = rules.heard(over.turns, { ...said, text: 'What do you cost?' }, policy);
    const left = rules.givenUp(late.turns, end, policy);
    expect(left.facts).toMatchObject([
      { entry: { id: 'user-item-1', text: 'What do you cost?', final: true } },
    ]);
  });

  it('is told as final once, unless more of it comes', () => {
    const [at, policy] = [{ now: 1, wall: 1 }, { transcribesCaller: true }];
    const said = { itemId: 'item-1', text: 'What do you', isFinal: false, at };
    const asked = rules.answer(rules.heard(rules.NO_TURNS, said, policy).turns, at, policy);
    const account = { heard: 'Ten.', unheard: '', rounds: [], heardAfter: 'Ten.', isOwed: false };
    const end = { account, interrupted: false, at };
    const over = rules.complete(asked.turns, end, policy);
    const textsOf = ({ facts }: Change) =>
      facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry.text] : []));
    const left = rules.givenUp(over.turns, end, policy);
    expect(textsOf(left)).toEqual(['What do you']);
    expect(textsOf(rules.closed(left.turns, policy))).toEqual([]);
    const more = rules.heard(left.turns, { ...said, text: 'What do you cost?' }, policy);
    expect(textsOf(rules.closed(more.turns, policy))).toEqual(['What do you cost?']);
  });

  it('stands in it however much they say before it is over', () => {
    const policy = { transcribesCaller: true };
    const said = (text: string, second: number, turns: Turns): Turns => {
      const at = { now: 1000 * second, wall: 1000 * second };
      return rules.heard(turns, { itemId: `item-${second}`, text, isFinal: true, at }, policy).turns;
    };
    const asked = said('What do you cost?', 0, rules.NO_TURNS);
    let turns = rules.answer(asked, { now: 1, wall: 1 }, policy).turns;
    for (let second = 1; second <= 100; second += 1) turns = said('hm', second, turns);
    const account = { heard: 'Ten.', unheard: '', rounds: [], heardAfter: 'Ten.', isOwed: false };
    const at = { now: 101_000, wall: 101_000 };
    const over = rules.complete(turns, { account, interrupted: false, at }, policy);
    expect(over.facts.at(-1)).toMatchObject({ turn: { userText: 'What do you cost?', agentText: 'Ten.' } });
    expect(over.turns.words.said.length).toBeLessThan(70);
  });
});
