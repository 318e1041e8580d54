// Entry point offhook/tts.
export { CartesiaTextToSpeech, type CartesiaTextToSpeechOptions } from './cartesia.js';
export { DeepgramAura, type DeepgramAuraOptions } from './deepgram-aura.js';
export {
  ElevenLabsTextToSpeech,
  type ElevenLabsTextToSpeechOptions,
  type ElevenLabsVoiceSettings,
} from './elevenlabs.js';
export { FLITE_VOICES, FliteTextToSpeech, type FliteTextToSpeechOptions, type FliteVoice } from './flite.js';
export { OpenAISpeech, type OpenAISpeechOptions } from './openai-speech.js';
