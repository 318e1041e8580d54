// The backend that always works: no compiled code at all.
import type { TranscoderCore } from '../core.js';
import { decodeAlaw, encodeAlaw } from './alaw.js';
import { isHmacSha1, signHmacSha1 } from './hmac.js';
import { decodeMulaw, encodeMulaw } from './mulaw.js';
import { createJavaScriptResampler } from './resampler.js';

/** @throws never */
export function loadJavaScriptCore(): TranscoderCore {
  return {
    name: 'javascript',
    mulawDecode: decodeMulaw,
    mulawEncode: encodeMulaw,
    alawDecode: decodeAlaw,
    alawEncode: encodeAlaw,
    createResampler: createJavaScriptResampler,
    hmacSha1: signHmacSha1,
    verifyHmacSha1: isHmacSha1,
  };
}
