// The folder with one file per live call. A process that dies leaves its files there, and one file more that says when it was alive last.
import { open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '../base/clock.js';
import { dataLane } from '../base/disk-lane.js';
import { describeError, type Logger } from '../base/log.js';
import { makeFolder } from '../base/make-folder.js';

/** Name of the file whose time says that the process is alive. */
const ALIVE = 'alive';
/** How often it is touched, in milliseconds. */
const ALIVE_EVERY_MS = 500;
/** Of a call: what no file system takes for a path. `next`: a write that has not taken its place. */
const FILE = /^(?<callId>[\w-]{1,100})\.json(?<next>\.next)?$/;

/** What the last process has left: files by call, and when it was alive last, in epoch milliseconds. */
export interface LeftStates {
  /** The newest text first, of which only the beginning may be there. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly lastAliveAt: number;
}

export interface StateFolderOptions {
  /** Made with mode 0700 if it is not there. One process at a time may use it. */
  readonly folder: string;
  /** Each write is on the disk before it counts, should the power fail. */
  readonly isSynced: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class StateFolder {
  readonly #options: StateFolderOptions;
  #timer: Timer | undefined;
  #isFailing = false;
  #isClosed = false;

  private constructor(options: StateFolderOptions) {
    this.#options = options;
  }

  /** Rejects with the error of the file system. */
  static async open(options: StateFolderOptions): Promise<StateFolder> {
    await makeFolder(options.folder);
    return new StateFolder(options);
  }

  /** To be called before the first write. Rejects with the error of the file system. */
  async read(): Promise<LeftStates> {
    const { folder } = this.#options;
    const texts = new Map<string, string[]>();
    let lastAliveAt = 0;
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const { callId, next } = FILE.exec(name)?.groups ?? {};
      if (name === ALIVE) lastAliveAt = Math.round((await stat(path)).mtimeMs);
      else if (callId !== undefined) {
        const text = await readFile(path, 'utf8').catch(() => '');
        const others = texts.get(callId) ?? [];
        texts.set(callId, next === undefined ? [...others, text] : [text, ...others]);
      } else await rm(path, { force: true, recursive: true });
    }
    return { texts, lastAliveAt };
  }

  /** The process says from now on that it is alive. */
  async live(): Promise<void> {
    const path = join(this.#options.folder, ALIVE);
    await writeFile(path, '', { mode: 0o600 });
    const touch = async () => {
      const now = new Date(this.#options.clock.wallNow());
      await dataLane.run(() => utimes(path, now, now)).catch(() => {});
      if (!this.#isClosed) this.#timer = this.#options.clock.after(ALIVE_EVERY_MS, () => void touch());
    };
    await touch();
  }

  async write(callId: string, text: string): Promise<void> {
    const path = this.#pathOf(callId);
    if (path === undefined || this.#isClosed) return;
    const next = `${path}.next`;
    await this.#attempt(async () => {
      if (this.#options.isSynced) {
        const file = await open(next, 'w', 0o600);
        try {
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
      } else await writeFile(next, text, { mode: 0o600 });
      await rename(next, path);
    });
  }

  async remove(callId: string): Promise<void> {
    const path = this.#pathOf(callId);
    if (path === undefined) return;
    await this.#attempt(async () => {
      await rm(path, { force: true });
      await rm(`${path}.next`, { force: true, recursive: true });
    });
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #pathOf(callId: string): string | undefined {
    const name = `${callId}.json`;
    return FILE.test(name) ? join(this.#options.folder, name) : undefined;
  }

  /** Says once that it fails, and once that it works again. */
  async #attempt(task: () => Promise<void>): Promise<void> {
    const { folder, logger } = this.#options;
    try {
      await dataLane.run(task);
      if (this.#isFailing) logger.info({ folder }, 'keeping live calls on disk again');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        logger.error(
          { folder, ...describeError(error) },
          'live calls are not kept on disk: they would end with this process',
        );
      this.#isFailing = true;
    }
  }
}
