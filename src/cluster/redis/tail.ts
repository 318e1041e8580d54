// Hears what all nodes say happened, on a connection of its own: each question waits there for the next facts.
import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { RedisLink, type RedisLinkParts, type Reply } from './link.js';

/** How long one question waits for facts, in milliseconds. */
const WAIT_MS = 2000;
/** What the answer may take beside that. */
const ANSWER_MS = 2000;
const RETRY_MS = 1000;
/** Entries in one answer. */
const BATCH = 200;
const START = '0-0';

export class RedisTail {
  readonly #link: RedisLink;
  readonly #clock: Clock;
  readonly #key: string;
  readonly #take: (fields: readonly Buffer[]) => void;
  readonly #closing = new AbortController();
  /** Of the last entry that was taken. */
  #position = START;

  /** `take` gets the values of each entry, in order. */
  constructor(parts: RedisLinkParts, key: string, take: (fields: readonly Buffer[]) => void) {
    this.#link = new RedisLink(parts);
    this.#clock = parts.clock;
    this.#key = key;
    this.#take = take;
    void this.#follow();
  }

  /** The broker has lost what it had: positions in it mean nothing any more. */
  restart(): void {
    this.#position = START;
    // What is asked now was asked from the old position.
    this.#link.close();
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#link.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#link.open(ANSWER_MS);
        if (signal.aborted) this.#link.close();
        else await this.#read();
      } catch {
        await pause(this.#clock, RETRY_MS, signal);
      }
    }
  }

  async #read(): Promise<void> {
    const from = this.#position;
    const limits = ['COUNT', String(BATCH), 'BLOCK', String(WAIT_MS)];
    const args = ['XREAD', ...limits, 'STREAMS', this.#key, from];
    const reply = await this.#link.run(args, WAIT_MS + ANSWER_MS);
    if (this.#position !== from || this.#closing.signal.aborted) return;
    for (const { id, fields } of entriesOf(reply)) {
      this.#position = id;
      this.#take(fields);
    }
  }
}

function entriesOf(reply: Reply): { id: string; fields: readonly Buffer[] }[] {
  const [stream] = (reply ?? []) as unknown as [[Buffer, [Buffer, Buffer[]][]]?];
  return (stream?.[1] ?? []).map(([id, fields]) => ({
    id: id.toString('latin1'),
    fields: fields.filter((_, index) => index % 2 === 1),
  }));
}
