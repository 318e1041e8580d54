// The recordings of this machine: one folder, with the tapes of the calls that are up and a file for each call that was recorded.
import { lstat, readdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Clock, Timer } from '../base/clock.js';
import { recordingLane } from '../base/disk-lane.js';
import { RecordingError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import { makeFolder } from '../base/make-folder.js';
import { within } from '../base/pause.js';
import type { LocalRecording } from '../contract/call-record.js';
import type { EncodeResult } from './encode.js';
import { Encoder } from './encoder.js';
import { isOf, LiveRecording, type LiveRecordingOptions } from './live-recording.js';
import { FileError, PLAIN, readStart, RecordingReader, SEALED } from './recording-file.js';
import type { RecordingKey } from './seal.js';
import { isSealedTape, MAX_TICKS, TAPE_HEADER_BYTES, TICKS_PER_MS } from './tape-format.js';
import { diskFiles, PagePool, Tape, type TapeFiles } from './tape.js';

/** A call's id as a part of a file's name: no file system takes it for a path. */
const CALL_ID = /^[\w-]{1,100}$/;
const TAPE = /^(?<callId>[\w-]{1,100})\.(?<number>\d{1,4})\.tape$/;
const FINISHED = /^[\w-]{1,100}\.wav(?:\.enc)?$/;
/** What is not finished lies in a folder of its own. */
const TAPES = 'tapes';

/** What is on tape is on disk as often, so that a process that dies loses no more of it. */
const FLUSH_EVERY_MS = 500;
const SWEEP_EVERY_MS = 3_600_000;
/** Nobody writes a tape any more whose last sound is longer ago. */
const LONGEST_CALL_MS = MAX_TICKS / TICKS_PER_MS;
/** A thread that hangs in a write cannot be ended. */
const LONGEST_END_MS = 1000;

export interface RecordingsOptions {
  /** Made with mode 0700. One process at a time may finish what is in it; several may record into it. */
  readonly folder: string;
  /** Encrypts everything that is written. Undefined for plain files. */
  readonly key: RecordingKey | undefined;
  /** Recordings whose call ended longer ago are deleted. Undefined for no limit. */
  readonly keepMs: number | undefined;
  /** The oldest are deleted while all of them together are larger, and one that is larger by itself is not kept. Undefined for no limit. */
  readonly maxBytes: number | undefined;
  /** Keys that the caller presses are a secret. @default false */
  readonly pausesForKeys?: boolean;
  /** As in `LocalRecording`. @default there is no cluster */
  readonly server?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default those of the system */
  readonly files?: TapeFiles;
}

/** A tape in the folder. */
interface FoundTape {
  readonly name: string;
  readonly callId: string;
  readonly number: number;
}

/** How the file of a call is made. */
interface Finishing {
  /** Resolves when nothing more comes of its tapes. */
  readonly closed: Promise<void>;
  /** As in `EncodeJob`. */
  readonly mustBeSealed?: boolean;
  /** What is known to be lacking. */
  readonly trouble: () => LocalRecording['trouble'];
  readonly settle: (outcome: Partial<LocalRecording>) => void;
}

export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #pages = new PagePool();
  readonly #encoder: Encoder;
  /** Tapes that are written, or still have something to write. */
  readonly #tapes = new Set<Tape>();
  /** Calls that are up here. */
  readonly #live = new Map<string, LiveRecording>();
  /** Calls that another process has by now, and whose tapes still have something to write. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Calls whose files are being made. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Of everything that is finished, as far as it is known. */
  #bytes = 0;
  #timer: Timer | undefined;
  #sweeping: Timer | undefined;
  #isClosed = false;

  private constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#encoder = new Encoder(options.clock);
  }

  /** Rejects with the error of the file system. */
  static async open(options: RecordingsOptions): Promise<Recordings> {
    await makeFolder(join(options.folder, TAPES));
    const recordings = new Recordings(options);
    recordings.#sweepLater();
    return recordings;
  }

  get pausesForKeys(): boolean {
    return this.#options.pausesForKeys === true;
  }

  /** Begins, or goes on with, the recording of a call. `nowMs`: since the conversation began. Never throws. */
  begin(options: LiveRecordingOptions, nowMs: number): LiveRecording {
    const { clock, key, folder, server, files = diskFiles } = this.#options;
    const { callId, beganAt } = options;
    const live = new LiveRecording({ ...options, server });
    if (this.#isClosed || live.hasGivenUp || !CALL_ID.test(callId)) return live;
    const tape = new Tape({
      path: join(folder, TAPES, callId),
      head: { callId, beganAt },
      key,
      pages: this.#pages,
      files,
      clock,
      gaveUp: (trouble) => {
        this.#options.logger.error({ callId, trouble }, 'the recording of a call was given up');
        live.gaveUp(trouble);
      },
    });
    this.#live.set(callId, live);
    this.#tapes.add(tape);
    void tape.closed.then(() => this.#tapes.delete(tape));
    this.#flushLater();
    live.begin(tape, nowMs);
    return live;
  }

  /** The call is over, and nothing of it was recorded by this process: its file is made of what another one has left, by the server that has that. */
  endLeft(call: LiveRecordingOptions): void {
    if (call.before === null || isOf(this.#options.server, call.before)) this.end(new LiveRecording(call), 0);
  }

  /** The call is over: its file is made, and its record told. */
  end(live: LiveRecording, nowMs: number): void {
    const closed = this.#close(live, nowMs);
    if (live.isDiscarded) return;
    live.settled({ status: 'pending' });
    const settle = (outcome: Partial<LocalRecording>) => live.settled(outcome);
    const mustBeSealed = this.#options.key !== undefined && live.isFromStart;
    this.#finish(live.callId, { closed, mustBeSealed, trouble: () => live.record.trouble, settle });
  }

  /** Another process has the call: it goes on with another tape. */
  leave(live: LiveRecording, nowMs: number): void {
    const { callId } = live;
    const left = this.#close(live, nowMs).finally(() => {
      if (this.#leaving.get(callId) === left) this.#leaving.delete(callId);
    });
    this.#leaving.set(callId, left);
  }

  /** Makes the file of a call that is over and was left behind, of its tapes. Undefined when there is nothing of it. Never rejects. */
  async recover(callId: string, before: LocalRecording | null): Promise<Partial<LocalRecording> | undefined> {
    if (this.#live.has(callId) || this.#ending.has(callId)) return undefined;
    let found: Partial<LocalRecording> | undefined;
    const settle = (outcome: Partial<LocalRecording>) => {
      found = outcome;
    };
    // With this key it may be another.
    const trouble = before?.trouble === 'key-wrong' ? null : (before?.trouble ?? null);
    const closed = this.#leaving.get(callId) ?? Promise.resolve();
    await this.#finish(callId, { closed, trouble: () => trouble, settle });
    return found;
  }

  /** Calls of which there are tapes that nobody writes here. Never rejects. */
  async left(): Promise<string[]> {
    const calls = new Set((await this.#tapesIn()).map(({ callId }) => callId));
    return [...calls].filter((callId) => !this.#live.has(callId) && !this.#ending.has(callId));
  }

  /**
   * A finished recording; to be closed. `file`: its name, as its record has it. No other file is taken for it then: one beside it may be anybody's.
   * @throws RecordingError
   */
  async read(callId: string, file?: string | null): Promise<RecordingReader> {
    if (!CALL_ID.test(callId)) throw absent();
    if (this.#live.has(callId) || this.#ending.has(callId)) throw notReady();
    const { key } = this.#options;
    const names = this.#names(callId);
    const told = names.filter((name) => name === file);
    for (const name of told.length > 0 ? told : names) {
      const path = join(this.#options.folder, name);
      try {
        return await RecordingReader.open({ path, callId, key });
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        if (error.trouble !== 'absent') throw toRecordingError(error, callId, this.#options.logger);
      }
    }
    throw absent();
  }

  /** Deletes every file of the recording of a call, also of one that is up: nothing more of it is recorded then. Resolves to whether there was one. Rejects with the error of the file system. */
  async remove(callId: string): Promise<boolean> {
    if (!CALL_ID.test(callId)) return false;
    const live = this.#live.get(callId);
    live?.discard();
    if (live !== undefined) await this.#close(live, 0);
    await Promise.all([this.#ending.get(callId), this.#leaving.get(callId)]);
    const tapes = (await this.#tapesIn()).filter((tape) => tape.callId === callId);
    const { folder } = this.#options;
    const parts = [PLAIN, SEALED].map((ending) => join(folder, TAPES, `${callId}${ending}.part`));
    const finished = this.#names(callId).map((name) => join(folder, name));
    const paths = [...tapes.map(({ name }) => join(folder, TAPES, name)), ...parts, ...finished];
    let wasThere = live !== undefined;
    for (const path of paths) {
      wasThere ||= await recordingLane
        .run(() => lstat(path))
        .then(
          () => true,
          () => false,
        );
      await recordingLane.run(() => rm(path, { force: true, recursive: true }));
    }
    return wasThere;
  }

  /** Deletes what is older, or more, than is to be kept. Never rejects. */
  async sweep(): Promise<void> {
    const {
      folder,
      keepMs = Number.POSITIVE_INFINITY,
      maxBytes = Number.POSITIVE_INFINITY,
      clock,
      logger,
    } = this.#options;
    const found = [];
    try {
      const finished = (await recordingLane.run(() => readdir(folder))).filter((name) => FINISHED.test(name));
      for (const name of [...finished, ...(await this.#abandoned())]) {
        const stats = await recordingLane.run(() => lstat(join(folder, name))).catch(unlessGone);
        if (stats === undefined) continue;
        const { mtimeMs: at, size } = stats;
        // It may be written by another process.
        if (name.startsWith(TAPES + sep) && clock.wallNow() - at <= LONGEST_CALL_MS) continue;
        found.push({ name, at, size });
      }
    } catch (error) {
      logger.error({ folder, ...describeError(error) }, 'old recordings are not deleted');
      return;
    }
    found.sort((one, other) => other.at - one.at);
    let [bytes, deleted] = [0, 0];
    let isFull = false;
    for (const { name, at, size } of found) {
      // By itself it is more than all may be: no other goes for it.
      const isTooLarge = size > maxBytes;
      // What is older goes as well, even if it were small enough.
      isFull ||= !isTooLarge && bytes + size > maxBytes;
      if (clock.wallNow() - at <= keepMs && !isTooLarge && !isFull) {
        bytes += size;
        continue;
      }
      try {
        await recordingLane.run(() => rm(join(folder, name), { force: true, recursive: true }));
        deleted += 1;
      } catch (error) {
        logger.error({ folder, ...describeError(error) }, 'a recording was not deleted');
      }
    }
    this.#bytes = bytes;
    if (deleted > 0) logger.info({ files: deleted }, 'recordings deleted: older or more than is to be kept');
  }

  /** Resolves when all that was begun is finished. */
  async settled(): Promise<void> {
    while (this.#ending.size > 0 || this.#tapes.size > 0)
      await Promise.all([...this.#ending.values(), ...[...this.#tapes].map(({ closed }) => closed)]);
  }

  /** What is not finished is left to the next process. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#sweeping?.cancel();
    await within(this.#options.clock, LONGEST_END_MS, this.#encoder.close());
  }

  #close(live: LiveRecording, nowMs: number): Promise<void> {
    const { tape } = live;
    live.end();
    if (this.#live.get(live.callId) === live) this.#live.delete(live.callId);
    tape?.end(nowMs);
    return tape?.closed ?? Promise.resolve();
  }

  #finish(callId: string, how: Finishing): Promise<void> {
    const finishing = this.#make(callId, how).finally(() => {
      if (this.#ending.get(callId) === finishing) this.#ending.delete(callId);
    });
    this.#ending.set(callId, finishing);
    return finishing;
  }

  async #make(callId: string, { closed, mustBeSealed = false, trouble, settle }: Finishing): Promise<void> {
    await closed;
    const { folder, key, logger, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    const tapes = (await this.#tapesIn()).filter((tape) => tape.callId === callId);
    tapes.sort((one, other) => one.number - other.number);
    const isSealed = mustBeSealed || (await this.#isSealed(tapes));
    const isPlain = tapes.length > 0 && key === undefined && !isSealed;
    const finished = await this.#finished(callId, { isSealed, isPlain });
    if (tapes.length === 0 && finished === undefined) {
      settle({ status: 'failed', trouble: trouble() ?? 'lost' });
      return;
    }
    const name = finished ?? `${callId}${key === undefined && !isSealed ? PLAIN : SEALED}`;
    const result = await this.#encoder.encode({
      callId,
      tapes: tapes.map((tape) => join(folder, TAPES, tape.name)),
      part: join(folder, TAPES, `${name}.part`),
      path: join(folder, name),
      key,
      mustBeSealed,
    });
    // The server stops: the next one goes on.
    if (result === undefined) return;
    const made = outcomeOf(result, name, trouble());
    const outcome = await this.#withoutTooLarge(callId, made);
    if (outcome.status === 'failed')
      logger.error({ callId, trouble: outcome.trouble }, 'there is no recording of a call');
    settle(outcome);
    this.#bytes += outcome.bytes ?? 0;
    if (this.#bytes > maxBytes) await this.sweep();
  }

  /** Links and what is not ours are left out. Never rejects. */
  async #tapesIn(): Promise<FoundTape[]> {
    const folder = join(this.#options.folder, TAPES);
    try {
      const entries = await recordingLane.run(() => readdir(folder, { withFileTypes: true }));
      return entries.flatMap((entry) => {
        const { callId, number } = TAPE.exec(entry.name)?.groups ?? {};
        if (callId === undefined || !entry.isFile()) return [];
        return [{ name: entry.name, callId, number: Number(number) }];
      });
    } catch (error) {
      this.#options.logger.error(
        { folder, ...describeError(error) },
        'the folder of the recordings cannot be read',
      );
      return [];
    }
  }

  /** Tapes that nothing was made of, as paths in the folder: each is as old as its last sound. */
  async #abandoned(): Promise<string[]> {
    const tapes = await this.#tapesIn();
    return tapes
      .filter(({ callId }) => !this.#live.has(callId) && !this.#ending.has(callId))
      .map(({ name }) => join(TAPES, name));
  }

  /** Whether one of the tapes is encrypted. What cannot be read is the encoder's to tell of. */
  async #isSealed(tapes: readonly FoundTape[]): Promise<boolean> {
    for (const { name } of tapes) {
      const path = join(this.#options.folder, TAPES, name);
      const header = await readStart(path, TAPE_HEADER_BYTES).catch(() => undefined);
      if (header !== undefined && isSealedTape(header)) return true;
    }
    return false;
  }

  /** The recording that was made of the tapes before. Of encrypted ones an encrypted one is made, and of others no encrypted one without a key. */
  async #finished(
    callId: string,
    { isSealed, isPlain }: { isSealed: boolean; isPlain: boolean },
  ): Promise<string | undefined> {
    for (const name of this.#names(callId)) {
      if (name.endsWith(SEALED) ? isPlain : isSealed) continue;
      const path = join(this.#options.folder, name);
      const stats = await recordingLane.run(() => lstat(path)).catch(() => undefined);
      if (stats?.isFile() === true) return name;
    }
    return undefined;
  }

  /** Larger by itself than all of them may be: it is deleted at once, and the others stay. */
  async #withoutTooLarge(callId: string, outcome: Partial<LocalRecording>): Promise<Partial<LocalRecording>> {
    const { folder, logger, maxBytes = Number.POSITIVE_INFINITY } = this.#options;
    if (outcome.file == null || (outcome.bytes ?? 0) <= maxBytes) return outcome;
    try {
      const path = join(folder, outcome.file);
      await recordingLane.run(() => rm(path, { force: true }));
    } catch (error) {
      logger.error({ callId, ...describeError(error) }, 'a recording was not deleted');
      return outcome;
    }
    return { status: 'failed', trouble: outcome.trouble ?? 'too-long' };
  }

  /** Of the file of a call: first what this process would make. */
  #names(callId: string): string[] {
    const endings = this.#options.key === undefined ? [PLAIN, SEALED] : [SEALED, PLAIN];
    return endings.map((ending) => `${callId}${ending}`);
  }

  #flushLater(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = this.#options.clock.after(FLUSH_EVERY_MS, () => {
      this.#timer = undefined;
      for (const tape of this.#tapes) tape.flush();
      if (this.#tapes.size > 0) this.#flushLater();
    });
  }

  #sweepLater(): void {
    const { clock, keepMs, maxBytes } = this.#options;
    if (this.#isClosed || (keepMs === undefined && maxBytes === undefined)) return;
    void this.sweep();
    this.#sweeping = clock.after(SWEEP_EVERY_MS, () => this.#sweepLater());
  }
}

function outcomeOf(
  result: EncodeResult,
  file: string,
  trouble: LocalRecording['trouble'],
): Partial<LocalRecording> {
  if (result.durationMs === undefined) return { status: 'failed', trouble: trouble ?? result.trouble };
  const { durationMs, bytes } = result;
  const known = trouble ?? result.trouble ?? null;
  return { status: 'completed', file, durationMs: Math.round(durationMs), bytes, trouble: known };
}

/** Somebody has deleted it meanwhile. */
function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function absent(): RecordingError {
  return new RecordingError('RECORDING_ABSENT', 'There is no recording of this call.');
}

function notReady(): RecordingError {
  return new RecordingError(
    'RECORDING_NOT_READY',
    'The recording is still being made: ask again once the record says that it is completed.',
  );
}

function toRecordingError(error: FileError, callId: string, logger: Logger): RecordingError {
  const { trouble } = error;
  logger.error({ callId, trouble }, 'a recording cannot be read');
  if (trouble === 'key-missing')
    return new RecordingError(
      'RECORDING_LOCKED',
      'The recording is encrypted: set localRecording.key to its key.',
    );
  if (trouble === 'key-wrong')
    return new RecordingError(
      'RECORDING_LOCKED',
      'The recording is encrypted with another key: set localRecording.key to the one that it was made with.',
    );
  return new RecordingError('RECORDING_DAMAGED', 'The recording is damaged and cannot be played.');
}
