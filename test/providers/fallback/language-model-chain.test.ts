import { describe, expect, it } from 'vitest';
import { ConfigError, ProviderError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import { Circuits } from '../../../src/providers/circuits.js';
import { LanguageModelChain } from '../../../src/providers/fallback/language-model-chain.js';
import type {
  ChatMessage,
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
} from '../../../src/providers/language-model.js';
import { FakeClock } from '../../support/fake-clock.js';
import { HELLO, type ReplyReading, readReply, textOf } from '../../support/reply-reading.js';

const DOWN = new ProviderError('The key is wrong.', { status: 401, retryable: false });
const END: LanguageModelEvent = { type: 'end', reason: 'complete' };
const CALL: LanguageModelEvent = {
  type: 'tool-call',
  id: 'c1',
  name: 'find_slot',
  arguments: {},
  argumentsText: '{}',
};
const usage = (inputTokens: number): LanguageModelEvent => ({
  type: 'usage',
  usage: { inputTokens, cachedTokens: 0, outputTokens: 1 },
});

/** What a member does: an event, a pause in milliseconds, an error, or nothing any more until it is aborted. */
type Act = LanguageModelEvent | string | number | Error | 'hang';

class ScriptedMember implements LanguageModel {
  readonly requests: LanguageModelRequest[] = [];
  warmUps = 0;
  readonly name: string;
  readonly #clock: FakeClock;
  readonly #scripts: (readonly Act[])[];

  constructor(name: string, clock: FakeClock, scripts: readonly (readonly Act[])[]) {
    this.name = name;
    this.#clock = clock;
    this.#scripts = [...scripts];
  }

  warmUp(): void {
    this.warmUps += 1;
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    this.requests.push(request);
    const { signal } = request;
    for (const act of this.#scripts.shift() ?? [DOWN]) {
      if (act instanceof Error) throw act;
      if (act === 'hang') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        yield usage(9);
        return;
      }
      if (typeof act === 'number') await new Promise<void>((resolve) => void this.#clock.after(act, resolve));
      else if (signal.aborted) return;
      else yield typeof act === 'string' ? { type: 'text', delta: act } : act;
    }
  }
}

function setUp(...scripts: (readonly (readonly Act[])[])[]) {
  const clock = new FakeClock();
  const circuits = new Circuits(clock);
  const members = scripts.map((each, index) => new ScriptedMember(`v/${index + 1}`, clock, each));
  const [first, ...others] = members;
  if (first === undefined) throw new Error('a chain has members');
  const chain = new LanguageModelChain({ members: [first, ...others], circuits, clock });
  return { clock, circuits, members, chain, call: chain.forCall({ logger: silentLogger }) };
}

const shortened = ({ events }: ReplyReading) =>
  events.map((event) => {
    if (event.type === 'text') return event.delta;
    if (event.type === 'replaced') return `${event.from} -> ${event.to} after ${event.gapMs}`;
    if (event.type === 'usage') return `${event.payee?.name} is paid`;
    return event.type;
  });

describe('LanguageModelChain', () => {
  it('is the first as long as that one works', async () => {
    const { clock, chain, call, members } = setUp([['Hello', '.', usage(3), END]], []);
    expect(chain).toMatchObject({ name: 'v/1', price: undefined });
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(reading)).toEqual(['Hello', '.', 'v/1 is paid', 'end']);
    expect(members[1]?.requests).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('asks the next for the same when one refuses, and stays with it', async () => {
    const { clock, call, members } = setUp(
      [[DOWN]],
      [
        ['Hello.', END],
        ['Again.', END],
      ],
    );
    const first = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(first)).toEqual(['v/1 -> v/2 after 0', 'Hello.', 'end']);
    expect(members[1]?.requests[0]?.messages).toEqual(HELLO);
    const again = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(again)).toEqual(['Again.', 'end']);
    call.warmUp?.();
    expect(members.map(({ warmUps }) => warmUps)).toEqual([0, 1]);
  });

  it('waits three seconds for the first word of one that hangs, and tells what that has cost', async () => {
    const { clock, call, members } = setUp([['hang']], [['Hello.', 50, END]]);
    const reading = readReply(call);
    await clock.advanceAsync(2999);
    expect(reading.events).toEqual([]);
    await clock.advanceAsync(51);
    expect(shortened(reading)).toEqual(['v/1 -> v/2 after 3000', 'v/1 is paid', 'Hello.', 'end']);
    expect(members[0]?.requests[0]?.signal.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('leaves the last one the time that it takes, and one that writes the call of a tool', async () => {
    const { clock, call } = setUp([[DOWN], ['hang']], [[9000, 'Late.', END]]);
    const late = readReply(call);
    await clock.advanceAsync(9000);
    expect(textOf(late)).toBe('Late.');
    const working = { type: 'working' } as const;
    const tool = setUp([[2000, working, 2000, working, 2000, CALL, END]], [['No.']]);
    const reading = readReply(tool.call);
    await tool.clock.advanceAsync(6000);
    expect(shortened(reading)).toEqual(['working', 'working', 'tool-call', 'end']);
  });

  it('has the rest of an answer said by the next, who is told what was said', async () => {
    const { clock, call, members } = setUp([['We have ', 500, 'rye', DOWN]], [['and wheat.', usage(7), END]]);
    const reading = readReply(call);
    await clock.advanceAsync(500);
    expect(textOf(reading)).toBe('We have rye and wheat.');
    const [asked] = members[1]?.requests ?? [];
    expect(asked?.messages.slice(0, -1)).toEqual([...HELLO, { role: 'assistant', content: 'We have rye' }]);
    expect(asked?.messages.at(-1)).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/do not repeat/),
    });
    expect(reading.events.filter(({ type }) => type === 'usage')).toMatchObject([
      { payee: { name: 'v/1' }, usage: { outputTokens: 3, estimated: true } },
      { payee: { name: 'v/2' }, usage: { inputTokens: 7 } },
    ]);
  });

  it('has the next one answer where the first broke off in its thoughts', async () => {
    const { clock, call, members } = setUp([['<think>They', ' greet', DOWN]], [['Hello.', END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(members[1]?.requests[0]?.messages).toEqual(HELLO);
    expect(shortened(reading)).toContain('Hello.');
  });

  it.each([
    ['Three loaves', ', please.', 'Three loaves, please.'],
    ['Three ', 'loaves.', 'Three loaves.'],
    ['Three', ' loaves.', 'Three loaves.'],
  ])('joins "%s" and "%s"', async (said, rest, whole) => {
    const { clock, call } = setUp([[said, DOWN]], [[rest, END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(textOf(reading)).toBe(whole);
  });

  it('hands out no call of a tool of an answer that breaks off', async () => {
    const { clock, call } = setUp([['One moment.', CALL, DOWN]], [[{ ...CALL, id: 'c2' }, END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(reading.events.filter(({ type }) => type === 'tool-call')).toMatchObject([{ id: 'c2' }]);
  });

  it('ends an answer that calls one tool after another, without end', async () => {
    const { clock, call } = setUp([Array.from({ length: 1000 }, () => CALL)], []);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(reading)).toEqual(Array.from({ length: 64 }, () => 'tool-call'));
  });

  it('goes from one to the next until one answers, and fails with the last', async () => {
    const last = new ProviderError('Overloaded.', { status: 529, retryable: true });
    const { clock, call } = setUp([[DOWN]], [['hang']], [[last], ['Back.', END]]);
    const reading = readReply(call);
    await clock.advanceAsync(3000);
    expect(reading).toMatchObject({ over: true, error: last });
    expect(shortened(reading)).toEqual(['v/1 -> v/2 after 0', 'v/2 -> v/3 after 3000', 'v/2 is paid']);
    const again = readReply(call);
    await clock.advanceAsync(0);
    expect(textOf(again)).toBe('Back.');
  });

  it('passes an abort on at once, and asks nobody else', async () => {
    const { clock, call, members } = setUp([['Well', 'hang']], [['No.']]);
    const abort = new AbortController();
    const reading = readReply(call, { signal: abort.signal });
    await clock.advanceAsync(1000);
    abort.abort();
    expect(members[0]?.requests[0]?.signal.aborted).toBe(true);
    await clock.advanceAsync(0);
    expect(reading).toMatchObject({ over: true, error: undefined });
    expect(shortened(reading)).toEqual(['Well', 'v/1 is paid']);
    expect(members[1]?.requests).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('has the next one go on when one says that it was interrupted, though nobody has', async () => {
    const interrupted: LanguageModelEvent = { type: 'end', reason: 'interrupted' };
    const { clock, call, members } = setUp([['We are', usage(2), interrupted]], [['open.', END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(reading)).toEqual(['We are', 'v/1 is paid', 'v/1 -> v/2 after 0', ' open.', 'end']);
    expect(members[1]?.requests[0]?.messages.at(-2)).toEqual({ role: 'assistant', content: 'We are' });
  });

  it('takes an abort for no failure, whatever the member makes of it', async () => {
    const { clock, call } = setUp([['Well', 10, DOWN]], [['No.']]);
    const abort = new AbortController();
    const reading = readReply(call, { signal: abort.signal });
    await clock.advanceAsync(0);
    abort.abort();
    await clock.advanceAsync(10);
    expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'interrupted' });
    expect(shortened(reading)).not.toContain('v/1 -> v/2 after 10');
  });

  it('lets the next call begin with the fallback when one fails again and again', async () => {
    const { clock, chain, members } = setUp(
      [],
      Array.from({ length: 6 }, () => ['Hello.', END]),
    );
    const replies: ReplyReading[] = [];
    for (let count = 0; count < 6; count += 1) {
      replies.push(readReply(chain.forCall({ logger: silentLogger })));
      await clock.advanceAsync(100);
    }
    expect(members.map(({ requests }) => requests.length)).toEqual([5, 6]);
    expect(replies.map(textOf)).toEqual(Array.from({ length: 6 }, () => 'Hello.'));
    expect(shortened(replies[5] as ReplyReading)[0]).toBe('v/1 -> v/2 after 0');
  });

  it('is not hurried by a reader who takes the time, and closes what nobody reads on', async () => {
    const { clock, call, members } = setUp([['One ', 'two ', 'three.', END]], [['No.']]);
    const { signal } = new AbortController();
    const reader = call.respond({ callId: 'c', messages: HELLO, signal })[Symbol.asyncIterator]();
    await reader.next();
    await clock.advanceAsync(10_000);
    expect((await reader.next()).value).toEqual({ type: 'text', delta: 'two ' });
    await reader.return?.();
    expect(members[0]?.requests[0]?.signal.aborted).toBe(true);
    await clock.advanceAsync(0);
    expect([members[1]?.requests.length, clock.pending]).toEqual([0, 0]);
  });

  it('takes members that are no language models for ones that failed', async () => {
    const { clock, circuits, members } = setUp([], [['Hello.', END]]);
    const broken = [
      {
        name: 'v/throws',
        respond: () => {
          throw new Error('no');
        },
      },
      {
        name: 'v/promise',
        respond: async () => {
          throw new Error('no');
        },
      },
      { name: 'v/nothing', respond: () => undefined },
    ] as unknown as LanguageModel[];
    const good = members[1] as LanguageModel;
    const [first, ...others] = [...broken, good];
    const chain = new LanguageModelChain({ members: [first as LanguageModel, ...others], circuits, clock });
    const reading = readReply(chain);
    await clock.advanceAsync(0);
    expect(textOf(reading)).toBe('Hello.');
  });

  it('wants the keys of all before the first call', () => {
    const { chain, members } = setUp([], []);
    Object.assign(members[1] as object, {
      assertConfigured() {
        throw new ConfigError('CONFIG_MISSING', 'No key.');
      },
    });
    expect(() => chain.assertConfigured()).toThrow('No key.');
  });

  it('waits for the first as long as it leaves the next some of the time that the caller waits', async () => {
    const { clock, chain } = setUp([['hang']], [['Hello.', END]]);
    let until = 3000;
    const call = chain.forCall({ logger: silentLogger, patience: { leftMs: () => until - clock.now() } });
    const reading = readReply(call);
    await clock.advanceAsync(1000);
    // A filler sounds meanwhile.
    until += 700;
    await clock.advanceAsync(999);
    expect(textOf(reading)).toBe('');
    await clock.advanceAsync(1);
    expect(shortened(reading)).toEqual(['v/1 -> v/2 after 2000', 'v/1 is paid', 'Hello.', 'end']);
  });

  it.each<[string, Act[]]>([
    ['nothing', []],
    ['its end alone', [END]],
    ['blanks and usage', [' ', usage(3), END]],
    ['a sign that no voice can say', ['👍', END]],
    ['thoughts', ['<think>They greet me.</think>', END]],
  ])('asks the next one where the first gives %s', async (_, silent) => {
    const { clock, call } = setUp([silent], [['Hello.', usage(4), END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(shortened(reading)).toContain('v/1 -> v/2 after 0');
    expect(textOf(reading).trim()).toMatch(/Hello\.$/);
  });

  it('fails where no member gives a word, and not behind tools that were called with some', async () => {
    const { clock, call } = setUp([[END]], [[END]]);
    const reading = readReply(call);
    await clock.advanceAsync(0);
    expect(reading.error).toMatchObject({
      message: 'The language model v/2 ended its answer without a word.',
    });
    const noted = setUp([[usage(3), END]], []);
    const messages: ChatMessage[] = [
      { role: 'user', content: 'Note it.' },
      { role: 'assistant', content: 'I have noted it.', toolCalls: [] },
      { role: 'tool', content: 'done', toolCallId: '1' },
    ];
    const behind = readReply(noted.call, { messages });
    await noted.clock.advanceAsync(0);
    expect(shortened(behind)).toEqual(['v/1 is paid', 'end']);
  });

  it.each([
    ['does not', 800, false],
    ['does', 3000, true],
  ])('%s hold it against a model that it gave no sign in its part of %i ms', async (_, waitMs, isOpen) => {
    const { clock, circuits, chain, members } = setUp(
      Array.from({ length: 5 }, () => ['hang' as const]),
      Array.from({ length: 5 }, () => ['Hello.', END]),
    );
    for (let call = 0; call < 5; call += 1) {
      const until = clock.now() + waitMs;
      const patience = { leftMs: () => until - clock.now() };
      const reading = readReply(chain.forCall({ logger: silentLogger, patience }));
      await clock.advanceAsync(waitMs);
      expect(textOf(reading)).toBe('Hello.');
    }
    expect(circuits.isOpen(members[0] as object)).toBe(isOpen);
  });
});
