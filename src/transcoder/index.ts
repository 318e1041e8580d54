// Package entry `offhook/transcoder`.
export { TranscoderError } from '../base/errors.js';
export type { BackendName, Resampler, SampleRateHz, TranscoderBackend, VoiceDetector } from './backend.js';
export { loadTranscoder, transcoder } from './select.js';
