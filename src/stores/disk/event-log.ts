// Contract of the ordered log of facts that a disk store writes to.
import type { KeyRange, Row } from './row.js';

/** A row as it was read. */
export type StoredRow = readonly [key: string, value: string];

/** A call that is deleted. */
export interface Erasure {
  /** Its number, and how many rows it has. */
  readonly call: number;
  readonly rows: number;
  readonly callId: string;
  /** What stays of it. */
  readonly value: string;
  /** Somebody who was deleted before it, and is remembered no longer. */
  readonly forgottenId?: string | undefined;
}

/** What may fail rejects with whatever the disk says. */
export interface EventLog {
  /** All of them or none, and synced: when it resolves they outlast the process and the machine. */
  append(rows: readonly Row[]): Promise<void>;
  /** Forgets a call and all of its facts, of which there are `rows`; all of them or none. */
  drop(call: number, rows: number): Promise<void>;
  /** Deletes a call: what stays of it is all that is read from now on. All or nothing, and synced. */
  erase(erasure: Erasure): Promise<void>;
  /** When it resolves, no file has a byte of the deleted call any more. One that was not done is gone on with when the log is opened. */
  scrub(erasure: Erasure): Promise<void>;
  /** What stays of deleted calls, in no order. */
  erased(): AsyncIterable<readonly StoredRow[]>;
  /** How many rows each call that is over has at least. */
  readonly ended: ReadonlyMap<number, number>;
  /** Rows in the order of their keys, many at a time. */
  read(range: KeyRange): AsyncIterable<readonly StoredRow[]>;
  /** After a failure: nothing that was appended before is lost. Rejects as long as the disk fails. */
  reopen(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
