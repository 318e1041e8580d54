import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../src/audio/format.js';
import { diskFiles, type TapeFiles } from '../../src/recordings/tape.js';
import { FakeClock } from '../support/fake-clock.js';
import { CALL, encodeTapes, KEY, level, makeFolder, openTape, play, spansOf } from './rig.js';

const failing = (code: string): TapeFiles => ({
  ...diskFiles,
  write: (_fd, _bytes, _position, done) => done(Object.assign(new Error(code), { code }), 0),
});

/** Takes every write and never answers one. */
const hanging: TapeFiles = { ...diskFiles, write() {} };

const once = <T>(look: () => T | undefined): Promise<T> =>
  new Promise((resolve) => {
    const again = () => {
      const found = look();
      if (found === undefined) setImmediate(again);
      else resolve(found);
    };
    again();
  });

describe('a tape', () => {
  it('has what was said when it ends, readable by its owner alone', async () => {
    const folder = await makeFolder();
    const { tape, failures } = openTape(folder);
    play(tape);
    for (let at = 20; at <= 4000; at += 20) tape.caller(level(0x10, 20), at);
    tape.end(4000);
    await tape.closed;
    const { result, caller } = await encodeTapes(folder);
    expect(result).toMatchObject({ durationMs: 4000, trouble: undefined });
    expect(spansOf(caller)).toEqual([{ fromMs: 0, toMs: 4000 }]);
    expect(failures).toEqual([]);
  });

  it('takes the name that is free, and leaves what is there alone', async () => {
    const folder = await makeFolder();
    writeFileSync(join(folder, `${CALL}.1.tape`), 'what another process has written');
    const { tape } = openTape(folder);
    tape.end(0);
    await tape.closed;
    expect(readdirSync(folder).sort()).toEqual([`${CALL}.1.tape`, `${CALL}.2.tape`]);
    expect(readFileSync(join(folder, `${CALL}.1.tape`), 'utf8')).toBe('what another process has written');
  });

  it('is on disk up to the last flush, when nobody ends it', async () => {
    const folder = await makeFolder();
    const { tape } = openTape(folder);
    play(tape);
    for (let at = 20; at <= 1000; at += 20) tape.caller(level(0x10, 20), at);
    tape.flush();
    const path = join(folder, `${CALL}.1.tape`);
    await once(() =>
      readdirSync(folder).length === 1 && readFileSync(path).length > 8000 ? true : undefined,
    );
    for (let at = 1020; at <= 1400; at += 20) tape.caller(level(0x10, 20), at);
    const { caller } = await encodeTapes(folder);
    expect(spansOf(caller)).toEqual([{ fromMs: 0, toMs: 1000 }]);
  });

  it.each([
    ['ENOSPC', 'disk-full'],
    ['EDQUOT', 'disk-full'],
    ['EIO', 'disk-failed'],
  ])('is given up at %s, once, and takes nothing more', async (code, failure) => {
    const folder = await makeFolder();
    const { tape, failures } = openTape(folder, { files: failing(code) });
    play(tape);
    tape.caller(level(0x10, 20), 20);
    tape.flush();
    await tape.closed;
    tape.caller(level(0x10, 20), 40);
    tape.flush();
    tape.end(60);
    expect(failures).toEqual([failure]);
  });

  it('is given up where its file cannot be made', async () => {
    const { tape, failures } = openTape('/nowhere/at/all');
    await tape.closed;
    expect(failures).toEqual(['disk-failed']);
  });

  it('is given up where nothing is written for ten seconds, and whoever waits for it does not', async () => {
    const folder = await makeFolder();
    const clock = new FakeClock();
    const { tape, failures } = openTape(folder, { files: hanging, clock });
    play(tape);
    await once(() => readdirSync(folder)[0]);
    for (let at = 20; at <= 9000; at += 20) {
      clock.advance(20);
      tape.caller(level(0x10, 20), at);
      tape.agent(level(0x20, 20), at);
      if (at % 500 === 0) tape.flush();
    }
    expect(failures).toEqual([]);
    tape.end(9000);
    clock.advance(2000);
    tape.flush();
    await tape.closed;
    expect(failures).toEqual(['disk-slow']);
  });

  it('keeps no more of what waits than ten seconds of a wide line', async () => {
    const folder = await makeFolder();
    const { tape, failures } = openTape(folder, { files: hanging, clock: new FakeClock() });
    play(tape);
    for (let at = 20; at <= 120_000; at += 20) tape.caller(level(0x10, 20), at);
    expect(failures).toEqual(failures.length === 0 ? [] : ['disk-slow']);
    for (let at = 120_020; at <= 400_000; at += 20) tape.caller(level(0x10, 20), at);
    expect(failures).toEqual(['disk-slow']);
  });

  it('goes on where the system writes only a part', async () => {
    const folder = await makeFolder();
    const partly: TapeFiles = {
      ...diskFiles,
      write: (fd, bytes, position, done) =>
        diskFiles.write(fd, bytes.subarray(0, Math.max(1, bytes.length >> 1)), position, done),
    };
    const { tape } = openTape(folder, { files: partly });
    play(tape);
    for (let at = 20; at <= 2000; at += 20) tape.caller(level(0x10, 20), at);
    tape.end(2000);
    await tape.closed;
    const { caller } = await encodeTapes(folder);
    expect(spansOf(caller)).toEqual([{ fromMs: 0, toMs: 2000 }]);
  });

  it('shows nothing of the call where it is encrypted', async () => {
    const folder = await makeFolder();
    const { tape } = openTape(folder, { key: KEY });
    tape.line(MULAW_8K, MULAW_8K, 0);
    for (let at = 20; at <= 1000; at += 20) tape.caller(level(0x10, 20), at);
    tape.end(1000);
    await tape.closed;
    const bytes = readFileSync(join(folder, `${CALL}.1.tape`));
    expect(bytes.includes(Buffer.alloc(8, 0x10))).toBe(false);
    expect(bytes.includes(CALL)).toBe(false);
    const { result } = await encodeTapes(folder, { key: KEY });
    expect(result).toMatchObject({ durationMs: 1000, trouble: undefined });
  });

  it('takes nothing down while it is paused', async () => {
    const folder = await makeFolder();
    const { tape } = openTape(folder);
    play(tape);
    tape.caller(level(0x10, 20), 20);
    tape.pause(30);
    tape.caller(level(0x33, 20), 40);
    tape.agent(level(0x33, 20), 40);
    tape.resume(60);
    tape.end(100);
    await tape.closed;
    expect(readFileSync(join(folder, `${CALL}.1.tape`)).includes(Buffer.alloc(8, 0x33))).toBe(false);
  });
});
