import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.js';
import { ProviderError } from '../../src/base/errors.js';
import type { EngineFact, EngineRecipe } from '../../src/engines/engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { Circuits } from '../../src/providers/circuits.js';
import { LanguageModelChain } from '../../src/providers/fallback/language-model-chain.js';
import { SpeechToTextChain } from '../../src/providers/fallback/speech-to-text-chain.js';
import { TextToSpeechChain } from '../../src/providers/fallback/text-to-speech-chain.js';
import type { LanguageModelEvent } from '../../src/providers/language-model.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeModel, FakeRecognizer, FakeVoice } from './call-rig.js';
import { SlowVoice } from './prepared-rig.js';

const DOWN = new ProviderError('The key is wrong.', { status: 401, retryable: false });
const named = <T extends object>(member: T, name: string, price = {}): T =>
  Object.assign(member, { name, price });
const lateClock = (time: FakeClock, lateMs: number): Clock => ({
  now: () => time.now(),
  wallNow: () => time.wallNow(),
  after: (delayMs, task) => time.after(delayMs + lateMs, task),
});
const factsOf = <Type extends EngineFact['type']>(rig: CallRig, type: Type) =>
  rig.facts.filter((fact): fact is Extract<EngineFact, { type: Type }> => fact.type === type);

describe('a provider that comes back', () => {
  it.each<[string, (rig: CallRig) => void, object]>([
    [
      'stt',
      ({ ears }) => ears.events.reconnected?.({ gapMs: 740.4, lostMs: 0 }),
      { stage: 'stt', provider: 'fake-stt', code: 'PROVIDER_FAILED', gapMs: 740 },
    ],
    [
      'tts',
      ({ voice }) => voice.events?.reconnected?.({ gapMs: 120, code: 'INTERNAL' }),
      { stage: 'tts', provider: 'fake-tts', code: 'INTERNAL', gapMs: 120 },
    ],
  ])('is a fact: %s', async (_, happens, fact) => {
    const rig = await new CallRig().start();
    happens(rig);
    expect(factsOf(rig, 'provider.reconnected')).toEqual([{ type: 'provider.reconnected', ...fact }]);
    rig.engine.close();
    happens(rig);
    expect(factsOf(rig, 'provider.reconnected')).toHaveLength(1);
  });

  it('is a fact: a request of the language model that was sent again', async () => {
    const rig = await new CallRig().start();
    rig.model.answer({ type: 'recovered', gapMs: 300 }, 'Hello.');
    await rig.says('Hello?');
    expect(factsOf(rig, 'provider.reconnected')).toEqual([
      {
        type: 'provider.reconnected',
        stage: 'llm',
        provider: 'fake-llm',
        code: 'PROVIDER_FAILED',
        gapMs: 300,
      },
    ]);
  });

  it('may count wrongly', async () => {
    const rig = await new CallRig().start();
    rig.ears.events.reconnected?.({ gapMs: Number.NaN, lostMs: 0 });
    expect(factsOf(rig, 'provider.reconnected')).toMatchObject([{ gapMs: 0 }]);
  });
});

describe('a provider that another one takes the place of', () => {
  const clock = () => new FakeClock();
  const chained = <T>(time: FakeClock, first: T, second: T) => ({
    members: [first, second] as const,
    circuits: new Circuits(time),
    clock: time,
  });

  it('is named by a fact with all that serve the call now, and is paid what it was used for', async () => {
    const time = clock();
    const used = (inputTokens: number): LanguageModelEvent => ({
      type: 'usage',
      usage: { inputTokens, cachedTokens: 0, outputTokens: 1 },
    });
    const minds = [
      named(new FakeModel(), 'a/mind'),
      named(new FakeModel(), 'b/mind', { inputPerMillionTokens: 2 }),
    ];
    const ears = [named(new FakeRecognizer(), 'a/ears'), named(new FakeRecognizer(), 'b/ears')];
    const [mind, otherMind, ear, otherEar] = [minds[0], minds[1], ears[0], ears[1]];
    if (!mind || !otherMind || !ear || !otherEar) throw new Error('two of each');
    mind.answer(used(5), DOWN);
    otherMind.answer('We have rye.', used(7));
    const rig = new CallRig({
      clock: time,
      llm: new LanguageModelChain(chained(time, mind, otherMind)),
      stt: new SpeechToTextChain(chained(time, ear, otherEar)),
    });
    await rig.start();
    ear.events.failed(DOWN);
    await rig.voiced(400);
    otherEar.events.final('Do you have bread?');
    await rig.quiet(1500);
    expect(factsOf(rig, 'provider.replaced')).toEqual([
      {
        type: 'provider.replaced',
        stage: 'stt',
        from: 'a/ears',
        to: 'b/ears',
        code: 'PROVIDER_FAILED',
        gapMs: 0,
        mode: 'pipeline',
        provider: { engine: null, stt: 'b/ears', llm: 'a/mind', tts: 'fake-tts' },
      },
      {
        type: 'provider.replaced',
        stage: 'llm',
        from: 'a/mind',
        to: 'b/mind',
        code: 'PROVIDER_FAILED',
        gapMs: 0,
        mode: 'pipeline',
        provider: { engine: null, stt: 'b/ears', llm: 'b/mind', tts: 'fake-tts' },
      },
    ]);
    expect(factsOf(rig, 'usage.measured')).toMatchObject([
      { stage: 'llm', quantities: { inputTokens: 5 }, payee: { name: 'a/mind' } },
      {
        stage: 'llm',
        quantities: { inputTokens: 7 },
        payee: { name: 'b/mind', price: { inputPerMillionTokens: 2 } },
      },
    ]);
    otherEar.events.reconnected?.({ gapMs: 9, lostMs: 0 });
    expect(factsOf(rig, 'provider.reconnected')).toMatchObject([{ provider: 'b/ears' }]);
    expect(rig.ended).toEqual([]);
    expect(rig.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: Do you have bread?',
      'agent: We have rye.',
    ]);
  });

  it('is heard to go on with its answer, and another voice with its sentence', async () => {
    const time = clock();
    const [mind, otherMind] = [named(new FakeModel(), 'a/mind'), named(new FakeModel(), 'b/mind')];
    const [voice, otherVoice] = [
      named(new FakeVoice(1000), 'a/voice'),
      named(new FakeVoice(2000), 'b/voice'),
    ];
    mind.answers.push(async function* () {
      yield { type: 'text', delta: 'We have rye and plenty of rolls today, fresh from the oven. And ' };
      await new Promise<void>((resolve) => void time.after(1000, resolve));
      throw DOWN;
    });
    otherMind.answer('we have wheat.');
    voice.failOn = 'wheat';
    const rig = new CallRig({
      clock: time,
      llm: new LanguageModelChain(chained(time, mind, otherMind)),
      tts: new TextToSpeechChain(chained(time, voice, otherVoice)),
    });
    await rig.start();
    await rig.says('Do you have bread?');
    await rig.quiet(9000);
    expect(voice.spoken).toContain('We have rye and plenty of rolls today, fresh from the oven.');
    expect(otherVoice.spoken).toContain('And we have wheat.');
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([
      'We have rye and plenty of rolls today, fresh from the oven. And we have wheat.',
    ]);
    expect(factsOf(rig, 'provider.replaced').at(-1)).toMatchObject({
      provider: { engine: null, stt: 'fake-stt', llm: 'b/mind', tts: 'b/voice' },
    });
    expect(rig.ended).toEqual([]);
  });

  it('goes on with an answer before the next voice mode takes the call, which is for when all have failed', async () => {
    const time = clock();
    const [mind, otherMind] = [named(new FakeModel(), 'a/mind'), named(new FakeModel(), 'b/mind')];
    mind.answers.push(async function* () {
      yield { type: 'text', delta: 'We have rye and plenty of rolls today, fresh from the oven. And ' };
      await new Promise(() => {});
    });
    otherMind.answer('we have wheat.');
    // Timers may be late.
    const late = { ...chained(time, mind, otherMind), clock: lateClock(time, 10) };
    const stages = { stt: new FakeRecognizer(), llm: new LanguageModelChain(late), tts: new FakeVoice() };
    const recipe = createPipelineRecipe(stages);
    const create: EngineRecipe['create'] = (context) => recipe.create({ ...context, hasFallback: true });
    const rig = await new CallRig({ clock: time, recipe: { ...recipe, create } }).start();
    rig.engine.pushDtmf?.('1');
    await rig.quiet(12_000);
    expect(rig.ended).toEqual([]);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual([
      'We have rye and plenty of rolls today, fresh from the oven. And we have wheat.',
    ]);
  });

  it('leaves the next voice its time, however long the caller has waited for words', async () => {
    const time = clock();
    const [voice, otherVoice] = [
      named(new SlowVoice(time), 'a/voice'),
      named(new SlowVoice(time), 'b/voice'),
    ];
    voice.beginsAfterMs = 60_000;
    otherVoice.beginsAfterMs = 800;
    const mind = new FakeModel();
    mind.answers.push(async function* () {
      await new Promise<void>((resolve) => void time.after(2500, resolve));
      yield { type: 'text', delta: 'We have rye.' };
    });
    const rig = new CallRig({
      clock: time,
      turnTaking: { fillers: [] },
      llm: mind,
      tts: new TextToSpeechChain(chained(time, voice, otherVoice)),
    });
    await rig.start();
    await rig.says('Do you have bread?');
    await rig.quiet(9000);
    expect(rig.ended).toEqual([]);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual(['We have rye.']);
  });

  it('ends the call only when the last one fails', async () => {
    const time = clock();
    const [mind, otherMind] = [named(new FakeModel(), 'a/mind'), named(new FakeModel(), 'b/mind')];
    mind.answer(DOWN);
    otherMind.answer(DOWN);
    const rig = new CallRig({ clock: time, llm: new LanguageModelChain(chained(time, mind, otherMind)) });
    await rig.start();
    await rig.says('Hello?');
    await rig.quiet(6000);
    expect(rig.ended).toMatchObject([
      { reason: 'provider-failed', failure: { message: 'The key is wrong.' } },
    ]);
    expect(factsOf(rig, 'provider.replaced')).toHaveLength(1);
  });
});
