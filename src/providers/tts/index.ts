// Entry point offhook/tts.
export { CartesiaTextToSpeech, type CartesiaTextToSpeechOptions } from './cartesia/cartesia.js';
export { DeepgramAura, type DeepgramAuraOptions } from './deepgram-aura/deepgram-aura.js';
export {
  ElevenLabsTextToSpeech,
  type ElevenLabsTextToSpeechOptions,
  type ElevenLabsVoiceSettings,
} from './elevenlabs/elevenlabs.js';
export {
  FLITE_VOICES,
  FliteTextToSpeech,
  type FliteTextToSpeechOptions,
  type FliteVoice,
} from './flite/flite.js';
export { OpenAISpeech, type OpenAISpeechOptions } from './openai-speech/openai-speech.js';
