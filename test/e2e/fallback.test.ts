// Vendors that are down, in whole calls: the caller gets an answer all the same, from the first second and in the middle.
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { ProviderError } from '../../src/base/errors.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  SimulatedSpeechToText,
} from '../../src/providers/stt/index.js';
import { CartesiaTextToSpeech, ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type CallerStep,
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  type EmulatedReply,
} from '../../src/testing/index.js';
import { toneVoice } from '../support/client-bench.js';
import { startPhone } from '../support/running-phone.js';
import { whenever } from '../support/whenever.js';
import { closedAfterTest } from '../support/closed-after-test.js';

const GREETING = 'Hello, this is the bakery.';
interface Lines {
  /** What the first recognizer hears, and the second. */
  readonly heard?: readonly [readonly string[], readonly string[]];
  /** What the first model answers, and the second. */
  readonly answered?: readonly [readonly EmulatedReply[], readonly string[]];
  /** How long the first voice takes to begin. @default 75 */
  readonly firstAudioMs?: number;
}

/** Two vendors for each stage, and a phone that knows them all. */
async function start({ heard = [[], []], answered = [[], []], firstAudioMs = 75 }: Lines) {
  const ears = await emulateDeepgram({ utterances: heard[0] });
  const otherEars = await emulateAssemblyAI({ utterances: heard[1] });
  const mind = await emulateChatCompletions({ replies: answered[0] });
  const otherMind = await emulateAnthropic({ replies: answered[1].map((text) => ({ text })) });
  const voice = await emulateElevenLabs({ firstAudioMs, chunkEveryMs: 100 });
  const otherVoice = await emulateCartesia({ firstAudioMs: 75, chunkEveryMs: 20 });
  const vendors = [ears, otherEars, mind, otherMind, voice, otherVoice];
  for (const vendor of vendors) closedAfterTest(vendor);
  const apiKey = 'test-key';
  const running = await startPhone({
    firstMessage: GREETING,
    stt: new DeepgramSpeechToText({ apiKey, baseUrl: ears.url }),
    llm: new ChatCompletions({ apiKey, baseUrl: `${mind.url}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey, baseUrl: voice.url }),
    fallback: {
      stt: [new AssemblyAISpeechToText({ apiKey, baseUrl: otherEars.url })],
      llm: [new AnthropicMessages({ apiKey, baseUrl: otherMind.url })],
      tts: [new CartesiaTextToSpeech({ apiKey, baseUrl: otherVoice.url, voiceId: 'v1' })],
    },
    idle: false,
  });
  onTestFinished(() => running[Symbol.asyncDispose]());
  return { ears, otherEars, mind, otherMind, voice, otherVoice, running };
}

/** Runs `task` once, as soon as it is time, and no more when the test is over. */
function when(isTime: () => boolean, task: () => void): void {
  onTestFinished(whenever(isTime, task));
}

const wordsOf = ({ transcript }: CallRecord) =>
  transcript.filter(({ id }) => !id.startsWith('filler')).map(({ role, text }) => `${role}: ${text}`);
const replacedOf = ({ incidents }: CallRecord) => incidents.map(({ code, message }) => `${code}: ${message}`);
const says = (text: string): CallerStep[] => [{ type: 'say', text }, { type: 'wait-for-agent' }];

const DOWN = { status: 503, times: 50 };
const FIRST = { stt: 'deepgram/nova-3', llm: 'openai/gpt-6-luna', tts: 'elevenlabs/eleven_flash_v2_5' };
const SECOND = {
  stt: 'assemblyai/universal-3-6-pro',
  llm: 'anthropic/claude-haiku-5-5',
  tts: 'cartesia/sonic-3.5',
};

// Calls in real time.
describe('a call whose vendors fail', { timeout: 60_000 }, () => {
  it('is served by the fallbacks from its first second', async () => {
    const { ears, mind, voice, otherEars, otherMind, otherVoice, running } = await start({
      heard: [[], ['Do you have bread?']],
      answered: [[], ['Yes, plenty of it.']],
    });
    ears.refuseNext(DOWN);
    mind.refuseNext(DOWN);
    voice.refuseNext(DOWN);
    const { report, record } = await running.call([
      { type: 'wait-for-agent' },
      ...says('Do you have bread?'),
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(wordsOf(record)).toEqual([
      `agent: ${GREETING}`,
      'user: Do you have bread?',
      'agent: Yes, plenty of it.',
    ]);
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null, provider: SECOND });
    expect(replacedOf(record).sort()).toEqual(
      (['stt', 'llm', 'tts'] as const)
        .map(
          (stage) =>
            `provider-replaced: ${FIRST[stage]} failed (PROVIDER_FAILED), and ${SECOND[stage]} was asked in its place.`,
        )
        .sort(),
    );
    expect(record.incidents.every(({ durationMs }) => durationMs !== null)).toBe(true);
    expect([...otherEars.violations, ...otherMind.violations, ...otherVoice.violations]).toEqual([]);
    // Each is paid by its own price.
    expect([record.cost.stt, record.cost.llm, record.cost.tts]).not.toContain(null);
  });

  it('is served by the fallbacks of vendors that take the connection and say nothing', async () => {
    const { ears, running } = await start({
      heard: [[], ['Do you have bread?']],
      answered: [[{ text: 'Late.', firstTokenMs: 60_000 }], ['Yes, plenty of it.']],
      firstAudioMs: 60_000,
    });
    when(
      () => ears.openSockets === 1,
      () => ears.freeze(),
    );
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      ...says('Do you have bread?'),
      { type: 'pause', durationMs: 6000 },
      { type: 'hang-up' },
    ]);
    expect(wordsOf(record)).toEqual([
      `agent: ${GREETING}`,
      'user: Do you have bread?',
      'agent: Yes, plenty of it.',
    ]);
    expect(record).toMatchObject({ error: null, provider: SECOND });
  });

  it('has what its recognizer did not hear heard by the next one', async () => {
    const { ears, mind, otherEars, running } = await start({
      heard: [['Do you have bread?'], ['Three loaves of rye, please.']],
      answered: [[{ text: 'Yes, plenty of it.' }, { text: 'Here you are.' }], []],
    });
    when(
      () => mind.exchanges.length === 1,
      () => {
        ears.refuseNext({ status: 503, times: 50 });
        ears.freeze();
      },
    );
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      ...says('Do you have bread?'),
      ...says('Three loaves of rye, please.'),
      { type: 'hang-up' },
    ]);
    expect(wordsOf(record)).toEqual([
      `agent: ${GREETING}`,
      'user: Do you have bread?',
      'agent: Yes, plenty of it.',
      'user: Three loaves of rye, please.',
      'agent: Here you are.',
    ]);
    expect(record).toMatchObject({ error: null, provider: { ...FIRST, stt: SECOND.stt } });
    expect(otherEars.violations).toEqual([]);
  });

  it('has the rest of an answer given by the next model', async () => {
    const { mind, otherMind, running } = await start({
      heard: [['Do you have bread?'], []],
      answered: [
        [{ text: 'Yes, we have rye and spelt and wheat today. And for the children', tokenMs: 60 }],
        ['there are little rolls.'],
      ],
    });
    // Behind the last word there is no end.
    when(
      () => mind.exchanges.length === 1,
      () => void systemClock.after(700, () => mind.freeze()),
    );
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      ...says('Do you have bread?'),
      { type: 'pause', durationMs: 8000 },
      { type: 'hang-up' },
    ]);
    const [, , answer = ''] = wordsOf(record);
    expect(answer).toMatch(/^agent: Yes, we have rye .*there are little rolls\.$/);
    const messages = JSON.stringify(otherMind.exchanges[0]?.body.messages);
    expect(messages).toContain('Yes, we have rye');
    expect(messages).toContain('Go on where it stops');
    expect(record).toMatchObject({ error: null, provider: { ...FIRST, llm: SECOND.llm } });
    expect(otherMind.violations).toEqual([]);
  });

  it('has the rest of a sentence said by the next voice', async () => {
    const text = 'We have rye, spelt, wheat and a very dark bread that everybody in town comes to buy here.';
    const { voice, otherVoice, running } = await start({
      heard: [['Do you have bread?'], []],
      answered: [[{ text }], []],
    });
    const isSpeaking = () =>
      voice.connections.some(({ texts }) => [...texts.values()].some((each) => each.startsWith('We have')));
    when(isSpeaking, () => {
      systemClock.after(500, () => {
        voice.refuseNext(DOWN);
        voice.disconnectAll(1011, 'internal_error');
      });
    });
    const { record } = await running.call([
      { type: 'wait-for-agent' },
      ...says('Do you have bread?'),
      { type: 'pause', durationMs: 5000 },
      { type: 'hang-up' },
    ]);
    const rests = otherVoice.connections.flatMap(({ texts }) => [...texts.values()]);
    expect(rests.some((rest) => rest !== text && text.endsWith(rest.trim()))).toBe(true);
    expect(wordsOf(record).at(-1)).toBe(`agent: ${text}`);
    expect(record).toMatchObject({ error: null, provider: { ...FIRST, tts: SECOND.tts } });
    expect(otherVoice.violations).toEqual([]);
  });

  it('is begun in the other voice mode once a stage that nobody else can fill has failed again and again', async () => {
    let asked = 0;
    const gone: LanguageModel = {
      name: 'test/gone',
      // biome-ignore lint/correctness/useYield: it never has anything to say
      async *respond() {
        asked += 1;
        throw new ProviderError('The vendor is gone.', { status: null, retryable: false });
      },
    };
    const there: LanguageModel = {
      name: 'test/there',
      async *respond() {
        yield { type: 'text', delta: 'Yes, plenty of it.' };
      },
    };
    const running = await startPhone({
      firstMessage: GREETING,
      llm: gone,
      fallback: { engine: [{ stt: new SimulatedSpeechToText(), llm: there, tts: toneVoice }] },
      idle: false,
    });
    onTestFinished(() => running[Symbol.asyncDispose]());
    const script: CallerStep[] = [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Do you have bread?' },
      { type: 'pause', durationMs: 4000 },
      { type: 'hang-up' },
    ];
    const served = ['user: Do you have bread?', 'agent: Yes, plenty of it.'];
    const calls = await Promise.all([1, 2, 3, 4, 5].map(() => running.call(script)));
    for (const { record } of calls) expect(wordsOf(record).slice(1)).toEqual(served);
    expect(asked).toBe(5);
    const { record } = await running.call(script);
    expect(asked).toBe(5);
    expect(wordsOf(record).slice(1)).toEqual(served);
    expect(replacedOf(record)).toEqual([expect.stringContaining('CIRCUIT_OPEN')]);
  });
});
