// Who is told that a key was refused is told where it is set: for every vendor that is asked over a network, over HTTP or at the handshake.
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { CHAT_SERVICES, type ChatService } from '../../src/providers/llm/chat-completions/services.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { emulateChatCompletions } from '../../src/testing/index.js';
import { type TroubledStage, VENDORS } from '../support/emulated-vendors.js';
import type { FakeClock } from '../support/fake-clock.js';
import { openScene } from '../support/vendor-line-up.js';
import { recordCall } from './realtime/recorded-call.js';
import { soon } from '../support/soon.js';
import { closedAfterTest } from '../support/closed-after-test.js';

/** By stage and row of the emulated vendors. A transcription server that was named by its address gets no key of the environment. */
const SENTENCES: Readonly<Record<TroubledStage, Readonly<Record<string, readonly [string, string]>>>> = {
  stt: {
    deepgram: ['Deepgram', 'DEEPGRAM_API_KEY, or the option apiKey'],
    assemblyai: ['AssemblyAI', 'ASSEMBLYAI_API_KEY, or the option apiKey'],
    transcription: ['The transcription server', 'the option apiKey'],
  },
  llm: {
    chat: ['OpenAI', 'OPENAI_API_KEY, or the option apiKey'],
    anthropic: ['Anthropic', 'ANTHROPIC_API_KEY, or the option apiKey'],
  },
  tts: {
    elevenlabs: ['ElevenLabs', 'ELEVENLABS_API_KEY, or the option apiKey'],
    cartesia: ['Cartesia', 'CARTESIA_API_KEY, or the option apiKey'],
    aura: ['Deepgram', 'DEEPGRAM_API_KEY, or the option apiKey'],
    speech: ['The voice', 'the option apiKey'],
  },
  engine: {
    openai: ['OpenAI Realtime', 'the option apiKey'],
    gemini: ['Gemini Live', 'GEMINI_API_KEY or GOOGLE_API_KEY, or the option apiKey'],
    agents: ['ElevenLabs Agents', 'ELEVENLABS_API_KEY, or the option apiKey'],
  },
};

const STAGES = Object.keys(VENDORS) as TroubledStage[];

const CASES = STAGES.flatMap((stage) =>
  Object.keys(VENDORS[stage]).flatMap((vendor) => [
    { stage, vendor, status: 401, deed: 'refused the key' },
    { stage, vendor, status: 403, deed: 'does not allow this with the key' },
  ]),
);

/** Events of which only the failure counts. */
function onlyFailed<Events extends object>(failed: (error: Error) => void): Events {
  return new Proxy({} as Events, { get: (_, name) => (name === 'failed' ? failed : () => {}) });
}

/** Uses a provider until it fails: what it says then. */
const FAILURES = {
  stt(provider: SpeechToText, clock: FakeClock, tell: (error: Error) => void) {
    const session = closedAfterTest(
      provider.open({ clock, logger: silentLogger, language: undefined, events: onlyFailed(tell) }),
    );
    for (let index = 0; index < 50; index += 1) session.pushAudio(tone(index < 25 ? 8000 : 0));
    session.finishUtterance();
  },
  llm(provider: LanguageModel, _clock: FakeClock, tell: (error: Error) => void) {
    const signal = new AbortController().signal;
    void drain(
      provider.respond({ callId: 'call', messages: [{ role: 'user', content: 'Hello.' }], signal }),
    ).catch(tell);
  },
  tts(provider: TextToSpeech, clock: FakeClock, tell: (error: Error) => void) {
    const session = closedAfterTest(provider.open({ clock, logger: silentLogger, language: undefined }));
    void drain(session.synthesize('Hello.', new AbortController().signal)).catch(tell);
  },
  engine(provider: RealtimeModel, clock: FakeClock, tell: (error: Error) => void) {
    closedAfterTest(provider.open(recordCall({ clock, events: () => ({ failed: tell }) }).context));
  },
};

/** 20 ms of sound at 16 kHz, or of silence. */
function tone(peak: number): Int16Array {
  return Int16Array.from({ length: 320 }, (_, index) => peak * Math.sin(index / 4));
}

async function drain(sequence: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of sequence);
}

describe('a refused key', () => {
  it('is tried with every vendor', () => {
    for (const stage of STAGES)
      expect(Object.keys(SENTENCES[stage]).sort()).toEqual(Object.keys(VENDORS[stage]).sort());
  });

  it.each(CASES)(
    'of $vendor ($stage, $status) says where it is set',
    async ({ stage, vendor, status, deed }) => {
      const scene = openScene();
      const { emulator, create } = await VENDORS[stage][vendor]!.start(scene);
      closedAfterTest(emulator).refuseNext({ status, times: 100 });
      const told: Error[] = [];
      FAILURES[stage](create(scene.clock) as never, scene.clock, (error) => void told.push(error));
      await soon(() => expect(told).toHaveLength(1));
      const [name, sources] = SENTENCES[stage][vendor]!;
      expect(told[0]).toMatchObject({
        code: 'PROVIDER_FAILED',
        message: `${name} ${deed} (HTTP ${status}): check ${sources}.`,
      });
    },
  );

  it.each(Object.keys(CHAT_SERVICES) as ChatService[])('of %s names its variable', async (service) => {
    const { clock } = openScene();
    const emulator = closedAfterTest(await emulateChatCompletions({ clock, replies: [] }));
    emulator.refuseNext({ status: 401, times: 100 });
    const options = { service, model: 'any', baseUrl: `${emulator.url}/v1`, apiKey: 'secret-key', clock };
    const told: Error[] = [];
    FAILURES.llm(new ChatCompletions(options), clock, (error) => void told.push(error));
    await soon(() => expect(told).toHaveLength(1));
    const { vendor, keyVariables } = CHAT_SERVICES[service].access;
    expect(told[0]?.message).toBe(
      `${vendor} refused the key (HTTP 401): check ${keyVariables[0]}, or the option apiKey.`,
    );
    expect(told[0]?.message).not.toContain('secret-key');
  });
});
