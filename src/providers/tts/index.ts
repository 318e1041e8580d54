// Entry point offhook/tts.
export { FLITE_VOICES, FliteTextToSpeech, type FliteTextToSpeechOptions, type FliteVoice } from './flite.js';
