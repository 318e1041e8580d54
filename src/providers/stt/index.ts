// Entry point offhook/stt.
export { SimulatedSpeechToText, type SimulatedSpeechToTextOptions } from './simulated.js';
