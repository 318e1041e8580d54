// The stream fields that `answer`, `streaming_start` and a dial have in common.
import { ApiFault } from './api-fault.js';
import type { CommandBody } from './command-body.js';
import { STREAM_CODECS, type StreamCodecName } from './options.js';

/** A stream that the server asked for. */
export interface StreamRequest {
  url: URL;
  track: string;
  /** What the carrier shall send. */
  codec: StreamCodecName | 'default';
  mode: 'mp3' | 'rtp';
  /** What the server sends. */
  serverCodec: StreamCodecName;
  serverRateHz: number;
  customParameters: Readonly<Record<string, string>>;
}

const SHARED_FIELDS = [
  'stream_url',
  'stream_track',
  'stream_codec',
  'stream_bidirectional_mode',
  'stream_bidirectional_codec',
  'stream_bidirectional_sampling_rate',
  'stream_bidirectional_target_legs',
] as const;

/** Fields by command, as documented for it. One of `answer` is only seen in practice: the sampling rate. */
export const STREAM_FIELDS = {
  answer: [...SHARED_FIELDS, 'send_silence_when_idle'],
  streaming_start: [...SHARED_FIELDS, 'stream_auth_token', 'custom_parameters'],
  dial: [
    ...SHARED_FIELDS,
    'send_silence_when_idle',
    'stream_auth_token',
    'stream_establish_before_call_originate',
  ],
} as const;

const DEFAULT_RATE_HZ = 8000;
const RATES_HZ = [DEFAULT_RATE_HZ, 16_000, 22_050, 24_000, 48_000];
/** Rates of what the server sends, as documented by codec. */
const CODEC_RATES_HZ: Readonly<Record<StreamCodecName, readonly number[]>> = {
  PCMU: [8000],
  PCMA: [8000],
  G722: [8000],
  OPUS: [8000, 16_000],
  'AMR-WB': [8000, 16_000],
  L16: [16_000],
};
const MAX_AUTH_TOKEN_CHARACTERS = 4000;

/** Reads the stream fields; undefined when the body asks for no stream. @throws ApiFault */
export function readStreamRequest(body: CommandBody): StreamRequest | undefined {
  const address = body.text('stream_url');
  const track = body.oneOf('stream_track', ['inbound_track', 'outbound_track', 'both_tracks']);
  const codec = body.oneOf('stream_codec', [...STREAM_CODECS, 'default']);
  const mode = body.oneOf('stream_bidirectional_mode', ['mp3', 'rtp']);
  const serverCodec = body.oneOf('stream_bidirectional_codec', STREAM_CODECS) ?? 'PCMU';
  const serverRateHz =
    body.integer('stream_bidirectional_sampling_rate', { min: 8000, max: 48_000 }) ?? DEFAULT_RATE_HZ;
  body.oneOf('stream_bidirectional_target_legs', ['self', 'opposite', 'both']);
  const token = body.text('stream_auth_token');
  if (address === undefined) {
    const orphan = SHARED_FIELDS.find((name) => body.has(name));
    if (orphan !== undefined) body.violate('stream fields without a stream_url');
    return undefined;
  }
  const isUrl = URL.canParse(address) && ['ws:', 'wss:'].includes(new URL(address).protocol);
  if (!isUrl) {
    throw new ApiFault(422, 10015, { detail: 'stream_url is not a ws or wss URL', pointer: '/stream_url' });
  }
  const url = new URL(address);
  if (url.hash !== '') body.violate('a stream_url with a fragment');
  if (!RATES_HZ.includes(serverRateHz)) {
    throw new ApiFault(422, 10015, {
      detail: 'stream_bidirectional_sampling_rate is not one of those that are offered',
      pointer: '/stream_bidirectional_sampling_rate',
    });
  }
  if (mode === 'rtp' && !CODEC_RATES_HZ[serverCodec].includes(serverRateHz)) {
    body.violate('a sampling rate that the codec does not have');
  }
  if (token !== undefined && token.length > MAX_AUTH_TOKEN_CHARACTERS) {
    body.violate('a stream_auth_token of more than 4000 characters');
  }
  return {
    url,
    track: track ?? 'inbound_track',
    codec: codec ?? 'default',
    mode: mode ?? 'mp3',
    serverCodec,
    serverRateHz,
    customParameters: readCustomParameters(body),
  };
}

function readCustomParameters(body: CommandBody): Record<string, string> {
  if (!body.has('custom_parameters')) return {};
  const list = body.fields.custom_parameters;
  const isPair = (entry: unknown): entry is { name: string; value: string } =>
    typeof entry === 'object' &&
    entry !== null &&
    typeof (entry as { name?: unknown }).name === 'string' &&
    typeof (entry as { value?: unknown }).value === 'string';
  if (!Array.isArray(list) || !list.every(isPair)) {
    throw new ApiFault(422, 10015, {
      detail: 'custom_parameters is not a list of names and values',
      pointer: '/custom_parameters',
    });
  }
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
