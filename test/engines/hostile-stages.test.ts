import { describe, expect, it } from 'vitest';
import type { LanguageModelEvent } from '../../src/providers/language-model.js';
import { CallRig, FakeRecognizer, FakeVoice, MS_PER_CHAR } from './call-rig.js';

const ANSWER = 'We are open from eight to six.';
const LONG = `${ANSWER} On Saturday we close at noon. Come whenever you like.`;
const wait = (rig: CallRig, ms: number) =>
  new Promise<void>((done) => void rig.clock.after(ms, () => done()));

describe('a language stage that does not keep to its contract', () => {
  it.each<[string, unknown]>([
    ['nothing', null],
    ['a number', 7],
    ['an event without a type', {}],
    ['an event that nobody knows', { type: 'thinking', text: 'hm' }],
    ['text that is none', { type: 'text', delta: 7 }],
    ['text that is missing', { type: 'text' }],
    ['a call of no tool', { type: 'tool-call' }],
    ['a call without an id', { type: 'tool-call', name: 'end_call', arguments: {}, argumentsText: '{}' }],
    ['a usage that is none', { type: 'usage' }],
  ])('may give %s: it is passed over', async (_, garbage) => {
    const rig = await new CallRig({}).start();
    rig.model.answer(garbage as LanguageModelEvent, ANSWER, garbage as LanguageModelEvent);
    await rig.says('When?');
    await rig.quiet(3000);
    expect(rig.turns).toMatchObject([{ agentText: ANSWER, toolCalls: [] }]);
    expect(rig.ended).toEqual([]);
  });

  it('is not listened to after its end, and not waited for', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: `${ANSWER} ` };
      yield { type: 'end', reason: 'complete' };
      yield { type: 'text', delta: 'This is too much.' };
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(10_000);
    expect(rig.voice.spoken).toEqual([ANSWER]);
    expect(rig.ended).toEqual([]);
  });

  it('may call one tool after another, without end: the answer ends at the sixty-fourth', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      for (let id = 1; id <= 1000; id += 1)
        yield { type: 'tool-call', id: `${id}`, name: 'no_such_tool', arguments: {}, argumentsText: '{}' };
    });
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(3000);
    const asked = rig.model.requests[1]?.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
    expect(asked).toHaveLength(64);
    expect(rig.turns).toMatchObject([{ agentText: ANSWER }]);
  });

  it('may give halves of characters: they are put together', async () => {
    const rig = await new CallRig({}).start();
    const text = 'नमस्ते, 你好 and 𝒉𝒆𝒍𝒍𝒐 to you.';
    rig.model.answer(...Array.from({ length: text.length }, (_, at) => text[at] ?? ''));
    await rig.says('When?');
    await rig.quiet(4000);
    expect(rig.turns).toMatchObject([{ agentText: text }]);
  });

  it('may answer when its answer was given up: the next one is spoken, and not a word of the first', async () => {
    const rig = await new CallRig({}).start();
    const late: (() => void)[] = [];
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void late.push(done));
      yield { type: 'text', delta: 'This is the first answer. ' };
      yield { type: 'tool-call', id: '1', name: 'end_call', arguments: {}, argumentsText: '{}' };
      throw new Error('and it fails');
    });
    rig.model.answer(ANSWER);
    await rig.says('When?');
    await rig.says('I mean on Friday.', 700);
    late[0]?.();
    await rig.quiet(4000);
    expect(rig.voice.spoken).toEqual([ANSWER]);
    expect(rig.turns).toMatchObject([{ agentText: ANSWER, agentTextUnheard: '', toolCalls: [] }]);
    expect(rig.ended).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws at once',
      () => {
        throw 'a text';
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a promise', () => Promise.reject(new Error('async'))],
  ])('that %s costs an apology and the call, and nothing else', async (_, respond) => {
    const rig = await new CallRig({}).start();
    rig.model.respond = respond as never;
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken).toEqual([expect.stringContaining('sorry')]);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
  });
});

describe('a stage that gives nothing where something is owed', () => {
  const failed = { reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } };

  it.each<[string, (string | LanguageModelEvent)[]]>([
    ['at all', []],
    ['but its end', [{ type: 'end', reason: 'complete' }]],
    ['but an empty text', ['']],
    ['but blanks', ['  ', '\n']],
    ['but what no voice can say', ['👍', ' …']],
    ['but thoughts', ['<think>They ask', ' for the time.</think>']],
    ['but markup', ['<break time="1s"/>', '\n---\n']],
    [
      'but what it has used',
      [{ type: 'usage', usage: { inputTokens: 9, cachedTokens: 0, outputTokens: 0 } }, { type: 'working' }],
    ],
  ])('has failed: a model that gives nothing %s', async (_, events) => {
    const rig = await new CallRig({}).start();
    rig.model.answer(...events);
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken.join(' ')).toContain('I am sorry');
    expect(rig.ended).toMatchObject([
      { ...failed, failure: { message: 'The language model ended its answer without a word.' } },
    ]);
  });

  it('is none who goes on for one that broke off in its thoughts', async () => {
    const rig = await new CallRig({}).start();
    const replaced = { stage: 'llm', from: 'v/1', to: 'v/2', code: 'PROVIDER_FAILED', gapMs: 0 } as const;
    rig.model.answer('<think>They ask', { type: 'replaced', ...replaced }, 'At nine.');
    await rig.says('When?');
    await rig.quiet(3000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual(['At nine.']);
    expect(rig.ended).toEqual([]);
  });

  it('is a model behind a tool that it called without words, and not behind one that it called with some', async () => {
    const call: LanguageModelEvent = {
      type: 'tool-call',
      id: '1',
      name: 'no_such_tool',
      arguments: {},
      argumentsText: '{}',
    };
    const wordless = await new CallRig({}).start();
    wordless.model.answer(call).answer('');
    await wordless.says('When?');
    await wordless.quiet(6000);
    expect(wordless.ended).toMatchObject([failed]);
    const noted = await new CallRig({}).start();
    noted.model.answer('I have noted that down.', call).answer('');
    await noted.says('Please note it down.');
    await noted.quiet(6000);
    expect(noted.ended).toEqual([]);
    expect(noted.turns).toMatchObject([{ agentText: 'I have noted that down.' }]);
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'ears'],
    ['no session', () => ({})],
    ['a promise', () => Promise.resolve({})],
    ['a promise that rejects', () => Promise.reject(new Error('async'))],
  ])('is a recognizer or a voice whose open gives %s', async (_, open) => {
    const ears = new FakeRecognizer();
    ears.open = open as never;
    const deaf = new CallRig({ ears });
    deaf.engine.start();
    await deaf.quiet(6000);
    expect(deaf.voice.spoken.join(' ')).toContain('I am sorry');
    expect(deaf.ended).toMatchObject([failed]);
    const voice = new FakeVoice();
    voice.open = open as never;
    const mute = new CallRig({ voice });
    mute.engine.start();
    await mute.quiet(100);
    expect(mute.ended).toMatchObject([{ ...failed, failure: { untold: true, stage: 'tts' } }]);
  });

  it.each<[string, () => AsyncIterable<Int16Array>]>([
    ['ends', async function* () {}],
    [
      'gives empty audio',
      async function* () {
        for (let count = 0; count < 3; count += 1) yield new Int16Array(0);
      },
    ],
  ])('is a voice that %s', async (_, synthesize) => {
    for (const firstMessage of [undefined, 'Hello, this is the bakery.']) {
      const voice = new FakeVoice();
      voice.open = () => ({ synthesize, close() {} }) as never;
      const rig = await new CallRig({ voice, firstMessage }).start();
      if (firstMessage === undefined) {
        rig.model.answer(LONG);
        await rig.says('When?');
      }
      await rig.quiet(2000);
      expect(rig.ended).toMatchObject([{ ...failed, failure: { untold: true, stage: 'tts' } }]);
    }
  });

  it('is a voice that loses its last words, and none that loses a sign', async () => {
    const voice = new FakeVoice();
    const session = voice.open();
    voice.open = () => ({
      ...session,
      async *synthesize(text: string) {
        if (text === ANSWER) yield* session.synthesize(text);
      },
    });
    const rig = await new CallRig({ voice }).start();
    rig.model.answer(ANSWER, ' …');
    await rig.says('When?');
    await rig.quiet(4000);
    expect(rig.ended).toEqual([]);
    rig.model.answer(`${ANSWER} Come whenever you like.`);
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.transcript.at(-1)).toMatchObject({ text: ANSWER, final: true });
    expect(rig.ended).toMatchObject([{ ...failed, failure: { stage: 'tts' } }]);
  });
});

describe('a recognizer that does not keep to its contract', () => {
  it.each([undefined, null, 7, {}, ['text']])('may tell %j as a text', async (text) => {
    const rig = await new CallRig({ firstMessage: LONG }).start();
    rig.model.answer(ANSWER);
    rig.ears.events.partial(text as string);
    rig.ears.events.final(text as string);
    await rig.quiet(6000);
    await rig.says('When?');
    await rig.quiet(3000);
    expect(rig.turns).toMatchObject([{ agentText: LONG }, { userText: 'When?', agentText: ANSWER }]);
    expect(rig.ended).toEqual([]);
  });

  it('may end turns that were none, and speak after it has failed', async () => {
    const ears = new FakeRecognizer({ ownsTurnTaking: true });
    const rig = await new CallRig({ ears, firstMessage: LONG }).start();
    for (let count = 0; count < 5; count += 1) {
      ears.events.turnEnded?.();
      ears.events.final('');
      await rig.quiet(100);
    }
    expect(rig.player.clears).toBe(0);
    ears.events.failed(new Error('one'));
    ears.events.failed(new Error('two'));
    ears.events.final('Hello?');
    ears.events.turnEnded?.();
    await rig.quiet(9000);
    expect(rig.ended).toHaveLength(1);
    expect(rig.model.requests).toEqual([]);
  });

  it('may give the words of the caller after everything is quiet again', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(ANSWER);
    await rig.voiced(400);
    await rig.quiet(4000);
    rig.ears.events.final('When do you open?');
    await rig.quiet(6000);
    expect(rig.turns).toMatchObject([{ userText: 'When do you open?', agentText: ANSWER }]);
  });

  it('may answer in the moment in which the agent asks whether anybody is there: one of them speaks', async () => {
    const idle = { afterMs: 5000, prompts: [LONG], goodbye: 'Bye.' };
    const rig = await new CallRig({ idle, firstMessage: 'Hello.' }).start();
    rig.model.answer(ANSWER);
    await rig.quiet(5000);
    // Sound without words, of which the recognizer still has to say what it was when the question cannot wait any longer.
    await rig.voiced(4700);
    await rig.quiet(900);
    expect(rig.voice.spoken.length).toBeGreaterThan(1);
    expect(rig.turns).toHaveLength(1);
    rig.ears.events.final('I am here.');
    await rig.quiet(6000);
    expect(rig.turns.at(-1)).toMatchObject({ userText: 'I am here.', agentText: ANSWER });
    const said = rig.turns.reduce((sum, { agentText }) => sum + agentText.length * MS_PER_CHAR, 0);
    expect(Math.abs(rig.heardMs - said)).toBeLessThan(700);
  });
});

describe('a voice that does not keep to its contract', () => {
  it.each([1, 7, 319, 320, 321, 4001])('may give chunks of %i samples, and empty ones', async (size) => {
    const voice = new FakeVoice();
    voice.open = () => ({
      async *synthesize(text: string) {
        const total = text.length * MS_PER_CHAR * 16;
        for (let at = 0; at < total; at += size) {
          if (at % 2000 < size) yield new Int16Array(0);
          yield new Int16Array(Math.min(size, total - at)).fill(1000);
        }
      },
      close() {},
    });
    const rig = await new CallRig({ voice, firstMessage: 'Good morning.' }).start();
    await rig.quiet(1500);
    expect(rig.turns).toMatchObject([{ agentText: 'Good morning.' }]);
    const heard = new Int16Array(Uint8Array.from(rig.player.heard()).buffer);
    expect(heard.filter((sample) => sample === 1000)).toHaveLength('Good morning.'.length * MS_PER_CHAR * 16);
  });

  it.each<[string, unknown]>([
    ['text', 'audio'],
    ['nothing', undefined],
    ['numbers', [1, 2, 3]],
    ['floats', new Float32Array(320)],
  ])('ends the call when it gives %s for audio, and nothing of it is heard', async (_, chunk) => {
    const voice = new FakeVoice();
    voice.open = () => ({
      async *synthesize() {
        yield chunk as Int16Array<ArrayBuffer>;
      },
      close() {},
    });
    const rig = await new CallRig({ voice, firstMessage: 'Good morning.' }).start();
    await rig.quiet(500);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.heardMs).toBe(0);
  });

  it('may go on after it was stopped: not a sample of it is heard', async () => {
    const voice = new FakeVoice();
    let runs = 0;
    voice.open = () => ({
      async *synthesize(text: string) {
        runs += 1;
        const sample = runs;
        for (let left = text.length * MS_PER_CHAR * 16; left > 0; left -= 320) {
          await wait(rig, 15);
          yield new Int16Array(320).fill(sample);
        }
      },
      close() {},
    });
    const rig: CallRig = new CallRig({ voice });
    await rig.start();
    rig.model.answer(LONG).answer(ANSWER);
    await rig.says('When?');
    await rig.quiet(1200);
    await rig.voiced(500);
    rig.ears.events.final('And on Sunday?');
    await rig.quiet(4000);
    const heard = new Int16Array(Uint8Array.from(rig.player.heard()).buffer).filter((sample) => sample !== 0);
    const changes = heard.filter((sample, at) => at > 0 && sample !== heard[at - 1]);
    // One voice after the other, the last of them the answer to the interruption.
    expect([...changes]).toEqual([2, 3]);
    expect(runs).toBe(3);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: ANSWER, interrupted: false });
  });
});

describe('keys', () => {
  it('that were pressed when the line was replaced are answered when it is back', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('You chose twelve.');
    rig.engine.pushDtmf('1');
    rig.engine.pushDtmf('2');
    rig.engine.hold();
    await rig.clock.advanceAsync(3000);
    expect(rig.model.requests).toEqual([]);
    rig.engine.resume('continue');
    await rig.quiet(2000);
    expect(rig.turns).toMatchObject([{ userText: 'The caller pressed 1 2', agentText: 'You chose twelve.' }]);
  });
});

describe('words that nobody answered', () => {
  it('belong to the turn that is open when the caller hangs up', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      await new Promise(() => {});
    });
    await rig.says('When do you open?');
    await rig.voiced(100);
    rig.ears.events.final('And close?');
    rig.engine.close();
    expect(rig.turns).toMatchObject([{ userText: 'When do you open? And close?', agentText: '' }]);
    expect(rig.transcript.map(({ turnIndex }) => turnIndex)).toEqual([0, 0]);
  });

  it('are not those of the answer that they were spoken over', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer(LONG);
    await rig.says('When?');
    await rig.quiet(1500);
    rig.ears.events.partial('okay');
    rig.engine.close();
    expect(rig.turns).toMatchObject([{ userText: 'When?', interrupted: true }]);
    expect(rig.transcript.map(({ role, text, turnIndex }) => [role, text, turnIndex])).toEqual([
      ['user', 'When?', 0],
      ['agent', rig.turns[0]?.agentText, 0],
      ['user', 'okay', 1],
    ]);
  });
});
