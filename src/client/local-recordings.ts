// Recordings on this machine, for one server: the folder in its data folder, what the process before has left there, and the end.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.js';
import { StoreError } from '../base/errors.js';
import { describeError, type Logger } from '../base/log.js';
import { within } from '../base/pause.js';
import { holdProcess } from '../base/process-hold.js';
import type { CallRecordings } from '../calls/recording/call-recordings.js';
import type { CallRecord, LocalRecording } from '../contract/call-record.js';
import type { CheckedServeOptions } from '../options/serve.js';
import { isOf } from '../recordings/live-recording.js';
import type { Recordings } from '../recordings/recordings.js';
import type { CallStore } from '../stores/call-store.js';

/** Calls that are asked about of which no tape is there, but perhaps a file. */
const MAX_ASKED = 500;

export interface LocalRecordingsParts {
  readonly options: Pick<CheckedServeOptions, 'localRecording' | 'dataDir'> & {
    readonly cluster?: { readonly address: string } | undefined;
  };
  /** What became of a recording that another process has left of a call that is over. */
  recordedLocally(record: CallRecord, recording: LocalRecording): void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LocalRecordings {
  readonly #parts: LocalRecordingsParts;
  #keeper: CallRecordings | undefined;
  #recordings: Recordings | undefined;
  #recovering: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: LocalRecordingsParts) {
    this.#parts = parts;
  }

  /** For calls that begin; undefined where none is recorded. */
  get keeper(): CallRecordings | undefined {
    return this.#keeper;
  }

  /** For whoever plays them; undefined where there are none. */
  get files(): Recordings | undefined {
    return this.#recordings;
  }

  /** A folder that cannot be used is in the log and in the record of each call; calls are answered all the same. Never rejects. */
  async open(store: CallStore): Promise<void> {
    const { options, clock, logger } = this.#parts;
    const { localRecording, dataDir, cluster } = options;
    const server = cluster?.address;
    if (localRecording === undefined || dataDir === false) return;
    this.#keeper = unavailable(server);
    const folder = resolve(dataDir, 'recordings');
    try {
      // Where another process has the folder, its tapes are not ours.
      if (!store.isKept) throw new Error('dataDir cannot be used');
      const { Recordings } = await import('../recordings/recordings.js');
      this.#recordings = await Recordings.open({ folder, ...localRecording, server, clock, logger });
      this.#keeper = this.#recordings;
    } catch (error) {
      logger.error({ folder, setting: 'dataDir', ...describeError(error) }, 'calls are not recorded');
    }
  }

  /** Deletes every file of a call's recording, also where calls are not recorded any more. Resolves to whether there was one. @throws StoreError */
  async forget(callId: string): Promise<boolean> {
    const { options, clock, logger } = this.#parts;
    const { dataDir } = options;
    if (dataDir === false) return false;
    const folder = resolve(dataDir, 'recordings');
    try {
      if (this.#recordings !== undefined) return await this.#recordings.remove(callId);
      if (!(await isThere(folder))) return false;
      const { Recordings } = await import('../recordings/recordings.js');
      const limits = { key: undefined, keepMs: undefined, maxBytes: undefined };
      const found = await Recordings.open({ folder, ...limits, clock, logger });
      const wasThere = await found.remove(callId);
      await found.close();
      return wasThere;
    } catch (cause) {
      throw new StoreError('The recording of the call could not be deleted.', { cause });
    }
  }

  /** Makes the files of calls that processes which are gone have left, one after the other, beside the calls. */
  recover(store: CallStore): void {
    this.#recovering = this.#recovering
      .then(() => this.#recover(store))
      .catch((error: unknown) => {
        this.#parts.logger.error(
          describeError(error),
          'recordings of the previous process were not finished',
        );
      });
  }

  /** A call has ended at another server: what was recorded of it here is made into a file. */
  endedElsewhere(callId: string, store: CallStore): void {
    const recordings = this.#recordings;
    if (recordings === undefined) return;
    this.#recovering = this.#recovering
      .then(async () => {
        const isHere = (await recordings.left()).includes(callId) || this.#isOurs(await store.get(callId));
        if (isHere && !this.#isClosed) await this.#recoverOne(callId, { store, recordings });
      })
      .catch((error: unknown) => {
        const sentence = 'the recording of a call that another server has ended was not finished';
        this.#parts.logger.error({ callId, ...describeError(error) }, sentence);
      });
  }

  /** Calls are over: their files are made, for as long as that may take. What is not finished is left to the next process. Never rejects. */
  async close(limitMs: number): Promise<void> {
    const { clock } = this.#parts;
    const release = holdProcess();
    this.#isClosed = true;
    await within(clock, limitMs, this.#recordings?.settled() ?? Promise.resolve());
    await this.#recordings?.close();
    await within(clock, limitMs, this.#recovering);
    release();
  }

  async #recover(store: CallStore): Promise<void> {
    const recordings = this.#recordings;
    if (recordings === undefined) return;
    const { calls } = await store.list({ limit: MAX_ASKED, status: 'completed' });
    const open = calls.filter((record) => this.#isOurs(record)).map(({ callId }) => callId);
    const forgotten = new Set((await store.forgotten?.())?.map(({ callId }) => callId));
    for (const callId of new Set([...(await recordings.left()), ...open])) {
      if (this.#isClosed) return;
      try {
        // Written by a process that had not heard of it.
        if (forgotten.has(callId)) await recordings.remove(callId);
        else await this.#recoverOne(callId, { store, recordings });
      } catch (error) {
        // The others have nothing to do with it.
        const sentence = 'the recording of a call that the previous process has left was not finished';
        this.#parts.logger.error({ callId, ...describeError(error) }, sentence);
      }
    }
  }

  async #recoverOne(
    callId: string,
    { store, recordings }: { store: CallStore; recordings: Recordings },
  ): Promise<void> {
    const record = await store.get(callId);
    // One that is up is recorded here, or in the process that has it.
    if (record?.status !== 'completed') return;
    const before = record.localRecording ?? begunBefore(record);
    const outcome = await recordings.recover(callId, before);
    // The server that had the call last tells of its own, and it may have been deleted meanwhile.
    if (outcome === undefined || !isOf(this.#server, before)) return;
    if ((await store.get(callId)) !== undefined)
      this.#parts.recordedLocally(record, { ...before, ...outcome });
  }

  /** Whether the file is yet to be made, here. A record may be older than the field. */
  #isOurs(record: CallRecord | undefined): boolean {
    const recording = record?.localRecording;
    return isOpen(recording) && isOf(this.#server, recording);
  }

  get #server(): string | undefined {
    return this.#parts.options.cluster?.address;
  }
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

/** The process died before it had told. */
function begunBefore({ answeredAt, startedAt }: CallRecord): LocalRecording {
  return {
    status: 'recording',
    file: null,
    startedAt: answeredAt ?? startedAt,
    durationMs: null,
    bytes: null,
    pauses: [],
    trouble: null,
  };
}

function isOpen(recording: LocalRecording | null | undefined): recording is LocalRecording {
  return recording?.status === 'recording' || recording?.status === 'pending';
}

/** Each record says that its call was not recorded. */
function unavailable(server: string | undefined): CallRecordings {
  const at = server === undefined ? {} : { server };
  return {
    pausesForKeys: false,
    begin({ beganAt, before, tell }) {
      const none = { file: null, durationMs: null, bytes: null, pauses: [] };
      tell({ startedAt: beganAt, ...none, ...before, ...at, status: 'failed', trouble: 'unavailable' });
      return { tape: undefined, isPausedBy: () => false, pause() {}, resume() {} };
    },
    endLeft() {},
    end() {},
    leave() {},
  };
}
