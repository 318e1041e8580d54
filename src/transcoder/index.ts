// Package entry `offhook/transcoder`.
export type { BackendName, Resampler, SampleRateHz, TranscoderBackend } from './backend.js';
export { loadTranscoder, transcoder } from './select.js';
