// Tapes of made-up calls, for tests of the room.
import { writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type AudioFormat, MULAW_8K } from '../../src/audio/format.js';
import { systemClock } from '../../src/base/clock.js';
import { encode, type EncodeResult } from '../../src/recordings/encode.js';
import {
  diskFiles,
  PagePool,
  Tape,
  type TapeFailure,
  type TapeFiles,
  type TapeOptions,
} from '../../src/recordings/tape.js';
import { readWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';

export const CALL = 'call-1';
export const KEY = new Uint8Array(32).fill(7);

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-tapes-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

/** A disk that has written before anything else happens. */
export const promptFiles: TapeFiles = {
  ...diskFiles,
  write: (fd, bytes, position, done) => done(null, writeSync(fd, bytes, 0, bytes.length, position)),
};

export interface RiggedTape {
  readonly tape: Tape;
  readonly failures: TapeFailure[];
}

export function openTape(folder: string, options: Partial<TapeOptions> = {}): RiggedTape {
  const failures: TapeFailure[] = [];
  const tape = new Tape({
    path: join(folder, CALL),
    head: { callId: CALL, beganAt: 1_000_000 },
    key: undefined,
    pages: new PagePool(),
    files: diskFiles,
    clock: systemClock,
    gaveUp: (failure) => failures.push(failure),
    ...options,
  });
  return { tape, failures };
}

/** A steady level, as the line has it: a byte that stands for it in mu-law. */
export function level(byte: number, ms: number): Uint8Array {
  return new Uint8Array(ms * 8).fill(byte);
}

/** Samples that a byte stands for. */
export function sampleOf(byte: number): number {
  return transcoder.mulawDecode(Uint8Array.of(byte))[0] ?? 0;
}

/** What a tape is made of: one frame after the other. */
export function play(tape: Tape, line: Partial<{ inbound: AudioFormat; outbound: AudioFormat }> = {}): void {
  tape.line(line.inbound ?? MULAW_8K, line.outbound ?? MULAW_8K, 0);
}

export interface Encoded {
  readonly result: EncodeResult;
  readonly caller: Int16Array;
  readonly agent: Int16Array;
  readonly rateHz: number;
}

/** Both sides of the recording that the tapes make. */
export async function encodeTapes(
  folder: string,
  { count = 1, key }: { count?: number; key?: Uint8Array | undefined } = {},
): Promise<Encoded> {
  const path = join(folder, `${CALL}.wav`);
  const tapes = Array.from({ length: count }, (_, index) => join(folder, `${CALL}.${index + 1}.tape`));
  const result = encode({ callId: CALL, tapes, path, part: `${path}.part`, key });
  if (result.durationMs === undefined || key !== undefined)
    return { result, caller: new Int16Array(0), agent: new Int16Array(0), rateHz: 0 };
  const { channels, sampleRateHz } = readWav(await readFile(path));
  const [caller = new Int16Array(0), agent = new Int16Array(0)] = channels;
  return { result, caller, agent, rateHz: sampleRateHz };
}

/** Spans of what is louder than `least`, in milliseconds. */
export function spansOf(samples: Int16Array, rateHz = 8000, least = 50): { fromMs: number; toMs: number }[] {
  const spans: { fromMs: number; toMs: number }[] = [];
  let from: number | undefined;
  for (let index = 0; index <= samples.length; index += 1) {
    const isSound = index < samples.length && Math.abs(samples[index] ?? 0) > least;
    if (isSound) from ??= index;
    else if (from !== undefined) {
      spans.push({ fromMs: (from * 1000) / rateHz, toMs: (index * 1000) / rateHz });
      from = undefined;
    }
  }
  return spans;
}
