import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MULAW_8K } from '../../src/audio/format.js';
import { systemClock } from '../../src/base/clock.js';
import type { LocalRecording } from '../../src/contract/call-record.js';
import type { LiveRecording } from '../../src/recordings/live-recording.js';
import type { RecordingReader } from '../../src/recordings/recording-file.js';
import { Recordings, type RecordingsOptions } from '../../src/recordings/recordings.js';
import { diskFiles } from '../../src/recordings/tape.js';
import { readWav } from '../../src/testing/wav.js';
import { keepThreadsEqual } from '../support/equal-threads.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';
import { KEY, level, makeFolder, spansOf } from './rig.js';

keepThreadsEqual();

const DAY_MS = 86_400_000;

interface Rig {
  readonly recordings: Recordings;
  readonly folder: string;
  readonly logger: RecordedLogger;
}

async function open(options: Partial<RecordingsOptions> = {}): Promise<Rig> {
  const folder = options.folder ?? (await makeFolder());
  const logger = new RecordedLogger();
  const recordings = await Recordings.open({
    folder,
    key: undefined,
    keepMs: undefined,
    maxBytes: undefined,
    clock: systemClock,
    logger,
    ...options,
  });
  onTestFinished(() => recordings.close());
  return { recordings, folder, logger };
}

interface Told {
  readonly live: LiveRecording;
  readonly said: LocalRecording[];
}

function begin(recordings: Recordings, callId = 'call-1', before: LocalRecording | null = null): Told {
  const said: LocalRecording[] = [];
  const live = recordings.begin({ callId, beganAt: 5000, before, tell: (record) => said.push(record) }, 0);
  live.tape?.line(MULAW_8K, MULAW_8K, 0);
  return { live, said };
}

function talk(live: LiveRecording, fromMs = 0, toMs = 1000): void {
  for (let at = fromMs + 20; at <= toMs; at += 20) live.tape?.caller(level(0x10, 20), at);
}

async function record(recordings: Recordings, callId: string): Promise<LocalRecording[]> {
  const { live, said } = begin(recordings, callId);
  talk(live);
  recordings.end(live, 1000);
  await recordings.settled();
  return said;
}

async function bytesOf(recordings: Recordings, callId = 'call-1', from = 0, to?: number): Promise<Buffer> {
  return contentOf(await recordings.read(callId), from, to);
}

async function contentOf(file: RecordingReader, from = 0, to?: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of file.read(from, to ?? file.size)) parts.push(part);
  } finally {
    await file.close();
  }
  return Buffer.concat(parts);
}

describe('recordings', () => {
  it('are told from beginning to end, and are there then', async () => {
    const { recordings, folder } = await open();
    const said = await record(recordings, 'call-1');
    const begun = {
      status: 'recording',
      file: null,
      startedAt: 5000,
      durationMs: null,
      bytes: null,
      pauses: [],
      trouble: null,
    };
    const bytes = statSync(join(folder, 'call-1.wav')).size;
    expect(said).toEqual([
      begun,
      { ...begun, status: 'pending' },
      { ...begun, status: 'completed', file: 'call-1.wav', durationMs: 1000, bytes },
    ]);
    expect(statSync(join(folder, 'call-1.wav')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o077 & statSync(join(folder, 'tapes')).mode).toBe(0);
    const { channels } = readWav(await bytesOf(recordings));
    expect(spansOf(channels[0] ?? new Int16Array(0))).toEqual([{ fromMs: 0, toMs: 1000 }]);
  });

  it('of many calls are made one after the other, each its own', async () => {
    const { recordings, folder } = await open();
    const calls = Array.from({ length: 12 }, (_, index) => `call-${index}`);
    const told = calls.map((callId) => begin(recordings, callId));
    for (const [index, { live }] of told.entries()) talk(live, 0, 200 * (index + 1));
    for (const [index, { live }] of told.entries()) recordings.end(live, 200 * (index + 1));
    await recordings.settled();
    expect(told.map(({ said }) => said.at(-1)?.durationMs)).toEqual(
      calls.map((_, index) => 200 * (index + 1)),
    );
    expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
  });

  it('say which pauses there were, and whose: of several, that of who lasts longest', async () => {
    const { recordings } = await open();
    const { live, said } = begin(recordings);
    live.pause('keys', 100);
    live.pause('keys', 120);
    live.pause('application', 150);
    live.resume('keys', 200);
    expect(live.isPaused).toBe(true);
    live.pause('keys', 240);
    live.resume('application', 250);
    expect(live.isPausedBy('keys')).toBe(true);
    live.resume('keys', 300);
    live.resume('application', 310);
    expect(live.isPaused).toBe(false);
    // A key is told a moment late, and a pause that is over stays as it was.
    live.pause('keys', 280);
    live.resume('keys', 350);
    live.pause('tool', 400);
    talk(live);
    recordings.end(live, 1000);
    await recordings.settled();
    expect(said.at(-1)?.pauses).toEqual([
      { startedAt: 5100, endedAt: 5150, by: 'keys' },
      { startedAt: 5150, endedAt: 5250, by: 'application' },
      { startedAt: 5250, endedAt: 5300, by: 'keys' },
      { startedAt: 5300, endedAt: 5350, by: 'keys' },
      { startedAt: 5400, endedAt: null, by: 'tool' },
    ]);
    // There was nothing beside the pauses.
    expect(said.at(-1)).toMatchObject({ status: 'failed', trouble: 'empty' });
  });

  it('name a hundred pauses, and keep all', async () => {
    const { recordings } = await open();
    const { live, said } = begin(recordings);
    for (let pause = 0; pause < 200; pause += 1) {
      talk(live, 1000 * pause, 1000 * pause + 500);
      live.pause('application', 1000 * pause + 500);
      talk(live, 1000 * pause + 500, 1000 * (pause + 1));
      live.resume('application', 1000 * (pause + 1));
      if (pause % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    recordings.end(live, 200_000);
    await recordings.settled();
    expect(said.at(-1)?.pauses).toHaveLength(100);
    expect(said.at(-1)?.pauses.every(({ endedAt }) => endedAt !== null)).toBe(true);
    const [channel = new Int16Array(0)] = readWav(await bytesOf(recordings)).channels;
    const spans = spansOf(channel);
    expect(spans).toHaveLength(200);
    expect(spans.at(-1)).toEqual({ fromMs: 199_000, toMs: 199_500 });
  });

  it('stay paused in the next process', async () => {
    const { recordings } = await open();
    const first = begin(recordings);
    first.live.pause('application', 500);
    recordings.leave(first.live, 600);
    const second = begin(recordings, 'call-1', first.said.at(-1) ?? null);
    expect(second.live.isPaused).toBe(true);
    talk(second.live, 700, 1500);
    second.live.resume('application', 1500);
    talk(second.live, 1500, 2000);
    recordings.end(second.live, 2000);
    await recordings.settled();
    const [channel = new Int16Array(0)] = readWav(await bytesOf(recordings)).channels;
    expect(spansOf(channel)).toEqual([{ fromMs: 1500, toMs: 2000 }]);
  });

  it('have what came before they were given up, and say why', async () => {
    let [begun, over] = [0, 0];
    const files = {
      ...diskFiles,
      write: ((fd, bytes, position, done) => {
        begun += 1;
        if (begun >= 4) {
          done(Object.assign(new Error('no space'), { code: 'ENOSPC' }), 0);
          over += 1;
          return;
        }
        diskFiles.write(fd, bytes, position, (error, written) => {
          // The next one begins in it.
          done(error, written);
          over += 1;
        });
      }) satisfies typeof diskFiles.write,
    };
    const { recordings, logger } = await open({ files });
    const { live, said } = begin(recordings);
    for (let at = 0; at < 6000; at += 500) {
      talk(live, at, at + 500);
      live.tape?.flush();
      // However long the disk takes over it.
      await soon(() => expect([begun > 0, over]).toEqual([true, begun]));
    }
    expect(said.at(-1)).toMatchObject({ status: 'recording', trouble: 'disk-full' });
    expect(live.tape).toBeUndefined();
    recordings.end(live, 6000);
    await recordings.settled();
    expect(said.at(-1)).toMatchObject({ status: 'completed', trouble: 'disk-full' });
    expect(said.at(-1)?.durationMs).toBeGreaterThan(0);
    expect(said.at(-1)?.durationMs).toBeLessThan(6000);
    expect(logger.sentences('error')).toEqual(['the recording of a call was given up']);
  });

  it('that were given up are not begun again by the next process', async () => {
    const { recordings } = await open();
    const before = { ...(await record(recordings, 'other')).at(0), trouble: 'disk-slow' } as LocalRecording;
    expect(begin(recordings, 'call-1', before).live.tape).toBeUndefined();
  });

  it('do not keep a server from closing where the disk does not answer', async () => {
    const { recordings } = await open({ files: { ...diskFiles, write() {} } });
    const { live } = begin(recordings);
    talk(live);
    recordings.end(live, 1000);
    await recordings.close();
  });
});

describe('what another process has left', () => {
  it('is made into a recording, once', async () => {
    const { recordings, folder } = await open();
    const { live, said } = begin(recordings);
    talk(live);
    recordings.leave(live, 1000);
    await recordings.settled();
    const next = await open({ folder });
    expect(await next.recordings.left()).toEqual(['call-1']);
    expect(await next.recordings.recover('call-1', said.at(-1) ?? null)).toMatchObject({
      status: 'completed',
      file: 'call-1.wav',
      durationMs: 1000,
      trouble: null,
    });
    expect(await next.recordings.left()).toEqual([]);
    // The process died after that, before its record was told.
    expect(await next.recordings.recover('call-1', said.at(-1) ?? null)).toMatchObject({ durationMs: 1000 });
  });

  it('is told as lost where nothing is there', async () => {
    const { recordings } = await open();
    expect(await recordings.recover('call-1', null)).toEqual({ status: 'failed', trouble: 'lost' });
  });

  it('is left alone while the call is up', async () => {
    const { recordings } = await open();
    begin(recordings);
    expect(await recordings.left()).toEqual([]);
    expect(await recordings.recover('call-1', null)).toBeUndefined();
  });

  it('is finished by a call that ends in a process that has recorded nothing of it', async () => {
    const { recordings } = await open();
    const first = begin(recordings);
    talk(first.live);
    recordings.leave(first.live, 1000);
    // The process before has written its tape when this one ends the call.
    await recordings.settled();
    const said: LocalRecording[] = [];
    const before = first.said.at(-1) ?? null;
    recordings.endLeft({ callId: 'call-1', beganAt: 5000, before, tell: (told) => said.push(told) });
    await recordings.settled();
    expect(said.map(({ status }) => status)).toEqual(['pending', 'completed']);
  });
});

describe('a recording that is encrypted', () => {
  it('is read in parts with its key, and shows nothing without', async () => {
    const { recordings, folder } = await open({ key: KEY });
    const { live, said } = begin(recordings);
    for (let second = 0; second < 30; second += 1) {
      talk(live, 1000 * second, 1000 * (second + 1));
      live.tape?.flush();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    recordings.end(live, 30_000);
    await recordings.settled();
    expect(said.at(-1)).toMatchObject({ status: 'completed', file: 'call-1.wav.enc', durationMs: 30_000 });
    const whole = await bytesOf(recordings);
    expect(readWav(whole).channels).toHaveLength(2);
    for (const [from, to] of [
      [0, 1],
      [65_535, 65_537],
      [100_000, 300_000],
      [whole.length - 1, whole.length],
    ] as const)
      expect((await bytesOf(recordings, 'call-1', from, to)).equals(whole.subarray(from, to))).toBe(true);
    const other = await open({ folder, key: new Uint8Array(32) });
    await expect(other.recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_LOCKED' });
    const none = await open({ folder });
    await expect(none.recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_LOCKED' });
  });

  it('is not played where somebody has changed a byte of it, or cut it off', async () => {
    const { recordings, folder } = await open({ key: KEY });
    await record(recordings, 'call-1');
    const path = join(folder, 'call-1.wav.enc');
    const bytes = readFileSync(path);
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[5000] ?? 0) ^ 1, 5000);
    writeFileSync(path, changed);
    await expect(bytesOf(recordings)).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    writeFileSync(path, bytes.subarray(0, bytes.length - 1000));
    await expect(bytesOf(recordings)).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    writeFileSync(path, bytes);
    expect((await bytesOf(recordings)).length).toBeGreaterThan(16_000);
  });
});

describe('an encrypted recording of another length', () => {
  it('is refused before anything of it is played', async () => {
    const { recordings, folder } = await open({ key: KEY });
    const { live } = begin(recordings);
    talk(live, 0, 20_000);
    recordings.end(live, 20_000);
    await recordings.settled();
    const path = join(folder, 'call-1.wav.enc');
    const whole = readFileSync(path);
    const { length: wavBytes } = await bytesOf(recordings);
    const pieceBytes = whole.readUInt32LE(8);
    const pieces = Math.ceil(wavBytes / pieceBytes);
    const sealBytes = 16;
    const headBytes = whole.length - wavBytes - pieces * sealBytes;
    expect(pieces).toBeGreaterThan(2);
    const files = [
      ...[1, 2].map((kept) => whole.subarray(0, headBytes + kept * (pieceBytes + sealBytes))),
      ...[1, 100, pieceBytes].map((bytes) => whole.subarray(0, whole.length - bytes)),
      Buffer.concat([whole, Buffer.alloc(100)]),
      Buffer.concat([whole, whole.subarray(-pieceBytes)]),
    ];
    for (const bytes of files) {
      writeFileSync(path, bytes);
      await expect(recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    }
    writeFileSync(path, whole);
    expect(await bytesOf(recordings)).toHaveLength(wavBytes);
  });
});

describe('a file beside a recording that is encrypted', () => {
  /** One that could be played: the recording of another call, not encrypted. */
  async function forged(): Promise<Buffer> {
    const { recordings, folder } = await open();
    const { live } = begin(recordings, 'forged');
    talk(live, 0, 4000);
    recordings.end(live, 4000);
    await recordings.settled();
    return readFileSync(join(folder, 'forged.wav'));
  }

  it('is not played instead of it, whether the record tells its name or not', async () => {
    const plain = await forged();
    const { recordings, folder } = await open({ key: KEY });
    await record(recordings, 'call-1');
    const good = await bytesOf(recordings);
    writeFileSync(join(folder, 'call-1.wav'), plain);
    for (const file of [undefined, null, 'call-1.wav.enc', '../call-1.wav'])
      expect((await contentOf(await recordings.read('call-1', file))).equals(good)).toBe(true);
    // Nor where the encrypted one is damaged, replaced or gone.
    const path = join(folder, 'call-1.wav.enc');
    for (const bytes of [Buffer.from('x'), plain]) {
      writeFileSync(path, bytes);
      for (const file of [undefined, 'call-1.wav.enc'])
        await expect(recordings.read('call-1', file)).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    }
    unlinkSync(path);
    await expect(recordings.read('call-1', 'call-1.wav.enc')).rejects.toMatchObject({
      code: 'RECORDING_ABSENT',
    });
  });

  it.each(['folder', 'link', 'pipe'])('does not hide it: a %s', async (kind) => {
    if (kind === 'pipe' && process.platform === 'win32') return;
    const { recordings, folder } = await open({ key: KEY });
    await record(recordings, 'call-1');
    const path = join(folder, 'call-1.wav');
    if (kind === 'folder') mkdirSync(path);
    else if (kind === 'link') symlinkSync(join(folder, 'nowhere'), path);
    else execFileSync('mkfifo', [path]);
    expect(readWav(await bytesOf(recordings)).channels).toHaveLength(2);
  });

  it('is not taken for what was made of the encrypted tapes', async () => {
    const plain = await forged();
    const { recordings, folder } = await open({ key: KEY });
    const { live, said } = begin(recordings);
    talk(live);
    writeFileSync(join(folder, 'call-1.wav'), plain);
    recordings.end(live, 1000);
    await recordings.settled();
    expect(said.at(-1)).toMatchObject({ status: 'completed', file: 'call-1.wav.enc', durationMs: 1000 });
    expect(readWav(await bytesOf(recordings)).channels[0]).toHaveLength(8000);
    // Nor without the key: the tapes stay for the next start with it.
    const next = begin(recordings, 'call-2');
    talk(next.live);
    recordings.leave(next.live, 1000);
    await recordings.settled();
    writeFileSync(join(folder, 'call-2.wav'), plain);
    const other = await open({ folder });
    expect(await other.recordings.recover('call-2', null)).toEqual({
      status: 'failed',
      trouble: 'key-wrong',
    });
    expect(readdirSync(join(folder, 'tapes'))).toEqual(['call-2.1.tape']);
  });

  it('is made with its key by a later start, and nothing is wrong with it then', async () => {
    const { recordings, folder } = await open({ key: KEY });
    const { live, said } = begin(recordings);
    talk(live);
    recordings.leave(live, 1000);
    await recordings.settled();
    const other = await open({ folder, key: new Uint8Array(32).fill(8) });
    const failed = { status: 'failed', trouble: 'key-wrong' } as const;
    const before = { ...(said.at(-1) as LocalRecording), ...failed };
    expect(await other.recordings.recover('call-1', before)).toEqual(failed);
    const { recordings: next } = await open({ folder, key: KEY });
    expect(await next.recover('call-1', before)).toMatchObject({ status: 'completed', trouble: null });
  });

  it('is played where it was made before there was a key, also if another one is put beside it', async () => {
    const { recordings: before, folder } = await open();
    const { file = null } = (await record(before, 'call-1')).at(-1) ?? {};
    const plain = await bytesOf(before);
    const { recordings } = await open({ folder, key: KEY });
    expect((await bytesOf(recordings)).equals(plain)).toBe(true);
    writeFileSync(join(folder, 'call-1.wav.enc'), 'x');
    expect((await contentOf(await recordings.read('call-1', file))).equals(plain)).toBe(true);
  });

  it('is the recording where the process died before it had taken its tapes away, and a key was set then', async () => {
    const { recordings: before, folder } = await open();
    const { live } = begin(before);
    talk(live);
    before.leave(live, 1000);
    await before.settled();
    const tape = readFileSync(join(folder, 'tapes', 'call-1.1.tape'));
    await before.recover('call-1', null);
    writeFileSync(join(folder, 'tapes', 'call-1.1.tape'), tape);
    const { recordings } = await open({ folder, key: KEY });
    expect(await recordings.recover('call-1', null)).toMatchObject({ file: 'call-1.wav', durationMs: 1000 });
    expect(readdirSync(folder).sort()).toEqual(['call-1.wav', 'tapes']);
  });
});

describe('a tape that is not encrypted', () => {
  /** Of another four seconds that somebody says in the same call. */
  async function forged(): Promise<Buffer> {
    const { recordings, folder } = await open();
    const { live } = begin(recordings);
    talk(live, 0, 4000);
    recordings.leave(live, 4000);
    await recordings.settled();
    return readFileSync(join(folder, 'tapes', 'call-1.1.tape'));
  }

  it('is left out behind one that is, and the record says that something is wrong', async () => {
    const tape = await forged();
    const { recordings, folder } = await open({ key: KEY });
    const { live, said } = begin(recordings);
    talk(live);
    recordings.leave(live, 1000);
    await recordings.settled();
    writeFileSync(join(folder, 'tapes', 'call-1.2.tape'), tape);
    expect(await recordings.recover('call-1', said.at(-1) ?? null)).toMatchObject({
      status: 'completed',
      file: 'call-1.wav.enc',
      durationMs: 1000,
      trouble: 'tape-damaged',
    });
    expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
  });

  it('is none of a call that was recorded with a key from its start', async () => {
    const tape = await forged();
    const { recordings, folder } = await open({ key: KEY });
    const { live, said } = begin(recordings);
    talk(live);
    live.tape?.end(1000);
    await live.tape?.closed;
    unlinkSync(join(folder, 'tapes', 'call-1.1.tape'));
    writeFileSync(join(folder, 'tapes', 'call-1.1.tape'), tape);
    recordings.end(live, 1000);
    await recordings.settled();
    expect(said.at(-1)).toMatchObject({ status: 'failed', trouble: 'tape-damaged' });
    expect(readdirSync(folder)).toEqual(['tapes']);
  });

  it('is the beginning of a call that a process with the first key went on with', async () => {
    const { recordings: before, folder } = await open();
    const first = begin(before);
    talk(first.live);
    before.leave(first.live, 1000);
    await before.settled();
    const { recordings } = await open({ folder, key: KEY });
    const { live, said } = begin(recordings, 'call-1', first.said.at(-1) ?? null);
    talk(live, 1000, 2000);
    recordings.end(live, 2000);
    await recordings.settled();
    expect(said.at(-1)).toMatchObject({ file: 'call-1.wav.enc', durationMs: 2000, trouble: null });
  });

  it('becomes a recording that can be played where a file lies under the name of an encrypted one', async () => {
    const { recordings, folder } = await open();
    writeFileSync(join(folder, 'call-1.wav.enc'), '');
    const said = await record(recordings, 'call-1');
    expect(said.at(-1)).toMatchObject({ status: 'completed', file: 'call-1.wav' });
    expect(readWav(await contentOf(await recordings.read('call-1', 'call-1.wav'))).channels).toHaveLength(2);
  });
});

describe.skipIf(process.platform === 'win32')('a pipe in the place of a recording', () => {
  it.each([undefined, KEY])('is refused, and nobody waits for it (key: %#)', async (key) => {
    const { recordings, folder } = await open({ key });
    for (const name of ['one.wav', 'two.wav.enc']) execFileSync('mkfifo', [join(folder, name)]);
    for (const [callId, file] of [
      ['one', 'one.wav'],
      ['two', 'two.wav.enc'],
    ] as const)
      for (const told of [file, undefined])
        await expect(recordings.read(callId, told)).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
  });

  it.each([undefined, KEY])('does not keep the recording from being made (key: %#)', async (key) => {
    const { recordings, folder } = await open({ key });
    const name = key === undefined ? 'call-1.wav' : 'call-1.wav.enc';
    execFileSync('mkfifo', [join(folder, name)]);
    const said = await record(recordings, 'call-1');
    expect(said.at(-1)).toMatchObject({ status: 'completed', file: name, durationMs: 1000 });
    expect(readWav(await bytesOf(recordings)).channels).toHaveLength(2);
  });
});

describe('bad input', () => {
  it.each(['../secret', '..', 'a/b', '', 'x'.repeat(101), 'call\0'])('is no call: %j', async (callId) => {
    const { recordings, folder } = await open();
    writeFileSync(join(folder, '..', 'secret.wav'), 'x');
    await expect(recordings.read(callId)).rejects.toMatchObject({ code: 'RECORDING_ABSENT' });
    expect(begin(recordings, callId).live.tape).toBeUndefined();
    await recordings.remove(callId);
  });

  it('never leads out of the folder: a link is not followed', async () => {
    const { recordings, folder } = await open();
    const outside = join(await makeFolder(), 'secret.wav');
    writeFileSync(outside, 'x'.repeat(1000));
    symlinkSync(outside, join(folder, 'call-1.wav'));
    symlinkSync(outside, join(folder, 'tapes', 'call-1.1.tape'));
    mkdirSync(join(folder, 'call-2.wav'));
    await expect(recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    await expect(recordings.read('call-2')).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
    expect(await recordings.left()).toEqual([]);
    await record(recordings, 'call-1');
    expect(statSync(outside).size).toBe(1000);
    await recordings.remove('call-1');
    await recordings.remove('call-2');
    expect(statSync(outside).size).toBe(1000);
    expect(readdirSync(folder)).toEqual(['tapes']);
  });

  it('is told in words: absent, still being made, damaged', async () => {
    const { recordings, folder } = await open();
    await expect(recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_ABSENT' });
    begin(recordings);
    await expect(recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_NOT_READY' });
    writeFileSync(
      join(folder, 'call-2.wav'),
      'RIFF and nothing more than that, though it is long enough for one',
    );
    await expect(recordings.read('call-2')).rejects.toMatchObject({ code: 'RECORDING_DAMAGED' });
  });
});

describe('what is kept', () => {
  const age = (path: string, days: number) => {
    const at = new Date(Date.now() - days * DAY_MS);
    utimesSync(path, at, at);
  };

  it('is no older than it may be', async () => {
    const { recordings, folder } = await open({ keepMs: 30 * DAY_MS });
    await record(recordings, 'old');
    await record(recordings, 'new');
    age(join(folder, 'old.wav'), 31);
    writeFileSync(join(folder, 'notes.txt'), 'not ours');
    age(join(folder, 'notes.txt'), 400);
    writeFileSync(join(folder, 'tapes', 'gone.1.tape'), 'left by a call that nobody knows');
    age(join(folder, 'tapes', 'gone.1.tape'), 31);
    const { live } = begin(recordings, 'up');
    await recordings.sweep();
    expect(readdirSync(folder).sort()).toEqual(['new.wav', 'notes.txt', 'tapes']);
    expect(readdirSync(join(folder, 'tapes'))).toEqual(['up.1.tape']);
    recordings.end(live, 0);
    await recordings.settled();
  });

  it('is as old as its call, also where it was made later', async () => {
    const { recordings, folder } = await open({ keepMs: 30 * DAY_MS });
    for (const [callId, days] of [
      ['old', 31],
      ['new', 29],
    ] as const) {
      const { live } = begin(recordings, callId);
      talk(live);
      recordings.leave(live, 1000);
      await recordings.settled();
      age(join(folder, 'tapes', `${callId}.1.tape`), days);
      expect(await recordings.recover(callId, null)).toMatchObject({ status: 'completed' });
    }
    await recordings.sweep();
    expect(readdirSync(folder).sort()).toEqual(['new.wav', 'tapes']);
  });

  it('has every tape that another process may write, however old or large it is', async () => {
    const { recordings, folder } = await open({ keepMs: DAY_MS / 2, maxBytes: 10 });
    for (const [callId, days] of [
      ['up', 1],
      ['gone', 25.5 / 24],
    ] as const) {
      const path = join(folder, 'tapes', `${callId}.1.tape`);
      writeFileSync(path, 'written by another process');
      age(path, days);
    }
    await recordings.sweep();
    expect(readdirSync(join(folder, 'tapes'))).toEqual(['up.1.tape']);
  });

  it('is looked after also where somebody else deletes from it', async () => {
    const folder = await makeFolder();
    const tapes = join(folder, 'tapes');
    const clock = Object.assign(Object.create(systemClock) as typeof systemClock, {
      wallNow: () => {
        for (const name of readdirSync(tapes)) unlinkSync(join(tapes, name));
        return systemClock.wallNow();
      },
    });
    const { recordings, logger } = await open({ folder, keepMs: 30 * DAY_MS, clock });
    for (const path of ['old.wav', 'tapes/one.1.tape', 'tapes/two.1.tape']) {
      writeFileSync(join(folder, path), 'x');
      age(join(folder, path), 31);
    }
    await recordings.sweep();
    expect([readdirSync(folder), logger.sentences('error')]).toEqual([['tapes'], []]);
  });

  it('is no more than it may be: the oldest go first', async () => {
    const { recordings, folder } = await open({ maxBytes: 40_000 });
    for (const [index, callId] of ['one', 'two', 'three'].entries()) {
      await record(recordings, callId);
      age(join(folder, `${callId}.wav`), 3 - index);
    }
    await recordings.sweep();
    expect(readdirSync(folder).sort()).toEqual(['tapes', 'three.wav', 'two.wav']);
    // It is looked after as calls end.
    await record(recordings, 'four');
    expect(readdirSync(folder).sort()).toEqual(['four.wav', 'tapes', 'three.wav']);
  });
});

describe('maxBytes', () => {
  const put = (folder: string, name: string, { bytes, days }: { bytes: number; days: number }) => {
    writeFileSync(join(folder, name), new Uint8Array(bytes));
    const at = new Date(Date.now() - days * DAY_MS);
    utimesSync(join(folder, name), at, at);
  };

  it('keeps none that is older than one that it deletes', async () => {
    const folder = await makeFolder();
    const { recordings } = await open({ folder, maxBytes: 10_000 });
    put(folder, 'oldest.wav', { bytes: 1000, days: 4 });
    put(folder, 'older.wav.enc', { bytes: 7000, days: 3 });
    put(folder, 'newer.wav', { bytes: 3000, days: 2 });
    put(folder, 'newest.wav', { bytes: 3000, days: 1 });
    await recordings.sweep();
    expect(readdirSync(folder).sort()).toEqual(['newer.wav', 'newest.wav', 'tapes']);
  });

  it('deletes one that is larger by itself, whoever has left it, and no other for it', async () => {
    const folder = await makeFolder();
    const { recordings } = await open({ folder, maxBytes: 10_000 });
    put(folder, 'older.wav', { bytes: 7000, days: 3 });
    put(folder, 'newer.wav', { bytes: 3000, days: 2 });
    put(folder, 'newest.wav', { bytes: 10_001, days: 1 });
    await recordings.sweep();
    expect(readdirSync(folder).sort()).toEqual(['newer.wav', 'older.wav', 'tapes']);
  });

  it.each([undefined, KEY])(
    'keeps no recording that is larger by itself, and its record says so (key: %#)',
    async (key) => {
      const { recordings, folder, logger } = await open({ maxBytes: 20_000, key });
      const before = (await record(recordings, 'before')).at(-1);
      const { live, said } = begin(recordings);
      talk(live, 0, 2000);
      recordings.end(live, 2000);
      await recordings.settled();
      expect(said.at(-1)).toMatchObject({
        status: 'failed',
        file: null,
        durationMs: null,
        bytes: null,
        trouble: 'too-long',
      });
      await expect(recordings.read('call-1')).rejects.toMatchObject({ code: 'RECORDING_ABSENT' });
      expect(readdirSync(folder).sort()).toEqual([before?.file, 'tapes'].sort());
      expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
      expect(logger.sentences('error')).toEqual(['there is no recording of a call']);
    },
  );

  it('leaves the record of what it deletes later as it is', async () => {
    const { recordings } = await open({ maxBytes: 20_000 });
    const said = await record(recordings, 'one');
    await record(recordings, 'two');
    expect(said.at(-1)).toMatchObject({ status: 'completed', file: 'one.wav' });
    await expect(recordings.read('one', 'one.wav')).rejects.toMatchObject({ code: 'RECORDING_ABSENT' });
  });
});

describe('removing a recording', () => {
  it('takes every file of the call, and of no other', async () => {
    const { recordings, folder } = await open();
    await record(recordings, 'call-1');
    await record(recordings, 'call-10');
    writeFileSync(join(folder, 'tapes', 'call-1.7.tape'), 'x');
    writeFileSync(join(folder, 'tapes', 'call-1.wav.part'), 'x');
    await recordings.remove('call-1');
    expect(readdirSync(folder).sort()).toEqual(['call-10.wav', 'tapes']);
    expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
    await recordings.remove('call-1');
  });

  it('of a call that is up has nothing more of it recorded', async () => {
    const { recordings, folder } = await open();
    const { live, said } = begin(recordings);
    talk(live);
    await recordings.remove('call-1');
    talk(live, 1000, 2000);
    recordings.end(live, 2000);
    await recordings.settled();
    expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
    expect(existsSync(join(folder, 'call-1.wav'))).toBe(false);
    expect(said.at(-1)?.status).toBe('recording');
  });

  it('waits for a file that is being made', async () => {
    const { recordings, folder } = await open();
    const { live } = begin(recordings);
    talk(live);
    recordings.end(live, 1000);
    await recordings.remove('call-1');
    expect(readdirSync(folder)).toEqual(['tapes']);
    expect(readdirSync(join(folder, 'tapes'))).toEqual([]);
  });
});
