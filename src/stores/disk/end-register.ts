// How many facts a call that is over has on disk, written beside the log: a log that has lost its end looks as if there had never been
// more, and the calls in it as if they had not ended.
import { open, readFile, rename } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { hex } from './row.js';

const FILE_MODE = 0o600;
const LINE = /^([0-9a-f]{8})([0-9a-f]{8})([0-9a-f]{6})$/;
/** The file is written anew when it has so many lines beyond twice those that count. */
const SPARE_LINES = 1000;

/** A line for each change; the last one of a call counts. Loses its own damaged lines only: what the log has, counts. */
export class EndRegister {
  readonly #file: string;
  /** By the number of the call. */
  readonly #rows = new Map<number, number>();
  #lines = 0;

  private constructor(file: string) {
    this.#file = file;
  }

  /** Reads the file, which need not be there. */
  static async open(file: string): Promise<EndRegister> {
    const register = new EndRegister(file);
    const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EIO') return '';
      throw error;
    });
    for (const line of text.split('\n')) register.#take(line);
    return register;
  }

  /** Rows that each call has at least. */
  get rows(): ReadonlyMap<number, number> {
    return this.#rows;
  }

  /** Rows by call; none for one that is gone. Synced when it resolves. */
  async write(changes: ReadonlyMap<number, number>): Promise<void> {
    if (changes.size === 0) return;
    for (const [call, rows] of changes) this.#set(call, rows);
    this.#lines += changes.size;
    if (this.#lines > 2 * this.#rows.size + SPARE_LINES) {
      await put(`${this.#file}.new`, 'w', this.#rows);
      await rename(`${this.#file}.new`, this.#file);
      this.#lines = this.#rows.size;
    } else {
      await put(this.#file, 'a', changes);
    }
  }

  #take(line: string): void {
    const [, sum = '', call = '', rows = ''] = LINE.exec(line) ?? [];
    if (Number.parseInt(sum, 16) !== crc32(`${call}${rows}`)) return;
    this.#lines += 1;
    this.#set(Number.parseInt(call, 16), Number.parseInt(rows, 16));
  }

  #set(call: number, rows: number): void {
    if (rows === 0) this.#rows.delete(call);
    else this.#rows.set(call, rows);
  }
}

async function put(file: string, flags: string, rows: ReadonlyMap<number, number>): Promise<void> {
  const handle = await open(file, flags, FILE_MODE);
  try {
    // Starts with a line end: a line before it may be unfinished.
    await handle.writeFile([...rows].map(([call, count]) => `\n${toLine(call, count)}`).join(''));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function toLine(call: number, rows: number): string {
  const text = `${hex(call, 8)}${hex(rows, 6)}`;
  return `${hex(crc32(text), 8)}${text}`;
}
