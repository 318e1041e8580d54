// The backend that always works: no compiled code at all.
import type { TranscoderCore } from '../core.js';
import { decodeAlaw, encodeAlaw } from './alaw.js';
import { isHmacSha1, signHmacSha1 } from './hmac.js';
import { decodeMulaw, encodeMulaw } from './mulaw.js';
import { createJavaScriptResampler } from './resampler.js';
import { JavaScriptVoiceDetector } from './vad/voice-detector.js';

type Elements = Uint8Array | Int16Array;

/** Copies an input that shares memory with the output, so that writing the one does not change the other. */
function apart<In extends Elements, Out extends Elements>(step: (input: In, output: Out) => void) {
  return (input: In, output: Out): void =>
    step(input.buffer === output.buffer ? (input.slice() as In) : input, output);
}

/** @throws never */
export function loadJavaScriptCore(): TranscoderCore {
  return {
    name: 'javascript',
    mulawDecode: apart(decodeMulaw),
    mulawEncode: apart(encodeMulaw),
    alawDecode: apart(decodeAlaw),
    alawEncode: apart(encodeAlaw),
    createResampler: createJavaScriptResampler,
    createVoiceDetector: () => new JavaScriptVoiceDetector(),
    hmacSha1: signHmacSha1,
    verifyHmacSha1: isHmacSha1,
  };
}
