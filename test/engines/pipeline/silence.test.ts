// How long a caller of a pipeline hears nothing, whichever stage is silent: never for five seconds.
import { describe, expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { FakeClock } from '../../support/fake-clock.js';
import { CallRig, FakeVoice, type RigOptions } from '../call-rig.js';

const APOLOGY = /something went wrong/;
const NO_FILLERS = { fillers: [] };
const LOOK_UP = { type: 'tool-call', id: '1', name: 'look_up', arguments: {}, argumentsText: '{}' } as const;

/** A voice that gives nothing for the sentences that `isSilent` names, and never ends them either. */
function silentVoice(isSilent: (text: string) => boolean): FakeVoice {
  const voice = new FakeVoice();
  const open = voice.open.bind(voice);
  voice.open = (context) => {
    const session = open(context);
    return {
      ...session,
      async *synthesize(text: string) {
        if (isSilent(text)) await new Promise(() => {});
        yield* session.synthesize(text);
      },
    };
  };
  return voice;
}

async function ask(options: RigOptions): Promise<CallRig> {
  const rig = await new CallRig(options).start();
  rig.model.answers.push(async function* () {
    await new Promise(() => {});
  });
  await rig.voiced(400);
  rig.ears.events.final('When?');
  return rig;
}

describe('a language model that says nothing', () => {
  it('is given up so long after the end of what the caller said that the voice, or the carrier, can still apologize', async () => {
    const rig = await ask({ turnTaking: NO_FILLERS });
    await rig.quiet(4160);
    expect(rig.voice.spoken).toEqual([]);
    await rig.quiet(80);
    expect(rig.voice.spoken.at(-1)).toMatch(APOLOGY);
    await rig.quiet(5000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
    expect(rig.ended[0]?.failure).not.toHaveProperty('untold');
  });

  it('has six seconds where one does', async () => {
    const rig = await ask({ turnTaking: { fillers: ['One moment.'] } });
    await rig.quiet(5000);
    expect(rig.transcript.map(({ text }) => text)).toEqual(['When?', 'One moment.']);
    await rig.quiet(1600);
    expect(rig.voice.spoken.at(-1)).toMatch(APOLOGY);
  });

  it("has what is left behind a tool, whose time is not the model's", async () => {
    const execute = () => new Promise((done) => void rig.clock.after(3000, () => done('nine')));
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const rig: CallRig = new CallRig({ turnTaking: NO_FILLERS, tools });
    await rig.start();
    rig.model.answer(LOOK_UP).answers.push(async function* () {
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken).toEqual([]);
    await rig.quiet(1000);
    expect(rig.voice.spoken.at(-1)).toMatch(APOLOGY);
  });

  it('is not hurried by what the caller said while the agent was speaking', async () => {
    const greeting =
      'Hello, this is the bakery at the corner of the long street, and I am glad that you are calling.';
    const rig = await new CallRig({
      turnTaking: { ...NO_FILLERS, interruptibleGreeting: false },
      firstMessage: greeting,
    }).start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(3000, () => done()));
      yield { type: 'text', delta: 'At nine.' };
    });
    await rig.says('When?');
    await rig.quiet(12_000);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([greeting, 'At nine.']);
    expect(rig.ended).toEqual([]);
  });
});

describe('a voice that says nothing', () => {
  it('is given up in time for the carrier to speak, counted from the end of what the caller said', async () => {
    const rig = await new CallRig({ voice: silentVoice(() => true), turnTaking: NO_FILLERS }).start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(1000, () => done()));
      yield { type: 'text', delta: 'At nine.' };
    });
    await rig.voiced(400);
    const since = rig.clock.now();
    rig.ears.events.final('When?');
    await rig.quiet(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    expect((rig.ended[0]?.at ?? 0) - since).toBeLessThanOrEqual(4600);
  });

  it('in the middle of an answer is given up in time for the carrier to speak, counted from its last sound', async () => {
    const voice = silentVoice((text) => text.includes('Saturday'));
    const rig = await new CallRig({ voice, turnTaking: NO_FILLERS }).start();
    rig.model.answer('We are open from eight to six every day. On Saturday we close at noon.');
    await rig.says('When?');
    await rig.quiet(1000);
    while (rig.player.aheadMs > 0) await rig.quiet(20);
    const heardAt = rig.clock.now();
    await rig.quiet(8000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
    expect((rig.ended[0]?.at ?? 0) - heardAt).toBeLessThanOrEqual(4600);
  });

  it('does not hold an apology up: the carrier says it', async () => {
    const voice = silentVoice((text) => APOLOGY.test(text));
    const rig = await new CallRig({ voice, turnTaking: NO_FILLERS }).start();
    rig.model.answer(new Error('broken'));
    await rig.says('When?');
    await rig.quiet(1100);
    expect(rig.ended).toEqual([]);
    await rig.quiet(200);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { untold: true } }]);
  });
});

it('a voice has its whole time for what is said to a caller who was waiting for nothing', async () => {
  const clock = new FakeClock();
  const [voice, prompt] = [new FakeVoice(), 'Are you there?'];
  const session = voice.open();
  voice.open = () => ({
    ...session,
    async *synthesize(text: string) {
      if (text === prompt) await new Promise<void>((done) => void clock.after(3000, () => done()));
      yield* session.synthesize(text);
    },
  });
  const idle = { afterMs: 6000, prompts: [prompt], goodbye: 'Goodbye then.' };
  const rig = await new CallRig({
    clock,
    voice,
    idle,
    firstMessage: 'Hello.',
    turnTaking: NO_FILLERS,
  }).start();
  await rig.quiet(11_000);
  expect(rig.ended).toEqual([]);
  expect(rig.transcript.map(({ text }) => text)).toEqual(['Hello.', prompt]);
});

describe('a voice that says nothing is given up after five seconds', () => {
  const ANSWER = 'We are open from eight to six. On Saturday we close at noon.';

  /** Asks a call whose voice is dead, and returns how long the caller then hears nothing. */
  async function silence(options: RigOptions, answer = (_rig: CallRig) => {}): Promise<number> {
    const rig = new CallRig({ ...options, voice: silentVoice(() => true) });
    answer(rig);
    await rig.start();
    await rig.voiced(400);
    const since = rig.clock.now();
    rig.ears.events.final('When?');
    await rig.quiet(12_000);
    expect(rig.ended).toMatchObject([{ failure: { stage: 'tts', untold: true } }]);
    return (rig.ended[0]?.at ?? 0) - since;
  }

  it('also while the application still streams its answer', async () => {
    const clock = new FakeClock();
    const onMessage = async function* () {
      for (const sentence of Array.from({ length: 60 }, (_, count) => `This is sentence ${count}. `)) {
        await new Promise<void>((done) => void clock.after(500, () => done()));
        yield sentence;
      }
    };
    expect(await silence({ clock, onMessage })).toBeLessThanOrEqual(5600);
  });

  it('also while guardrails look at the rest of it', async () => {
    const clock = new FakeClock();
    const guardrails = [() => new Promise<boolean>((done) => void clock.after(900, () => done(true)))];
    const sentences = Array.from({ length: 20 }, (_, count) => `This is sentence ${count}. `);
    const waited = await silence({ clock, guardrails }, (rig) => void rig.model.answer(...sentences));
    expect(waited).toBeLessThanOrEqual(5800);
  });

  it('also on a line that is never quiet', async () => {
    const rig = await new CallRig({ voice: silentVoice(() => true), interruptible: false }).start();
    rig.model.answer(ANSWER);
    await rig.says('When?');
    const since = rig.clock.now();
    await rig.voiced(12_000);
    expect(rig.ended).toMatchObject([{ failure: { stage: 'tts', untold: true } }]);
    expect((rig.ended[0]?.at ?? 0) - since).toBeLessThanOrEqual(4600);
  });
});

describe('stages that say nothing in the same turn', () => {
  const hanging = async function* (): AsyncGenerator<never> {
    await new Promise(() => {});
  };

  it.each([[[]], [['One moment.']]])(
    'keep the caller no longer than one of them, with fillers %j',
    async (fillers) => {
      const rig = await new CallRig({ voice: silentVoice(() => true), turnTaking: { fillers } }).start();
      rig.model.answers.push(hanging);
      await rig.voiced(400);
      const since = rig.clock.now();
      rig.ears.events.final('When?');
      await rig.quiet(6000);
      expect(rig.ended).toMatchObject([
        { reason: 'provider-failed', failure: { stage: 'llm', untold: true } },
      ]);
      expect((rig.ended[0]?.at ?? 0) - since).toBeLessThanOrEqual(4600);
    },
  );

  it('count from the end of the sound, though its words come late', async () => {
    const rig = await new CallRig({ turnTaking: NO_FILLERS }).start();
    rig.model.answers.push(hanging);
    await rig.voiced(400);
    const since = rig.clock.now();
    await rig.quiet(3000);
    rig.ears.events.final('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken.at(-1)).toMatch(APOLOGY);
    const soundAt = rig.player.sent[0]?.at ?? Number.POSITIVE_INFINITY;
    expect(soundAt - since).toBeGreaterThan(4000);
    expect(soundAt - since).toBeLessThanOrEqual(5000);
  });

  it('do not end a call whose words come so late that nothing would be left for an answer', async () => {
    const rig = await new CallRig({ turnTaking: NO_FILLERS }).start();
    rig.model.answers.push(async function* () {
      await new Promise<void>((done) => void rig.clock.after(400, () => done()));
      yield { type: 'text', delta: 'At nine.' };
    });
    await rig.voiced(400);
    await rig.quiet(4000);
    rig.ears.events.final('When?');
    await rig.quiet(3000);
    expect(rig.turns).toMatchObject([{ userText: 'When?', agentText: 'At nine.' }]);
    expect(rig.ended).toEqual([]);
  });

  it('leave a model alone that has given its words to a slow voice', async () => {
    const rig = await new CallRig({ voice: silentVoice(() => true), turnTaking: NO_FILLERS }).start();
    rig.model.answers.push(async function* () {
      yield { type: 'text', delta: 'At nine. ' };
      await new Promise<void>((done) => void rig.clock.after(3900, () => done()));
      yield { type: 'text', delta: 'Or at ten.' };
    });
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.ended).toMatchObject([{ failure: { stage: 'tts', untold: true } }]);
  });
});
