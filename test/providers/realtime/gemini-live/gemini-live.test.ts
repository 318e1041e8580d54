import { afterEach, describe, expect, it, vi } from 'vitest';
import { PCM_16K, PCM_24K } from '../../../../src/audio/format.js';
import { GeminiLive, type GeminiLiveOptions } from '../../../../src/providers/realtime/index.js';
import { emulateGeminiLive } from '../../../../src/testing/index.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { tryOut } from '../recorded-call.js';

const formats = { input: PCM_16K, output: PCM_24K };
const make = (options: object) => () => new GeminiLive(options as GeminiLiveOptions);

afterEach(() => vi.unstubAllEnvs());

describe('GeminiLive', () => {
  it('names itself as records show it, and offers what the service has', () => {
    const model = new GeminiLive({ apiKey: 'k' });
    expect(model.name).toBe('google/gemini-3.8-live');
    expect(model.inputFormats).toEqual([{ encoding: 'pcm', sampleRateHz: 16_000 }]);
    expect(model.outputFormats).toEqual([{ encoding: 'pcm', sampleRateHz: 24_000 }]);
    expect(model.transcribesCaller).toBe(true);
    expect(new GeminiLive({ model: 'models/other', transcription: false })).toMatchObject({
      name: 'google/other',
      transcribesCaller: false,
      price: undefined,
    });
  });

  it('states a price only where it is known, or said', () => {
    expect(new GeminiLive().price).toMatchObject({ inputPerMillionTokens: 0.75, asOf: '2026-11' });
    expect(new GeminiLive().price?.audioInputPerMillionTokens).toBeUndefined();
    const price = { audioInputPerMillionTokens: 3 };
    expect(new GeminiLive({ price }).price).toEqual(price);
  });

  it.each<[string, unknown]>([
    ['voise', 'Kore'],
    ['voice', ''],
    ['startSensitivity', 'medium'],
    ['endSensitivity', 1],
    ['prefixPaddingMs', -1],
    ['silenceDurationMs', 50],
    ['contextCompression', 'yes'],
    ['transcription', 'gpt'],
    ['toolBehavior', 'silent'],
    ['baseUrl', 'ftp://example.com'],
  ])('refuses %s: %j', (name, value) => {
    expect(make({ [name]: value })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('demands a key, of either variable', () => {
    expect(() => new GeminiLive().assertConfigured()).toThrow(/GEMINI_API_KEY or GOOGLE_API_KEY/);
    vi.stubEnv('GOOGLE_API_KEY', 'g');
    expect(() => new GeminiLive().assertConfigured()).not.toThrow();
  });

  it('sends the key in a header alone, and the settings of the session', async () => {
    await using emulator = await emulateGeminiLive({ apiKey: 'secret-key' });
    const model = new GeminiLive({
      apiKey: 'secret-key',
      baseUrl: `${emulator.url}/google?tenant=7`,
      voice: 'Puck',
      language: 'de-DE',
      startSensitivity: 'low',
      silenceDurationMs: 700,
      contextCompression: false,
      toolBehavior: 'interrupt',
    });
    const parameters = { type: 'object', properties: { day: { type: 'string' } } };
    await tryOut(model, {
      formats,
      language: 'de-CH',
      tools: [{ name: 'find', description: 'Finds it.', parameters }],
    });
    const [request] = emulator.requests;
    expect(`${request?.url.pathname}${request?.url.search}`).toBe(
      '/google/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?tenant=7',
    );
    expect(request?.headers['x-goog-api-key']).toBe('secret-key');
    expect(emulator.connections[0]?.setup).toEqual({
      model: 'models/gemini-3.8-live',
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: {
          voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } },
          languageCode: 'de-DE',
        },
      },
      systemInstruction: {
        parts: [{ text: 'You bake.\n\nSpeak the language "de-CH" unless the caller wants another one.' }],
      },
      tools: [
        {
          functionDeclarations: [
            {
              name: 'find',
              description: 'Finds it.',
              parameters: { type: 'OBJECT', properties: { day: { type: 'STRING' } } },
              behavior: 'NON_BLOCKING',
            },
          ],
        },
      ],
      realtimeInputConfig: {
        automaticActivityDetection: {
          disabled: false,
          startOfSpeechSensitivity: 'START_SENSITIVITY_LOW',
          endOfSpeechSensitivity: 'END_SENSITIVITY_HIGH',
          prefixPaddingMs: 200,
          silenceDurationMs: 700,
        },
        activityHandling: 'START_OF_ACTIVITY_INTERRUPTS',
      },
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      sessionResumption: {},
    });
    expect(emulator.violations).toEqual([]);
  });

  it('says nothing of its key, nor in the words of the vendor, when that is refused', async () => {
    await using emulator = await emulateGeminiLive();
    const logger = new RecordedLogger();
    const model = new GeminiLive({ apiKey: 'secret-key', baseUrl: emulator.url });
    const failure = await tryOut(model, { formats, logger }).catch((error: unknown) => error);
    const message =
      'Gemini Live refused the key (1007): check GEMINI_API_KEY or GOOGLE_API_KEY, or the option apiKey.';
    expect(failure).toMatchObject({ message, retryable: false });
    expect(JSON.stringify([String(failure), logger])).not.toMatch(/secret-key|Please pass/);
  });
});
