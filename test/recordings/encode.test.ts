import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_16K } from '../../src/audio/format.js';
import { encode } from '../../src/recordings/encode.js';
import { openFile } from '../../src/recordings/recording-file.js';
import type { Tape } from '../../src/recordings/tape.js';
import { readWav } from '../../src/testing/wav.js';
import { runs } from '../support/depth.js';
import {
  CALL,
  encodeTapes,
  type Encoded,
  KEY,
  level,
  makeFolder,
  openTape,
  play,
  promptFiles,
  sampleOf,
  spansOf,
} from './rig.js';

const CALLER = 0x10;
const AGENT = 0x20;

/** The recording of what is written onto one tape. */
async function recorded(write: (tape: Tape) => void): Promise<Encoded> {
  const folder = await makeFolder();
  const { tape } = openTape(folder);
  play(tape);
  write(tape);
  await tape.closed;
  return encodeTapes(folder);
}

/** Frames of the caller that come in time, from 0 to `toMs`. */
function speak(
  tape: Tape,
  toMs: number,
  options: { fromMs?: number; late?: (at: number) => number } = {},
): void {
  const { fromMs = 0, late = () => 0 } = options;
  for (let at = fromMs + 20; at <= toMs; at += 20) tape.caller(level(CALLER, 20), at + late(at));
}

describe('the track of the caller', () => {
  it('is one piece, however late frames come and in what bunches', async () => {
    const { caller } = await recorded((tape) => {
      // In every second, 700 ms are held up and come at once.
      speak(tape, 9900, { late: (at) => (at % 1000 < 700 ? 700 - (at % 1000) : 0) });
      tape.end(9900);
    });
    expect(spansOf(caller)).toEqual([{ fromMs: 0, toMs: 9900 }]);
  });

  it('is silent where audio was lost, and in step behind it', async () => {
    const { caller } = await recorded((tape) => {
      speak(tape, 2000);
      speak(tape, 6000, { fromMs: 3000 });
      tape.end(6000);
    });
    expect(spansOf(caller)).toEqual([
      { fromMs: 0, toMs: 2000 },
      { fromMs: 3000, toMs: 6000 },
    ]);
  });

  it('is in step at the end of a long call with a clock at the carrier that goes wrong by 100 ppm', async () => {
    const minutes = runs(4, 60);
    const drift = 1 + 100e-6;
    const folder = await makeFolder();
    const { tape } = openTape(folder, { files: promptFiles });
    play(tape);
    const path = join(folder, `${CALL}.1.tape`);
    while (!existsSync(path) || statSync(path).size === 0)
      await new Promise((resolve) => setImmediate(resolve));
    // A tone of 20 ms every ten seconds, silence between.
    for (let frame = 1; frame * 20 * drift <= minutes * 60_000; frame += 1)
      tape.caller(level(frame % 500 === 0 ? CALLER : 0xff, 20), frame * 20 * drift);
    tape.end(minutes * 60_000);
    await tape.closed;
    const { caller, result } = await encodeTapes(folder);
    expect(result.durationMs).toBe(minutes * 60_000);
    const spans = spansOf(caller);
    expect(spans).toHaveLength(minutes * 6 - 1);
    for (const [index, { fromMs }] of spans.entries())
      expect(Math.abs(fromMs - ((index + 1) * 10_000 * drift - 20))).toBeLessThanOrEqual(20);
  });

  it('begins anew with another stream', async () => {
    const { caller } = await recorded((tape) => {
      speak(tape, 1000);
      tape.line(MULAW_8K, MULAW_8K, 1400);
      speak(tape, 2400, { fromMs: 1400 });
      tape.end(2400);
    });
    expect(spansOf(caller)).toEqual([
      { fromMs: 0, toMs: 1000 },
      { fromMs: 1400, toMs: 2400 },
    ]);
  });
});

describe('the track of the agent', () => {
  it('is silent where nothing played, and ends where it was cut', async () => {
    const { agent, caller } = await recorded((tape) => {
      for (let at = 500; at < 1500; at += 20) tape.agent(level(AGENT, 20), at);
      tape.cut(1010);
      for (let at = 2000; at < 2400; at += 20) tape.agent(level(AGENT, 20), at);
      tape.end(3000);
    });
    expect(spansOf(agent)).toEqual([
      { fromMs: 500, toMs: 1010 },
      { fromMs: 2000, toMs: 2400 },
    ]);
    expect(agent[500 * 8]).toBe(sampleOf(AGENT));
    expect(caller.every((sample) => sample === 0)).toBe(true);
    expect(caller).toHaveLength(24_000);
  });

  it('drops what was never heard, also of an utterance that had not begun', async () => {
    const { agent } = await recorded((tape) => {
      for (let at = 1000; at < 1400; at += 20) tape.agent(level(AGENT, 20), at);
      tape.cut(900);
      for (let at = 900; at < 1000; at += 20) tape.agent(level(AGENT, 20), at);
      tape.end(3000);
    });
    expect(spansOf(agent)).toEqual([{ fromMs: 900, toMs: 1000 }]);
  });

  it('is as late as the marks say that it was heard', async () => {
    const { agent } = await recorded((tape) => {
      for (let at = 500; at < 1000; at += 20) tape.agent(level(AGENT, 20), at);
      tape.lag(1000, 180);
      for (let at = 2000; at < 2500; at += 20) tape.agent(level(AGENT, 20), at);
      // Once more of a mark that was held up on its way back.
      tape.lag(2200, 1200);
      tape.lag(2500, 200);
      tape.end(4000);
    });
    expect(spansOf(agent)).toEqual([
      { fromMs: 680, toMs: 1180 },
      { fromMs: 2200, toMs: 2700 },
    ]);
  });

  it('ends with the call, whatever was sent ahead', async () => {
    const { agent, result } = await recorded((tape) => {
      for (let at = 500; at < 1500; at += 20) tape.agent(level(AGENT, 20), at);
      tape.end(1200);
    });
    expect(result.durationMs).toBe(1200);
    expect(spansOf(agent)).toEqual([{ fromMs: 500, toMs: 1200 }]);
  });
});

describe('a pause', () => {
  it('is silent on both sides, and nothing moves', async () => {
    const { caller, agent } = await recorded((tape) => {
      // The agent is ahead by 400 ms when the pause begins.
      for (let at = 0; at < 1400; at += 20) tape.agent(level(AGENT, 20), at);
      speak(tape, 1000);
      tape.pause(1000);
      speak(tape, 2000, { fromMs: 1000 });
      tape.resume(2000);
      speak(tape, 3000, { fromMs: 2000 });
      for (let at = 2000; at < 3000; at += 20) tape.agent(level(AGENT, 20), at);
      tape.end(3000);
    });
    const heard = [
      { fromMs: 0, toMs: 1000 },
      { fromMs: 2000, toMs: 3000 },
    ];
    expect(spansOf(caller)).toEqual(heard);
    expect(spansOf(agent)).toEqual(heard);
  });
});

describe('a pause for a key that came late', () => {
  it('is silent where its tone was', async () => {
    const { caller } = await recorded((tape) => {
      speak(tape, 2000);
      // Two seconds without a frame, and then all at once, with the key that was pressed at their beginning.
      for (let count = 0; count < 100; count += 1) tape.caller(level(CALLER, 20), 4000);
      tape.pause(3000);
      tape.resume(7000);
      speak(tape, 8000, { fromMs: 7000 });
      tape.end(8000);
    });
    expect(spansOf(caller)).toEqual([
      { fromMs: 0, toMs: 2000 },
      { fromMs: 7000, toMs: 8000 },
    ]);
  });
});

describe('a call that another process went on with', () => {
  it('is one recording with its gap as silence', async () => {
    const folder = await makeFolder();
    const first = openTape(folder).tape;
    play(first);
    speak(first, 1000);
    // It died: there is no end.
    first.flush();
    await new Promise<void>((resolve) => {
      const look = () =>
        existsSync(join(folder, `${CALL}.1.tape`)) &&
        readFileSync(join(folder, `${CALL}.1.tape`)).length > 8000
          ? resolve()
          : setImmediate(look);
      look();
    });
    const second = openTape(folder).tape;
    second.line(MULAW_8K, MULAW_8K, 4000);
    speak(second, 6000, { fromMs: 4000 });
    second.end(6000);
    await second.closed;
    const { caller, result } = await encodeTapes(folder, { count: 2 });
    expect(result).toMatchObject({ durationMs: 6000, trouble: undefined });
    expect(spansOf(caller)).toEqual([
      { fromMs: 0, toMs: 1000 },
      { fromMs: 4000, toMs: 6000 },
    ]);
    expect(readdirSync(folder)).toEqual([`${CALL}.wav`]);
  });
});

describe('the format', () => {
  const inPcm = (sample: number, ms: number) => new Uint8Array(new Int16Array(ms * 16).fill(sample).buffer);

  it.each<[string, AudioFormat, number, number]>([
    ['mu-law', MULAW_8K, 7, 1],
    ['A-law', ALAW_8K, 6, 1],
    ['16 kHz PCM', PCM_16K, 1, 2],
  ])('of a line of %s is its own', async (_name, format, tag, bytesPerSample) => {
    const folder = await makeFolder();
    const { tape } = openTape(folder);
    play(tape, { inbound: format, outbound: format });
    const frame = format.encoding === 'pcm' ? inPcm(5000, 20) : level(CALLER, 20);
    for (let at = 20; at <= 1000; at += 20) {
      tape.caller(frame, at);
      tape.agent(frame, at - 20);
    }
    tape.end(1000);
    await tape.closed;
    const { caller, agent, rateHz } = await encodeTapes(folder);
    const bytes = readFileSync(join(folder, `${CALL}.wav`));
    expect(bytes.readUInt16LE(20)).toBe(tag);
    expect(bytes.readUInt16LE(22)).toBe(2);
    expect(bytes.readUInt32LE(28)).toBe(format.sampleRateHz * 2 * bytesPerSample);
    expect(bytes.readUInt16LE(32)).toBe(2 * bytesPerSample);
    expect(bytes.length).toBe((tag === 1 ? 44 : 58) + format.sampleRateHz * 2 * bytesPerSample);
    expect(rateHz).toBe(format.sampleRateHz);
    expect(spansOf(caller, rateHz)).toEqual([{ fromMs: 0, toMs: 1000 }]);
    expect(agent).toEqual(caller);
  });

  it('of a line that changed in the middle is PCM of the wider one, in step', async () => {
    const folder = await makeFolder();
    const { tape } = openTape(folder);
    play(tape, { inbound: PCM_16K, outbound: PCM_16K });
    for (let at = 20; at <= 1000; at += 20) tape.caller(inPcm(5000, 20), at);
    tape.line(MULAW_8K, MULAW_8K, 2000);
    for (let at = 2020; at <= 3000; at += 20) tape.caller(level(CALLER, 20), at);
    tape.end(3000);
    await tape.closed;
    const { caller, rateHz } = await encodeTapes(folder);
    expect(rateHz).toBe(16_000);
    const [one, other, ...more] = spansOf(caller, rateHz, 3000);
    expect(more).toEqual([]);
    expect(one).toEqual({ fromMs: 0, toMs: 1000 });
    expect(Math.abs((other?.fromMs ?? 0) - 2000)).toBeLessThan(5);
    expect(Math.abs((other?.toMs ?? 0) - 3000)).toBeLessThan(5);
  });
});

describe('a recording that is finished', () => {
  async function twoTapes(): Promise<string> {
    const folder = await makeFolder();
    for (const fromMs of [0, 4000]) {
      const { tape } = openTape(folder);
      tape.line(MULAW_8K, MULAW_8K, fromMs);
      speak(tape, fromMs + 2000, { fromMs });
      tape.end(fromMs + 2000);
      await tape.closed;
    }
    return folder;
  }

  it('is not made again of the tapes that are left, of which some may be gone', async () => {
    const folder = await twoTapes();
    const second = readFileSync(join(folder, `${CALL}.2.tape`));
    await encodeTapes(folder, { count: 2 });
    const whole = readFileSync(join(folder, `${CALL}.wav`));
    // The process died after it had taken the first tape away.
    writeFileSync(join(folder, `${CALL}.2.tape`), second);
    const path = join(folder, `${CALL}.wav`);
    const tapes = [join(folder, `${CALL}.2.tape`)];
    const result = encode({ callId: CALL, tapes, path, part: `${path}.part`, key: undefined });
    expect(result).toEqual({ durationMs: 6000, bytes: whole.length, trouble: undefined });
    expect(readFileSync(path).equals(whole)).toBe(true);
    expect(readdirSync(folder)).toEqual([`${CALL}.wav`]);
  });

  it('is made again where the one that is there is not whole', async () => {
    const folder = await twoTapes();
    writeFileSync(join(folder, `${CALL}.wav`), 'RIFF, and then the power failed');
    writeFileSync(join(folder, `${CALL}.wav.part`), 'half of one');
    const { caller } = await encodeTapes(folder, { count: 2 });
    expect(spansOf(caller)).toHaveLength(2);
    expect(readdirSync(folder)).toEqual([`${CALL}.wav`]);
  });

  it('is left alone where another key made it', async () => {
    const folder = await twoTapes();
    const tapes = [1, 2].map((number) => readFileSync(join(folder, `${CALL}.${number}.tape`)));
    const path = join(folder, `${CALL}.wav.enc`);
    const names = [1, 2].map((number) => join(folder, `${CALL}.${number}.tape`));
    encode({ callId: CALL, tapes: names, path, part: `${path}.part`, key: KEY });
    const sealed = readFileSync(path);
    for (const [index, bytes] of tapes.entries()) writeFileSync(names[index] ?? '', bytes);
    const other = new Uint8Array(32).fill(8);
    const result = encode({ callId: CALL, tapes: names, path, part: `${path}.part`, key: other });
    expect(result).toEqual({ durationMs: undefined, trouble: 'key-wrong' });
    expect(readFileSync(path).equals(sealed)).toBe(true);
    expect(readdirSync(folder)).toHaveLength(3);
  });
});

describe('a tape that is damaged', () => {
  async function longTape(key?: Uint8Array): Promise<{ folder: string; path: string }> {
    const folder = await makeFolder();
    const { tape } = openTape(folder, { key });
    play(tape);
    speak(tape, 20_000);
    tape.end(20_000);
    await tape.closed;
    return { folder, path: join(folder, `${CALL}.1.tape`) };
  }

  it.each([undefined, KEY])('at its end is as long as what is whole (key: %#)', async (key) => {
    const { folder, path } = await longTape(key);
    truncateSync(path, readFileSync(path).length - 700);
    const { result } = await encodeTapes(folder, { key });
    expect(result.trouble).toBeUndefined();
    expect(result.durationMs).toBeGreaterThan(15_000);
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it.each([undefined, KEY])('in its middle says so, and has what came before (key: %#)', async (key) => {
    const { folder, path } = await longTape(key);
    const bytes = readFileSync(path);
    bytes.writeUInt8((bytes[60_000] ?? 0) ^ 1, 60_000);
    writeFileSync(path, bytes);
    const { result } = await encodeTapes(folder, { key });
    expect(result.trouble).toBe('tape-damaged');
    expect(result.durationMs).toBeGreaterThan(3000);
    expect(result.durationMs).toBeLessThan(8000);
  });

  it('from its beginning makes no recording, and stays', async () => {
    const { folder, path } = await longTape();
    writeFileSync(path, 'x'.repeat(5000));
    const { result } = await encodeTapes(folder);
    expect(result).toEqual({ durationMs: undefined, trouble: 'tape-damaged' });
    expect(readdirSync(folder)).toEqual([`${CALL}.1.tape`]);
  });

  it.skipIf(process.platform === 'win32')('is a pipe, and nobody waits for it', async () => {
    const { folder, path } = await longTape();
    execFileSync('mkfifo', [join(folder, `${CALL}.2.tape`)]);
    const { result } = await encodeTapes(folder, { count: 2 });
    expect(result).toEqual({ durationMs: undefined, trouble: 'tape-damaged' });
    expect(existsSync(path)).toBe(true);
  });

  it('is no file, and is not left open', async () => {
    const folder = await makeFolder();
    /** The lowest number that is free. */
    const nextNumber = () => {
      const fd = openSync(fileURLToPath(import.meta.url), 'r');
      closeSync(fd);
      return fd;
    };
    const before = nextNumber();
    for (let count = 0; count < 100; count += 1) expect(() => openFile(folder)).toThrow();
    // Other threads open files, too, but not so many.
    expect(nextNumber() - before).toBeLessThan(50);
  });

  it('is not read with another key, or another call’s', async () => {
    const { folder } = await longTape(KEY);
    const { result } = await encodeTapes(folder, { key: new Uint8Array(32) });
    expect(result).toEqual({ durationMs: undefined, trouble: 'key-wrong' });
    expect((await encodeTapes(folder)).result).toEqual({ durationMs: undefined, trouble: 'key-wrong' });
    const path = join(folder, 'other.wav');
    const tapes = [join(folder, `${CALL}.1.tape`)];
    expect(encode({ callId: 'other', tapes, path, part: `${path}.part`, key: KEY }).trouble).toBe(
      'key-wrong',
    );
  });

  it('without audio makes none', async () => {
    const { result } = await recorded((tape) => tape.end(100));
    expect(result).toEqual({ durationMs: undefined, trouble: 'empty' });
  });

  it('makes none, either, where the call ended before anything of its audio was heard', async () => {
    const { result } = await recorded((tape) => {
      tape.agent(level(AGENT, 20), 0);
      tape.end(0);
    });
    expect(result).toEqual({ durationMs: undefined, trouble: 'empty' });
  });
});

it('a recording can be read by others: the reader of the simulators takes it', async () => {
  const { caller } = await recorded((tape) => {
    speak(tape, 1000);
    tape.end(1000);
  });
  expect(caller[0]).toBe(sampleOf(CALLER));
  expect(() => readWav(new Uint8Array(10))).toThrow();
});
