import { afterEach, describe, expect, it, vi } from 'vitest';
import { MULAW_8K, PCM_24K } from '../../../../src/audio/format.js';
import { OpenAIRealtime, type OpenAIRealtimeOptions } from '../../../../src/providers/realtime/index.js';
import { emulateOpenAIRealtime } from '../../../../src/testing/index.js';
import { tryOut } from '../recorded-call.js';

const make = (options: object) => () => new OpenAIRealtime(options as OpenAIRealtimeOptions);

afterEach(() => vi.unstubAllEnvs());

describe('OpenAIRealtime', () => {
  it('names itself as records show it, and offers the formats of the telephone', () => {
    const model = new OpenAIRealtime({ apiKey: 'k' });
    expect(model.name).toBe('openai/gpt-realtime-2.1-mini');
    expect(model.inputFormats).toEqual([PCM_24K, MULAW_8K, { encoding: 'alaw', sampleRateHz: 8000 }]);
    expect(model.transcribesCaller).toBe(true);
    const other = new OpenAIRealtime({
      service: 'xai',
      baseUrl: 'wss://api.x.ai/v1',
      model: 'grok-voice-latest',
      g711: false,
      transcription: false,
    });
    expect(other.name).toBe('xai/grok-voice-latest');
    expect(other.outputFormats).toEqual([PCM_24K]);
    expect(other.transcribesCaller).toBe(false);
  });

  it.each([
    ['gpt-realtime', 'gpt-realtime-2.1'],
    ['gpt-realtime-mini', 'gpt-realtime-2.1-mini'],
    ['gpt-realtime-2025-08-28', 'gpt-realtime-2.1'],
    ['gpt-realtime-mini-2025-10-06', 'gpt-realtime-2.1-mini'],
  ])('refuses the model %s, which stops, and names %s', (model, instead) => {
    expect(make({ model })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(make({ model })).toThrow(new RegExp(`2027-01-20.*${instead}\\.$`));
  });

  it('takes a model of that name from another service', () => {
    expect(
      make({ model: 'gpt-realtime', service: 'azure', baseUrl: 'https://x.example.com/v1' }),
    ).not.toThrow();
  });

  it.each<[string, unknown, string]>([
    ['voise', 'marin', 'CONFIG_INVALID'],
    ['voice', '', 'CONFIG_INVALID'],
    ['speed', 3, 'CONFIG_INVALID'],
    ['silenceMs', 20, 'CONFIG_INVALID'],
    ['threshold', 2, 'CONFIG_INVALID'],
    ['turnDetection', 'none', 'CONFIG_INVALID'],
    ['eagerness', 'low', 'CONFIG_CONFLICT'],
    ['transcription', true, 'CONFIG_INVALID'],
    ['noiseReduction', 'much', 'CONFIG_INVALID'],
    ['maxOutputTokens', 0, 'CONFIG_INVALID'],
    ['keyHeader', 'x-key', 'CONFIG_INVALID'],
    ['g711', 1, 'CONFIG_INVALID'],
    ['baseUrl', 'ftp://example.com', 'CONFIG_INVALID'],
    ['extraSession', { audio: {} }, 'CONFIG_CONFLICT'],
  ])('refuses %s: %j', (name, value, code) => {
    expect(make({ [name]: value })).toThrow(expect.objectContaining({ code }));
  });

  it("demands a key for the vendor, and none for a server of one's own", () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    expect(() => new OpenAIRealtime().assertConfigured()).toThrow(/OPENAI_API_KEY/);
    expect(() => new OpenAIRealtime({ baseUrl: 'ws://127.0.0.1:8000/v1' }).assertConfigured()).not.toThrow();
  });

  it('sends the key as the host wants it, the model, and settings of the session', async () => {
    await using emulator = await emulateOpenAIRealtime();
    const model = new OpenAIRealtime({
      apiKey: 'test-key',
      keyHeader: 'api-key',
      baseUrl: `${emulator.url}/openai/v1?tenant=7`,
      turnDetection: 'semantic_vad',
      eagerness: 'high',
      noiseReduction: false,
      reasoningEffort: 'low',
      extraSession: { tracing: 'auto' },
    });
    await tryOut(model, {
      language: 'de-CH',
      formats: { input: MULAW_8K, output: PCM_24K },
      interruptible: false,
    });
    const [request] = emulator.requests;
    expect(request?.url.pathname).toBe('/openai/v1/realtime');
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      tenant: '7',
      model: 'gpt-realtime-2.1-mini',
    });
    expect(request?.headers.authorization).toBeUndefined();
    expect(emulator.connections[0]?.session).toEqual({
      type: 'realtime',
      output_modalities: ['audio'],
      instructions: 'You bake.',
      audio: {
        input: {
          format: { type: 'audio/pcmu' },
          noise_reduction: null,
          transcription: { model: 'gpt-transcribe', language: 'de' },
          turn_detection: {
            type: 'semantic_vad',
            eagerness: 'high',
            create_response: false,
            interrupt_response: false,
          },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin' },
      },
      max_output_tokens: 800,
      truncation: { type: 'retention_ratio', retention_ratio: 0.8 },
      reasoning: { effort: 'low' },
      tracing: 'auto',
    });
    expect(emulator.violations).toEqual([]);
  });
});
