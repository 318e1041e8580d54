// Models that vendors stop: refused once they are gone, warned of before.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetirementWatch } from '../../src/client/retirement-watch.js';
import { Recipes } from '../../src/client/recipes.js';
import { ConfigError } from '../../src/base/errors.js';
import type { ModelRetirement } from '../../src/contract/model-retirement.js';
import { Agent } from '../../src/options/agent.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { OpenAITranscription } from '../../src/providers/stt/index.js';
import { OpenAISpeech } from '../../src/providers/tts/index.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** The clock of a provider's constructor is the machine's. */
const goTo = (day: string) => vi.setSystemTime(new Date(`${day}T12:00:00Z`));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  goTo('2026-11-21');
  vi.stubEnv('OPENAI_API_KEY', 'sk-0123456789');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

type Make = (model: string) => { readonly retirement: ModelRetirement | undefined };
const chat: Make = (model) => new ChatCompletions({ model });
const claude: Make = (model) => new AnthropicMessages({ model });
const listen: Make = (model) => new OpenAITranscription({ model });
const speak: Make = (model) => new OpenAISpeech({ model, voice: 'alloy' });
const writer: Make = (transcription) => ({
  retirement: new OpenAIRealtime({ transcription }).transcription?.retirement,
});

describe('a model that its vendor stops', () => {
  it.each<[string, Make, string, string]>([
    ['claude-sonnet-4-5', claude, '2026-11-30', 'claude-sonnet-5-5'],
    ['claude-sonnet-4-5-20250929', claude, '2026-11-30', 'claude-sonnet-5-5'],
    ['gpt-5', chat, '2026-12-11', 'gpt-6-sol'],
    ['gpt-5-mini', chat, '2026-12-11', 'gpt-6-luna'],
    ['gpt-5-nano-2025-08-07', chat, '2026-12-11', 'gpt-6-luna'],
    ['o3', chat, '2026-12-11', 'gpt-6-sol'],
    ['gpt-4o', chat, '2027-01-14', 'gpt-6-sol'],
    ['gpt-4.1-mini', chat, '2027-01-14', 'gpt-6-luna'],
    ['tts-1-hd', speak, '2027-01-06', 'a server of your own'],
    ['gpt-4o-mini-tts', speak, '2027-01-06', 'a server of your own'],
    ['whisper-1', listen, '2027-02-26', 'gpt-transcribe'],
    ['gpt-4o-mini-transcribe', listen, '2027-02-26', 'gpt-transcribe'],
    ['gpt-4o-transcribe-diarize', listen, '2027-02-26', 'gpt-transcribe'],
    ['whisper-1', writer, '2027-02-26', 'gpt-transcribe'],
  ])('%s is there to its last day, says so, and is refused after it', (model, make, lastDay, instead) => {
    const expected = { lastDay, instead: expect.stringContaining(instead) };
    expect(make(model).retirement).toMatchObject(expected);
    goTo(lastDay);
    expect(make(model).retirement).toMatchObject(expected);
    vi.setSystemTime(Date.now() + 86_400_000);
    expect(() => make(model)).toThrow(ConfigError);
    expect(() => make(model)).toThrow(`has stopped the model ${model} on ${lastDay}. Take ${instead}`);
  });

  it.each<[string, Make]>([
    ['gpt-6-luna', chat],
    ['gpt-5.2', chat],
    ['gpt-4.1-nano', chat],
    ['claude-haiku-5-5', claude],
    ['gpt-transcribe', listen],
    ['kokoro', speak],
  ])('%s is none', (model, make) => {
    goTo('2030-01-01');
    expect(make(model).retirement).toBeUndefined();
  });

  it('lives on at other services, under the same name', () => {
    goTo('2030-01-01');
    const baseUrl = 'http://127.0.0.1:1/v1';
    expect(
      new ChatCompletions({ service: 'compatible', baseUrl, model: 'gpt-4o' }).retirement,
    ).toBeUndefined();
    expect(new OpenAITranscription({ baseUrl, model: 'whisper-1' }).retirement).toBeUndefined();
    expect(new OpenAISpeech({ baseUrl, model: 'tts-1', voice: 'a' }).retirement).toBeUndefined();
    expect(new OpenAIRealtime({ service: 'azure', model: 'gpt-realtime' }).retirement).toBeUndefined();
  });

  it('is refused ahead of the day where nobody should begin with it', () => {
    expect(() => new OpenAIRealtime({ model: 'gpt-realtime' })).toThrow(
      /stops the model gpt-realtime on 2027-01-20/,
    );
  });
});

describe('the warning', () => {
  it('comes once per model when an agent with it is given calls, and names the day', () => {
    const logger = new RecordedLogger();
    const recipes = new Recipes({ onMessage: undefined, logger });
    const llm = new ChatCompletions({ model: 'gpt-4o' });
    const agents = [
      new Agent({ llm }),
      new Agent({ llm }),
      new Agent({ engine: new OpenAIRealtime({ transcription: 'whisper-1' }) }),
    ];
    for (const agent of [...agents, ...agents]) recipes.create(agent);
    const warned = logger.lines.filter(({ sentence }) => sentence.includes('the vendor retires this model'));
    expect(warned).toMatchObject([
      { level: 'warn', fields: { model: 'openai/gpt-4o', lastDay: '2027-01-14', instead: 'gpt-6-sol' } },
      { level: 'warn', fields: { model: 'openai/whisper-1', lastDay: '2027-02-26' } },
    ]);
  });

  it('says nothing of the others', () => {
    const logger = new RecordedLogger();
    new RetirementWatch(logger).note([undefined, new ChatCompletions(), { name: 'own/model' }]);
    expect(logger.lines).toEqual([]);
  });
});
