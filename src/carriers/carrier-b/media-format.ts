// Codecs of carrier B's streams, as the carrier names them.
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_16K } from '../../audio/format.js';
import type { StreamCodec } from '../carrier.js';
import { toFields, toWholeNumber } from './fields.js';

/** A codec to ask for: the carrier's words for it, and ours. */
export interface RequestedCodec {
  readonly name: 'L16' | 'PCMU';
  readonly format: AudioFormat;
}

/** What we ask for, the same in both directions. 16 kHz PCM needs no conversion here; mu-law is what every leg speaks. */
export const REQUESTED: Readonly<Record<StreamCodec, RequestedCodec>> = {
  preferred: { name: 'L16', format: PCM_16K },
  fallback: { name: 'PCMU', format: MULAW_8K },
};

/** RTP names and media types, in lower case and without `audio/` and `x-`. */
const ENCODINGS: ReadonlyMap<string, AudioFormat['encoding']> = new Map([
  ['pcmu', 'mulaw'],
  ['mulaw', 'mulaw'],
  ['ulaw', 'mulaw'],
  ['pcma', 'alaw'],
  ['alaw', 'alaw'],
  ['l16', 'pcm'],
]);

const FORMATS: readonly AudioFormat[] = [MULAW_8K, ALAW_8K, PCM_16K, { encoding: 'pcm', sampleRateHz: 8000 }];

/** The format that `start` announces; null for one that we do not speak. `codec` names it for the log. */
export function readMediaFormat(value: unknown): { format: AudioFormat | null; codec: string } {
  const { encoding, sample_rate: rate, channels } = toFields(value);
  const codec = [encoding, rate, channels].map(toWord).join('/');
  const name = typeof encoding === 'string' ? encoding.toLowerCase().replace(/^audio\//, '') : '';
  const kind = ENCODINGS.get(name.replace(/^x-/, ''));
  if (kind === undefined || toWholeNumber(channels ?? 1) !== 1) return { format: null, codec };
  // A rate that is not told is the one of the codec, or for PCM the one that we ask for.
  const hz = toWholeNumber(rate ?? (kind === 'pcm' ? PCM_16K : MULAW_8K).sampleRateHz);
  const format = FORMATS.find((each) => each.encoding === kind && each.sampleRateHz === hz) ?? null;
  return { format, codec };
}

function toWord(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.replace(/[^\w/.-]/g, '').slice(0, 32) : '?';
}
