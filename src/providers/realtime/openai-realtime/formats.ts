// Formats of audio in the words of the service, which takes our wish for them and says what they are.
// Source: OpenAI, Realtime client events, session.update (GA).
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_16K, PCM_24K, PCM_8K } from '../../../audio/format.js';
import { type Json, toNumber, toObject, toText } from '../../wire/json.js';

const PCM_FORMATS = [PCM_24K, PCM_16K, PCM_8K];

/** The service's own rates are fixed: 24 kHz for PCM, 8 kHz for the others, which do not state it. */
export function toFormat({ encoding, sampleRateHz }: AudioFormat): Json {
  if (encoding === 'pcm') return { type: 'audio/pcm', rate: sampleRateHz };
  return { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' };
}

/** What a session says of its formats. `unknown`: one that no telephone takes; undefined: nothing. */
export interface ToldFormats {
  readonly input: AudioFormat | 'unknown' | undefined;
  readonly output: AudioFormat | 'unknown' | undefined;
}

/** Formats in the settings of a session, also where a service of this wire has the names of the beta for them. */
export function readFormats(session: Json): ToldFormats {
  const audio = toObject(session.audio) ?? {};
  return {
    input: readFormat(toObject(audio.input)?.format ?? session.input_audio_format),
    output: readFormat(toObject(audio.output)?.format ?? session.output_audio_format),
  };
}

function readFormat(told: unknown): ToldFormats['input'] {
  const { type = told, rate } = toObject(told) ?? {};
  switch (toText(type)) {
    case '':
      return undefined;
    case 'audio/pcmu':
    case 'g711_ulaw':
      return MULAW_8K;
    case 'audio/pcma':
    case 'g711_alaw':
      return ALAW_8K;
    case 'audio/pcm':
    case 'pcm16':
      return readPcm(toNumber(rate) ?? PCM_24K.sampleRateHz) ?? 'unknown';
    default:
      return 'unknown';
  }
}

function readPcm(rate: number): AudioFormat | undefined {
  return PCM_FORMATS.find(({ sampleRateHz }) => sampleRateHz === rate);
}
