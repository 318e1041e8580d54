// Contract of the ordered log of facts that a disk store writes to.
import type { KeyRange, Row } from './row.js';

/** A row as it was read. */
export type StoredRow = readonly [key: string, value: string];

/** What may fail rejects with whatever the disk says. */
export interface EventLog {
  /** All of them or none, and synced: when it resolves they outlast the process and the machine. */
  append(rows: readonly Row[]): Promise<void>;
  /** Forgets a call and all of its facts, of which there are `rows`; all of them or none. */
  drop(call: number, rows: number): Promise<void>;
  /** How many rows each call that is over has at least. */
  readonly ended: ReadonlyMap<number, number>;
  /** Rows in the order of their keys, many at a time. */
  read(range: KeyRange): AsyncIterable<readonly StoredRow[]>;
  /** After a failure: nothing that was appended before is lost. Rejects as long as the disk fails. */
  reopen(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
