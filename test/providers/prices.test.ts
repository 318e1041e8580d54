import { describe, expect, it } from 'vitest';
import { FREE } from '../../src/contract/price.js';
import { AnthropicMessages, ChatCompletions, ScriptedLanguageModel } from '../../src/providers/llm/index.js';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  SimulatedSpeechToText,
} from '../../src/providers/stt/index.js';
import {
  CartesiaTextToSpeech,
  DeepgramAura,
  ElevenLabsTextToSpeech,
  FliteTextToSpeech,
} from '../../src/providers/tts/index.js';

describe('a provider states what its model costs', () => {
  it.each([
    ['gpt-6-luna', new ChatCompletions(), { inputPerMillionTokens: 0.1, cachedInputPerMillionTokens: 0.01 }],
    ['Groq', new ChatCompletions({ service: 'groq' }), { outputPerMillionTokens: 0.3 }],
    ['Haiku', new AnthropicMessages(), { inputPerMillionTokens: 0.1, outputPerMillionTokens: 0.5 }],
    ['nova-3', new DeepgramSpeechToText(), { perAudioMinute: 0.0048 }],
    ['nova-3, multi', new DeepgramSpeechToText({ language: 'multi' }), { perAudioMinute: 0.0058 }],
    ['Universal', new AssemblyAISpeechToText(), { perAudioMinute: 0.0075 }],
    ['Aura', new DeepgramAura({ model: 'aura-2-andromeda-en' }), { perThousandCharacters: 0.03 }],
    ['Sonic', new CartesiaTextToSpeech(), { perThousandCharacters: 0.05 }],
    ['Flash', new ElevenLabsTextToSpeech(), { perThousandCharacters: 0.05 }],
  ])('%s', (_, { price }, expected) => {
    expect(price).toMatchObject(expected);
    expect(price).toMatchObject({ asOf: expect.stringMatching(/^2026-/) });
  });

  it('which is nothing on the operator’s own machines', () => {
    const local = [
      new ScriptedLanguageModel(),
      new SimulatedSpeechToText(),
      new FliteTextToSpeech(),
      new ChatCompletions({ service: 'ollama', model: 'llama3' }),
    ];
    for (const { price } of local) expect(price).toEqual(FREE);
    expect(new Set(Object.values(FREE))).toEqual(new Set([0]));
  });

  it.each([
    ['a model that is not in the list', new ChatCompletions({ model: 'gpt-99' })],
    ['a model with the name of a method', new ChatCompletions({ model: 'toString' })],
    ['a service without a list', new ChatCompletions({ service: 'cerebras', model: 'x' })],
    [
      'a server of unknown kind',
      new ChatCompletions({ service: 'compatible', model: 'x', baseUrl: 'http://localhost' }),
    ],
    ['another model of Anthropic', new AnthropicMessages({ model: 'claude-x' })],
    ['another voice', new ElevenLabsTextToSpeech({ model: 'eleven_v9' })],
    ['another family of voices', new DeepgramAura({ model: 'aura-asteria-en' })],
    ['another recognizer', new DeepgramSpeechToText({ model: '__proto__' })],
  ])('and nothing of %s', (_, { price }) => {
    expect(price).toBeUndefined();
  });
});
