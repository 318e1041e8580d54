// A caller who speaks another language than the call began in: on both carriers, to the last words of the carrier's own voice.
import { describe, expect, it } from 'vitest';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { ProviderError } from '../../src/base/errors.js';
import type { ChatMessage, LanguageModel } from '../../src/providers/language-model.js';
import { DeepgramSpeechToText, SimulatedSpeechToText } from '../../src/providers/stt/index.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { type CallerStep, emulateDeepgram } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const ENGLISH = 'Hello, I would like a table for two.';
const GERMAN = 'Ich hätte gern einen Tisch für zwei.';

const says = (text: string, language?: string): CallerStep[] => [
  { type: 'wait-for-agent' },
  { type: 'say', text, ...(language === undefined ? {} : { language }) },
];

/** Answers with the number of the turn, and knows what it was asked with. */
class CountingModel implements LanguageModel {
  readonly name = 'test/counting';
  readonly asked: (readonly ChatMessage[])[] = [];

  async *respond({ messages }: { readonly messages: readonly ChatMessage[] }) {
    this.asked.push(messages);
    yield { type: 'text', delta: `Answer ${this.asked.length}.` } as const;
  }

  /** In which language each answer was to be. */
  get told(): string[] {
    return this.asked.map(([first]) => /The call is in (\w+)/.exec(first?.content ?? '')?.[1] ?? '');
  }
}

const voiceNamed = (name: string): TextToSpeech => ({
  name,
  open: () => ({
    async *synthesize(text) {
      const samples = text.length * 40 * 16;
      yield Int16Array.from({ length: samples }, (_, at) =>
        Math.round(8000 * Math.sin((at * 440 * 2 * Math.PI) / 16_000)),
      );
    },
    close() {},
  }),
});

const agentWith = (llm: LanguageModel): AgentOptions => ({
  systemPrompt: 'You take reservations.',
  firstMessage: 'Good evening.',
  languages: ['en', 'de', 'es'],
  llm,
  tts: { en: voiceNamed('test/english'), de: voiceNamed('test/german'), es: voiceNamed('test/spanish') },
  idle: {
    afterSeconds: 5,
    prompts: { en: ['Are you there?'], de: ['Sind Sie noch da?'], es: ['¿Sigue ahí?'] },
    goodbye: { en: 'Goodbye.', de: 'Auf Wiederhören.', es: 'Adiós.' },
  },
});

async function play(
  id: (typeof SIMULATED_CARRIERS)[number],
  script: CallerStep[],
  options: Partial<AgentOptions> = {},
) {
  const model = new CountingModel();
  await using running = await startCarrierPhone(id, { ...agentWith(model), ...options });
  const report = await running.simulator.call({ script, maxDurationMs: 90_000 });
  const record = await running.record(report.carrierCallId);
  const said = record.transcript.filter(({ role }) => role === 'agent').map(({ text }) => text);
  return { record, said, told: model.told, report };
}

describe.each(playedOn('carrier-b'))('%s, an agent of three languages', { timeout: 60_000 }, (id) => {
  it('goes on in German once the caller has spoken it twice, with its voice and its words', async () => {
    const script = [...says(GERMAN, 'de-DE'), ...says(GERMAN, 'de-DE'), ...says(GERMAN, 'de-DE')];
    const { record, said, told } = await play(id, [...script, { type: 'pause', durationMs: 40_000 }]);
    expect(told).toEqual(['English', 'German', 'German']);
    expect(said).toEqual([
      'Good evening.',
      'Answer 1.',
      'Answer 2.',
      'Answer 3.',
      'Sind Sie noch da?',
      'Auf Wiederhören.',
    ]);
    expect(record).toMatchObject({
      language: 'de',
      endReason: 'idle',
      provider: { tts: 'test/german' },
      incidents: [],
    });
  });

  it("goes on in it by a vendor's recognizer, which knows the languages to expect", async () => {
    const heard = { text: GERMAN, language: 'de' };
    await using ears = await emulateDeepgram({ utterances: [heard, heard, heard] });
    const stt = new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: ears.url });
    const pause = { type: 'pause', durationMs: 8000 } as const;
    const script = [...says(GERMAN), ...says(GERMAN), ...says(GERMAN), pause];
    const { record, told } = await play(id, script, { stt });
    expect(told).toEqual(['English', 'German', 'German']);
    expect(record).toMatchObject({ language: 'de', provider: { stt: stt.name, tts: 'test/german' } });
    const [connection] = ears.connections;
    expect(connection?.url.searchParams.getAll('language_hint')).toEqual(['en', 'de', 'es']);
    expect(ears.violations).toEqual([]);
  });

  it('stays where it is for a caller who mixes, and for words that every language has', async () => {
    const mixed = [GERMAN, ENGLISH, GERMAN, ENGLISH].flatMap((text) =>
      says(text, text === GERMAN ? 'de' : 'en'),
    );
    const short = [...says('Okay.', 'es'), ...says('Sí.', 'es'), ...says('12 13 14 15.', 'es')];
    const { record, told } = await play(id, [...mixed, ...short, { type: 'hang-up' }]);
    expect(new Set(told)).toEqual(new Set(['English']));
    expect(record).toMatchObject({ language: 'en', provider: { tts: 'test/english' } });
  });

  it.each(['model', 'voice mode'] as const)('goes on in it with another %s', async (replaced) => {
    const script = [GERMAN, GERMAN, GERMAN, GERMAN].flatMap((text) => says(text, 'de'));
    const second = new CountingModel();
    const first: LanguageModel = {
      name: 'test/fails-late',
      respond(request) {
        const asked = request.messages.filter(({ role }) => role === 'user').length;
        if (asked > 2) throw new ProviderError('It is gone.', { status: null, retryable: false });
        return new CountingModel().respond(request);
      },
    };
    const fallback =
      replaced === 'model'
        ? { llm: [second] }
        : { engine: [{ stt: new SimulatedSpeechToText(), llm: second, tts: voiceNamed('test/other') }] };
    const pause: CallerStep = { type: 'pause', durationMs: 40_000 };
    const { record, said } = await play(id, [...script, pause], { llm: first, fallback });
    expect(second.told).toEqual(['German', 'German']);
    expect(said.slice(-2)).toEqual(['Sind Sie noch da?', 'Auf Wiederhören.']);
    const tts = replaced === 'model' ? 'test/german' : 'test/other';
    expect(record).toMatchObject({ language: 'de', provider: { llm: 'test/counting', tts } });
    expect(record.incidents.map(({ code }) => code)).toEqual(['provider-replaced']);
  });
});
