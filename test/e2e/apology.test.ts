// What a caller is told when the call cannot go on, and in which language: by the agent where it has a voice, else by the carrier's.
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../src/audio/format.js';
import { ProviderError } from '../../src/base/errors.js';
import { SIMULATED_CARRIERS, type CarrierId } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import type { LanguageModel } from '../../src/providers/language-model.js';
import type { RealtimeModel } from '../../src/providers/realtime-model.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { speakInTones } from '../../src/testing/tone-voice.js';
import { isDeep } from '../support/depth.js';
import { startCarrierPhone } from '../support/carrier-phone.js';

const GONE = new ProviderError('The vendor is gone.', { status: null, retryable: false });

const voice: TextToSpeech = {
  name: 'test/tones',
  open: () => ({
    async *synthesize(text) {
      yield speakInTones(text, { sampleRateHz: 16_000 });
    },
    close() {},
  }),
};

const lostVoice: TextToSpeech = {
  name: 'test/mute',
  open: () => ({
    // biome-ignore lint/correctness/useYield: it never has anything to say
    async *synthesize() {
      throw GONE;
    },
    close() {},
  }),
};

const lostModel: LanguageModel = {
  name: 'test/gone',
  // biome-ignore lint/correctness/useYield: it never has anything to say
  async *respond() {
    throw GONE;
  },
};

const lostEngine: RealtimeModel = {
  name: 'test/realtime',
  inputFormats: [MULAW_8K],
  outputFormats: [MULAW_8K],
  transcribesCaller: false,
  open({ clock, events }) {
    clock.after(100, () => events.failed(GONE));
    const nothing = () => {};
    return {
      pushAudio: nothing,
      say: nothing,
      addText: nothing,
      respond: nothing,
      giveResults: nothing,
      cancel: nothing,
      truncate: nothing,
      update: nothing,
      close: nothing,
    };
  },
};

/** Voice modes, and who tells the caller what became of them. */
const LOSSES: readonly [string, AgentOptions, 'agent' | 'carrier'][] = [
  ['three stages without a model', { llm: lostModel, tts: voice, firstMessage: 'Hello.' }, 'agent'],
  ['three stages without a voice', { tts: lostVoice, firstMessage: 'Hello.' }, 'carrier'],
  ['a realtime model', { engine: lostEngine, firstMessage: 'Hello.' }, 'carrier'],
];

const GERMAN = 'Es tut mir leid, da ist etwas schiefgegangen. Bitte rufen Sie später noch einmal an.';

/** Options of the agent, what the caller hears, and the language of the carrier's voice. */
const APOLOGIES: readonly [AgentOptions, string, string][] = [
  [{ language: 'de' }, GERMAN, 'de-DE'],
  [{ language: 'es-MX' }, 'Lo siento, algo ha salido mal. Por favor, vuelva a llamar más tarde.', 'es-MX'],
  [{ language: 'pl' }, 'I am sorry, something went wrong. Please call again later.', 'en-US'],
  [{ language: 'pl', apology: 'Przepraszam, do usłyszenia.' }, 'Przepraszam, do usłyszenia.', 'pl-PL'],
];

/** Every apology in every mode, on one carrier or the other. */
const on = <T>(id: CarrierId, all: readonly T[], mode: number) =>
  all.filter((_, index) => isDeep || SIMULATED_CARRIERS[(index + mode) % SIMULATED_CARRIERS.length] === id);

describe.each(SIMULATED_CARRIERS)('%s, a call that cannot go on', { timeout: 60_000 }, (id) => {
  for (const [index, [mode, parts, by]] of LOSSES.entries())
    it.each(on(id, APOLOGIES, index))(`${mode}, %j`, async (options, text, language) => {
      await using running = await startCarrierPhone(id, { ...parts, ...options });
      const { carrierCallId } = await running.simulator.call({
        script: [
          { type: 'wait-for-agent', timeoutMs: 2000 },
          { type: 'say', text: 'What time is it?' },
          { type: 'pause', durationMs: 20_000 },
        ],
      });
      const record = await running.record(carrierCallId);
      expect(record.endReason).toBe('provider-failed');
      expect(record.incidents.filter(({ code }) => code === 'apology-spoken')).toHaveLength(1);
      const orders = running.simulator.requests.filter(({ purpose }) => purpose === 'speak');
      if (by === 'agent') {
        expect(record.turns.at(-1)?.agentText).toBe(text);
        expect(orders).toEqual([]);
      } else {
        expect(running.simulator.legs[0]?.spoken).toEqual([text]);
        expect(orders.map(({ body }) => JSON.stringify(body))).toEqual([expect.stringContaining(language)]);
      }
      expect(running.simulator.legs[0]?.violations).toEqual([]);
    });
});
