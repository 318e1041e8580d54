// From the tapes of a call to its recording: a stereo WAV file in the format of the line, the caller left, the agent right as the caller
// heard it. Blocks its thread for as long as it takes.
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type AudioFormat, isTelephone, PCM_16K } from '../audio/format.js';
import { SampleReader, toBytes } from '../audio/pcm-bytes.js';
import { wavHeader, type WavFormat } from '../audio/wav-header.js';
import type { Resampler, TranscoderBackend } from '../transcoder/backend.js';
import { createBackend } from '../transcoder/checked.js';
import { loadJavaScriptCore } from '../transcoder/javascript/core.js';
import { FileError, inspectFinished, openFile, RecordingWriter } from './recording-file.js';
import type { RecordingKey } from './seal.js';
import { MAX_TICKS, RECORD, TapeError, TICKS_PER_MS } from './tape-format.js';
import { readTape, startsSealed } from './tape-reader.js';
import { type Heard, type Place, Places, type Span, Timeline } from './timeline.js';

/** What a thread is asked. */
export interface EncodeJob {
  readonly callId: string;
  /** In order. */
  readonly tapes: readonly string[];
  /** Where the recording is to be, and where it is while it is being made: on the same file system. */
  readonly path: string;
  readonly part: string;
  readonly key: RecordingKey | undefined;
  /** The call was recorded with a key from its start: no tape without encryption is one of its. @default nothing is known of that */
  readonly mustBeSealed?: boolean;
}

/** Why there is no recording, or not all of it. */
export type EncodeTrouble = 'disk-full' | 'disk-failed' | 'tape-damaged' | 'key-wrong' | 'empty' | 'too-long';

/** What it answers. `trouble` beside a recording: it is not all of the call. */
export type EncodeResult =
  | {
      readonly durationMs: number;
      readonly bytes: number;
      readonly trouble: EncodeTrouble | undefined;
    }
  | { readonly durationMs: undefined; readonly trouble: EncodeTrouble };

/** Sizes in a WAV file have 32 bits. */
const MAX_DATA_BYTES = 2 ** 32 - 1 - 1024;
/** What is worked on at a time: audio belongs no further back than a stream may be late. */
const WINDOW_MS = 30_000;

/**
 * Makes the recording and takes the tapes away. What is finished stays: tapes that a process left behind when it died before it could take them
 * away are not encoded again, because some of them may be gone already. Never throws.
 */
export function encode(job: EncodeJob): EncodeResult {
  const { path, part, callId, key, tapes } = job;
  const finished = inspectFinished({ path, callId, key });
  if (finished === 'locked') return { durationMs: undefined, trouble: 'key-wrong' };
  if (finished !== undefined) {
    removeAll(tapes);
    return { ...finished, trouble: undefined };
  }
  if (tapes.length === 0) return { durationMs: undefined, trouble: 'tape-damaged' };
  try {
    rmSync(part, { force: true, recursive: true });
    const result = write(job);
    if (result.durationMs === undefined) {
      // There is nothing in them.
      removeAll(tapes);
      return result;
    }
    // It is as old as the call, whenever it is made.
    const heardAt = Math.max(...tapes.map((tape) => lstatSync(tape).mtimeMs)) / 1000;
    utimesSync(part, heardAt, heardAt);
    renameSync(part, path);
    syncFolder(dirname(path));
    removeAll(tapes);
    return result;
  } catch (error) {
    removeAll([part]);
    return { durationMs: undefined, trouble: troubleOf(error) };
  }
}

function write({ callId, tapes, part, key, mustBeSealed = false }: EncodeJob): EncodeResult {
  let isDamaged = false;
  const read = (visit: (record: Parameters<Timeline['take']>[0]) => void) => {
    const damaged = () => {
      isDamaged = true;
    };
    // Who has a key writes with it: what is behind that without is somebody else's. What is before it is from before the key was set.
    let isSealed = mustBeSealed;
    for (const path of tapes) {
      const fd = openFile(path);
      try {
        for (const record of readTape({ callId, fd, key, mustBeSealed: isSealed, damaged })) visit(record);
        isSealed ||= startsSealed(fd);
      } finally {
        closeSync(fd);
      }
    }
  };
  const timeline = new Timeline();
  read((record) => timeline.take(record));
  const heard = timeline.finish();
  if (heard.length === 0 || heard.formats.length === 0)
    return { durationMs: undefined, trouble: isDamaged ? 'tape-damaged' : 'empty' };
  const format = formatOf(heard.formats);
  const writer = new RecordingWriter({ path: part, callId, key });
  try {
    const tracks = new StereoTrack(heard, format, writer);
    const [caller, agent] = [new TrackReader(format), new TrackReader(format)];
    const places = new Places(heard);
    read(({ type, ticks, bytes }) => {
      if (type === RECORD.line) places.change(bytes);
      else if (type === RECORD.caller)
        caller.read(bytes, places.line.inbound, places.ofCaller(bytes.length, ticks), (at, audio) =>
          tracks.put(0, at, audio),
        );
      else if (type === RECORD.agent)
        agent.read(bytes, places.line.outbound, places.ofAgent(bytes.length), (at, audio) =>
          tracks.put(1, at, audio),
        );
    });
    tracks.finish();
    writer.finish();
    const trouble = troubleOfLength(heard, tracks.durationMs);
    return {
      durationMs: tracks.durationMs,
      bytes: writer.bytes,
      trouble: isDamaged ? 'tape-damaged' : trouble,
    };
  } finally {
    writer.close();
  }
}

function troubleOfLength({ length }: Heard, durationMs: number): EncodeTrouble | undefined {
  return length >= MAX_TICKS || length / TICKS_PER_MS - durationMs > 1 ? 'too-long' : undefined;
}

/** That of the line, where it was one for the whole call and in both directions. Else samples, of the rate that holds all of them. */
function formatOf(formats: readonly AudioFormat[]): AudioFormat {
  const [first, ...others] = formats;
  if (first !== undefined && others.length === 0) return first;
  return formats.every(({ sampleRateHz }) => sampleRateHz === 8000)
    ? { encoding: 'pcm', sampleRateHz: 8000 }
    : PCM_16K;
}

/** Audio of one side in the format of the recording: bytes of G.711, or samples. */
type TrackAudio = Uint8Array | Int16Array;

/** One side of the call, from its own format to that of the recording. */
class TrackReader {
  readonly #format: AudioFormat;
  #backend: TranscoderBackend | undefined;
  #resampler: Resampler | undefined;
  #samples = new SampleReader();
  /** Samples of the recording since what is going on began. */
  #at = 0;

  constructor(format: AudioFormat) {
    this.#format = format;
  }

  /** `take` gets the audio, and where it begins, in samples of the recording. */
  read(
    bytes: Uint8Array,
    format: AudioFormat,
    { at, isNext, length }: Place,
    take: (at: number, audio: TrackAudio) => void,
  ): void {
    const perTick = this.#format.sampleRateHz / 1000 / TICKS_PER_MS;
    if (isTelephone(this.#format)) {
      take(Math.round(at), bytes.subarray(0, Math.round(length)));
      return;
    }
    if (!isNext) this.#begin(format, at * perTick);
    const samples = this.#toSamples(bytes, format);
    const audio = this.#resampler === undefined ? samples : this.#resampler.process(samples);
    const end = Math.round((at + length) * perTick);
    take(this.#at, audio.subarray(0, Math.max(0, end - this.#at)));
    this.#at += audio.length;
  }

  #begin(format: AudioFormat, at: number): void {
    const [fromHz, toHz] = [format.sampleRateHz, this.#format.sampleRateHz];
    this.#samples = new SampleReader();
    this.#resampler?.free();
    this.#resampler = fromHz === toHz ? undefined : this.#decoder.createResampler(fromHz, toHz);
    // What comes out first is the delay of the filter.
    this.#at = Math.round(at - ((this.#resampler?.delayMs ?? 0) * toHz) / 1000);
  }

  #toSamples(bytes: Uint8Array, { encoding }: AudioFormat): Int16Array {
    if (encoding === 'pcm') return this.#samples.read(bytes);
    return encoding === 'mulaw' ? this.#decoder.mulawDecode(bytes) : this.#decoder.alawDecode(bytes);
  }

  get #decoder(): TranscoderBackend {
    // Needed only for a call whose line had more than one format, which is rare: compiled code is not worth its start.
    this.#backend ??= createBackend(loadJavaScriptCore());
    return this.#backend;
  }
}

/** Both sides beside each other, written from the beginning to the end. Audio comes in about the order of its time. */
class StereoTrack {
  readonly #writer: RecordingWriter;
  readonly #format: AudioFormat;
  readonly #pauses: readonly Span[];
  /** Of each side, in samples. */
  readonly #length: number;
  readonly #window: number;
  readonly #silence: number;
  readonly #sides: readonly [TrackAudio, TrackAudio];
  /** Where the window begins. */
  #base = 0;

  constructor(heard: Heard, format: AudioFormat, writer: RecordingWriter) {
    const { sampleRateHz, encoding } = format;
    const perTick = sampleRateHz / 1000 / TICKS_PER_MS;
    const wav: WavFormat = { sampleRateHz, channels: 2, encoding };
    const blockBytes = encoding === 'pcm' ? 4 : 2;
    this.#writer = writer;
    this.#format = format;
    this.#length = Math.min(Math.ceil(heard.length * perTick), Math.floor(MAX_DATA_BYTES / blockBytes));
    this.#window = WINDOW_MS * (sampleRateHz / 1000);
    // Source: ITU-T G.711: the codes of a sample of 0.
    this.#silence = { pcm: 0, mulaw: 0xff, alaw: 0xd5 }[encoding];
    this.#pauses = heard.pauses.map(({ from, to }) => ({
      from: Math.floor(from * perTick),
      to: Math.ceil(to * perTick),
    }));
    this.#sides = [this.#newSide(), this.#newSide()];
    writer.write(wavHeader(wav, this.#length * blockBytes));
  }

  get durationMs(): number {
    return (this.#length * 1000) / this.#format.sampleRateHz;
  }

  put(side: 0 | 1, at: number, audio: TrackAudio): void {
    const [from, to] = [Math.max(at, this.#base), Math.min(at + audio.length, this.#length)];
    if (from >= to) return;
    while (to > this.#base + this.#window) this.#advance(this.#window / 2);
    // Behind a long silence the window may have gone past nothing that matters.
    const start = Math.max(from, this.#base);
    this.#sides[side].set(audio.subarray(start - at, to - at), start - this.#base);
  }

  finish(): void {
    while (this.#base < this.#length) this.#advance(Math.min(this.#window, this.#length - this.#base));
  }

  /** The first `samples` of the window are done. */
  #advance(samples: number): void {
    for (const { from, to } of this.#pauses)
      for (const side of this.#sides)
        side.fill(
          this.#silence,
          Math.max(0, from - this.#base),
          Math.max(0, Math.min(samples, to - this.#base)),
        );
    const [left, right] = this.#sides;
    const both = left instanceof Int16Array ? new Int16Array(2 * samples) : new Uint8Array(2 * samples);
    for (let index = 0; index < samples; index += 1) {
      both[2 * index] = left[index] ?? this.#silence;
      both[2 * index + 1] = right[index] ?? this.#silence;
    }
    this.#writer.write(both instanceof Int16Array ? toBytes(both) : both);
    for (const side of this.#sides) {
      side.copyWithin(0, samples);
      side.fill(this.#silence, side.length - samples);
    }
    this.#base += samples;
  }

  #newSide(): TrackAudio {
    const side =
      this.#format.encoding === 'pcm' ? new Int16Array(this.#window) : new Uint8Array(this.#window);
    return side.fill(this.#silence);
  }
}

function troubleOf(error: unknown): EncodeTrouble {
  if (error instanceof TapeError) return error.trouble === 'damaged' ? 'tape-damaged' : 'key-wrong';
  // It could be opened, and is no file.
  if (error instanceof FileError && error.cause === undefined) return 'tape-damaged';
  const { code } = (error instanceof FileError ? error.cause : error) as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG' ? 'disk-full' : 'disk-failed';
}

function removeAll(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true, recursive: true });
    } catch {
      // It is in nobody's way: the next start tries again.
    }
  }
}

/** Where the file system knows that. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Windows opens no folders.
  }
}
