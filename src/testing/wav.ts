// WAV files: reads what telephone tools and recorders write, writes 16-bit PCM. Knows nothing of calls.
import { SampleReader } from '../audio/pcm-bytes.js';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav-header.js';
import { RequestError } from '../base/errors.js';
import { transcoder } from '../transcoder/select.js';

/** Audio of a file: one array of 16-bit PCM per channel, all of the same length. */
export interface WavAudio {
  readonly sampleRateHz: number;
  readonly channels: readonly Int16Array[];
}

// Format tags. Source: RFC 2361.
const FORMAT_PCM = 0x0001;
const FORMAT_ALAW = 0x0006;
const FORMAT_MULAW = 0x0007;
const FORMAT_EXTENSIBLE = 0xfffe;
/** Who does not know how much there will be announces the most that there can be: all, or what leaves room for the header. */
const STREAMED_SIZE = 0xffffff00;
/** Chunks that writers put behind the audio; they tell an empty data chunk from a streamed one. */
const TRAILING_CHUNK = /^(LIST|fact|cue |bext|smpl|PEAK|JUNK|id3 |ID3 )$/;

interface SampleFormat {
  tag: number;
  channels: number;
  sampleRateHz: number;
  bitsPerSample: number;
}

function fail(sentence: string): never {
  throw new RequestError('REQUEST_INVALID', `Not a usable WAV file: ${sentence}`);
}

function chunkName(view: DataView, offset: number): string {
  return String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3),
  );
}

function parseFormat(view: DataView, offset: number, size: number): SampleFormat {
  if (size < 16) fail('its fmt chunk is shorter than 16 bytes.');
  let tag = view.getUint16(offset, true);
  if (tag === FORMAT_EXTENSIBLE) {
    if (size < 40) fail('its extensible fmt chunk is shorter than 40 bytes.');
    // The first two bytes of the sub-format GUID are the format tag.
    tag = view.getUint16(offset + 24, true);
  }
  const format: SampleFormat = {
    tag,
    channels: view.getUint16(offset + 2, true),
    sampleRateHz: view.getUint32(offset + 4, true),
    bitsPerSample: view.getUint16(offset + 14, true),
  };
  const expectedBits = tag === FORMAT_PCM ? 16 : tag === FORMAT_ALAW || tag === FORMAT_MULAW ? 8 : 0;
  if (expectedBits === 0) {
    fail(`its format tag is 0x${tag.toString(16).padStart(4, '0')}; PCM, A-law and mu-law are read.`);
  }
  if (format.bitsPerSample !== expectedBits) {
    fail(`it has ${format.bitsPerSample} bits per sample; this encoding is read with ${expectedBits}.`);
  }
  if (format.channels !== 1 && format.channels !== 2) {
    fail(`it has ${format.channels} channels; mono and stereo are read.`);
  }
  if (format.sampleRateHz < 4000 || format.sampleRateHz > 192_000) {
    fail(`its sample rate is ${format.sampleRateHz} Hz; 4,000 to 192,000 Hz are read.`);
  }
  return format;
}

function decodeSamples(bytes: Uint8Array, tag: number): Int16Array {
  if (tag === FORMAT_MULAW) return transcoder.mulawDecode(bytes);
  if (tag === FORMAT_ALAW) return transcoder.alawDecode(bytes);
  return new SampleReader().read(bytes);
}

/**
 * Reads a RIFF WAV file: 16-bit PCM, A-law or mu-law, mono or stereo, plain or extensible header, further chunks
 * skipped. A data size of 0 or 0xFFFFFFFF, as programs write that stream to a pipe, means "to the end of the file".
 * @throws RequestError that names what is wrong, also for a file that is cut off.
 */
export function readWav(bytes: Uint8Array): WavAudio {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12) fail('it is shorter than a header.');
  if (chunkName(view, 0) !== 'RIFF' || chunkName(view, 8) !== 'WAVE')
    fail('it does not begin with RIFF and WAVE.');
  let format: SampleFormat | undefined;
  let offset = 12;
  while (offset + 8 <= bytes.length) {
    const name = chunkName(view, offset);
    const size = view.getUint32(offset + 4, true);
    const start = offset + 8;
    const left = bytes.length - start;
    if (name === 'data') {
      if (format === undefined) fail('its data chunk comes before the fmt chunk.');
      const emptyOnPurpose = size === 0 && left >= 8 && TRAILING_CHUNK.test(chunkName(view, start));
      const streamed = size >= STREAMED_SIZE || (size === 0 && !emptyOnPurpose);
      if (!streamed && size > left)
        fail(`it is cut off: ${size} bytes of audio are announced, ${left} are there.`);
      const length = streamed ? left : size;
      const block = format.channels * (format.bitsPerSample / 8);
      const whole = bytes.subarray(start, start + length - (length % block));
      return {
        sampleRateHz: format.sampleRateHz,
        channels: split(decodeSamples(whole, format.tag), format.channels),
      };
    }
    if (size > left) fail(`it is cut off inside its "${name.replace(/[^\x20-\x7e]/g, '?')}" chunk.`);
    if (name === 'fmt ') format = parseFormat(view, start, size);
    offset = start + size + (size % 2);
  }
  return fail(format === undefined ? 'it has no fmt chunk.' : 'it has no data chunk.');
}

function split(interleaved: Int16Array, channelCount: number): Int16Array[] {
  if (channelCount === 1) return [interleaved];
  return Array.from({ length: channelCount }, (_, channel) => {
    const samples = new Int16Array(interleaved.length / channelCount);
    for (let index = 0; index < samples.length; index += 1)
      samples[index] = interleaved[index * channelCount + channel] ?? 0;
    return samples;
  });
}

/** One channel: the mean of all. */
export function downmix(audio: WavAudio): Int16Array {
  const [first, second] = audio.channels;
  if (first === undefined) return new Int16Array(0);
  if (second === undefined) return first;
  return first.map((sample, index) => Math.round((sample + (second[index] ?? 0)) / 2));
}

/** A 16-bit PCM WAV file of one or two channels. The shorter channel is filled up with silence. */
export function writeWav(audio: WavAudio): Uint8Array {
  const { channels, sampleRateHz } = audio;
  if (channels.length !== 1 && channels.length !== 2) {
    throw new RequestError('REQUEST_INVALID', 'A WAV file is written with one or two channels.');
  }
  const frames = Math.max(...channels.map((channel) => channel.length));
  const block = channels.length * 2;
  const bytes = new Uint8Array(WAV_HEADER_BYTES + frames * block);
  bytes.set(wavHeader({ sampleRateHz, channels: channels.length }, frames * block));
  const view = new DataView(bytes.buffer);
  for (const [channel, samples] of channels.entries()) {
    for (const [index, sample] of samples.entries())
      view.setInt16(WAV_HEADER_BYTES + index * block + channel * 2, sample, true);
  }
  return bytes;
}
