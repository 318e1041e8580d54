// Providers for stages that nobody named: a vendor whose key stands in the environment, else the local stack.
import { ConfigError } from '../base/errors.js';
import type { LanguageModel } from '../providers/language-model.js';
import { ChatCompletions } from '../providers/llm/chat-completions/chat-completions.js';
import { ScriptedLanguageModel } from '../providers/llm/scripted/scripted.js';
import type { SpeechToText } from '../providers/speech-to-text.js';
import { DeepgramSpeechToText } from '../providers/stt/deepgram/deepgram.js';
import { SimulatedSpeechToText } from '../providers/stt/simulated.js';
import type { TextToSpeech } from '../providers/text-to-speech.js';
import { ElevenLabsTextToSpeech } from '../providers/tts/elevenlabs/elevenlabs.js';
import { FliteTextToSpeech } from '../providers/tts/flite/flite.js';

export interface Choice<T> {
  readonly provider: T;
  /** For the log. */
  readonly reason: string;
  readonly isLocal: boolean;
}

interface Configurable {
  assertConfigured(): void;
}

/** @throws ConfigError for a key that is no key. */
export function chooseSpeechToText(): Choice<SpeechToText> {
  return choose<SpeechToText>([() => new DeepgramSpeechToText()], () => new SimulatedSpeechToText());
}

/** Services without a model of their own are not chosen by a key alone. @throws ConfigError for a key that is no key. */
export function chooseLanguageModel(): Choice<LanguageModel> {
  const services = ['openai', 'groq'] as const;
  return choose<LanguageModel>(
    services.map((service) => () => new ChatCompletions({ service })),
    () => new ScriptedLanguageModel(),
  );
}

/** @throws ConfigError for a key that is no key, or when not even the embedded voice is installed. */
export function chooseTextToSpeech(): Choice<TextToSpeech> {
  return choose<TextToSpeech>([() => new ElevenLabsTextToSpeech()], () => new FliteTextToSpeech());
}

function choose<T>(vendors: readonly (() => T & Configurable)[], local: () => T): Choice<T> {
  for (const create of vendors) {
    const provider = create();
    if (isConfigured(provider)) return { provider, reason: 'its key is in the environment', isLocal: false };
  }
  return { provider: local(), reason: 'no key of a provider is in the environment', isLocal: true };
}

function isConfigured(provider: Configurable): boolean {
  try {
    provider.assertConfigured();
    return true;
  } catch (error) {
    if (error instanceof ConfigError && error.code === 'CONFIG_MISSING') return false;
    throw error;
  }
}
