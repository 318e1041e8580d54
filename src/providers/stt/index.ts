// Entry point offhook/stt.
export { DeepgramSpeechToText, type DeepgramSpeechToTextOptions } from './deepgram.js';
export { SimulatedSpeechToText, type SimulatedSpeechToTextOptions } from './simulated.js';
