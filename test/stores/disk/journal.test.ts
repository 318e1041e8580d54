import { beforeEach, describe, expect, it } from 'vitest';
import type { Erasure, EventLog, StoredRow } from '../../../src/stores/disk/event-log.js';
import { Journal } from '../../../src/stores/disk/journal.js';
import { type Row, toKey } from '../../../src/stores/disk/row.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** A log whose disk can be full, or take its time. */
class FakeLog implements EventLog {
  readonly batches: number[] = [];
  readonly keys = new Set<string>();
  readonly ended = new Map<number, number>();
  readonly scrubbed: number[] = [];
  failure: Error | undefined;
  /** Of the files of deleted calls alone. */
  scrubFailure: Error | undefined;
  /** Awaited by every write. */
  gate: Promise<void> = Promise.resolve();
  isClosed = false;

  async append(rows: readonly Row[]): Promise<void> {
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    this.batches.push(rows.length);
    for (const row of rows) this.keys.add(toKey(row));
  }

  async drop(call: number, rows: number): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    for (let row = 0; row < rows; row += 1) this.keys.delete(toKey({ call, row }));
  }

  async erase({ call, rows }: Erasure): Promise<void> {
    await this.drop(call, rows);
  }

  async scrub({ call }: Erasure): Promise<void> {
    await this.gate;
    if (this.scrubFailure !== undefined) throw this.scrubFailure;
    this.scrubbed.push(call);
  }

  async *erased(): AsyncGenerator<StoredRow[]> {}

  async *read(): AsyncGenerator<StoredRow[]> {}

  async reopen(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

const full = () =>
  Object.assign(new Error('IO error: 000003.log: No space left on device'), { code: 'LEVEL_IO_ERROR' });

describe('Journal', () => {
  let log: FakeLog;
  let clock: FakeClock;
  let logger: RecordedLogger;
  let journal: Journal;
  const add = (call: number, ...rows: number[]) => {
    for (const row of rows) journal.add({ call, row, value: `${call}.${row}`, isOver: false });
  };
  /** Lets promises run, and no time pass. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };

  beforeEach(() => {
    log = new FakeLog();
    clock = new FakeClock();
    logger = new RecordedLogger();
    journal = new Journal({ log, folder: '/data/server', clock, logger });
  });

  it('writes some facts at a time, a while after the first', async () => {
    add(0, 0);
    await pass(99);
    add(1, 0);
    expect(log.batches).toEqual([]);
    await pass(1);
    expect(log.batches).toEqual([2]);
    add(0, 1);
    await pass(100);
    expect(log.batches).toEqual([2, 1]);
  });

  it('writes at once what somebody waits for, and everything before it', async () => {
    add(0, 0, 1, 2);
    await journal.written();
    expect(log.batches).toEqual([3]);
    await journal.written();
    expect(log.batches).toEqual([3]);
  });

  it('tells who waits when their own facts are written, and those who come meanwhile later', async () => {
    const told: string[] = [];
    let open = () => {};
    const shut = () => {
      log.gate = new Promise((resolve) => {
        open = resolve;
      });
    };
    shut();
    add(0, 0);
    void journal.written().then(() => told.push('first'));
    await settle();
    add(1, 0);
    void journal.written().then(() => told.push('second'));
    await settle();
    expect(told).toEqual([]);
    const openFirst = open;
    shut();
    openFirst();
    await settle();
    expect(told).toEqual(['first']);
    open();
    await settle();
    expect(told).toEqual(['first', 'second']);
    expect(log.batches).toEqual([1, 1]);
  });

  it('hands over a bounded number of facts at a time', async () => {
    add(0, ...Array.from({ length: 1200 }, (_, row) => row));
    await journal.written();
    expect(log.batches).toEqual([500, 500, 200]);
  });

  it('forgets a call, whether it is written or not', async () => {
    add(0, 0, 1);
    await journal.written();
    add(1, 0);
    journal.drop(0, 2);
    journal.drop(1, 1);
    await journal.written();
    expect([...log.keys]).toEqual([]);
    expect(log.batches).toEqual([2]);
  });

  describe('while the disk is full', () => {
    beforeEach(() => {
      log.failure = full();
    });

    it('says so once, and holds up nobody', async () => {
      for (let call = 0; call < 20; call += 1) {
        add(call, 0, 1);
        await journal.written();
        await pass(1000);
      }
      expect(journal.isFailing).toBe(true);
      expect(logger.lines).toEqual([
        {
          level: 'error',
          fields: {
            folder: '/data/server',
            error: 'StoreError',
            code: 'STORE_FAILED',
            message: 'The disk of /data/server is full: make space.',
          },
          sentence: 'cannot write to disk: calls go on, and writing is retried',
        },
      ]);
    });

    it('writes everything in order when there is space again', async () => {
      add(0, 0, 1);
      await pass(100);
      add(0, 2);
      add(1, 0);
      await pass(5000);
      log.failure = undefined;
      await pass(4999);
      expect(log.keys.size).toBe(0);
      await pass(1);
      await settle();
      expect([...log.keys]).toEqual([
        toKey({ call: 0, row: 0 }),
        toKey({ call: 0, row: 1 }),
        toKey({ call: 0, row: 2 }),
        toKey({ call: 1, row: 0 }),
      ]);
      expect(journal.isFailing).toBe(false);
      expect(logger.sentences('info')).toEqual(['writing calls to disk again']);
      add(1, 1);
      await pass(100);
      expect(log.keys.has(toKey({ call: 1, row: 1 }))).toBe(true);
    });

    it('does not write calls that were forgotten meanwhile', async () => {
      add(0, 0, 1);
      add(1, 0);
      const writing = journal.written();
      journal.drop(0, 2);
      await writing;
      log.failure = undefined;
      await pass(5000);
      await settle();
      expect([...log.keys]).toEqual([toKey({ call: 1, row: 0 })]);
    });

    it('tries once more before it closes', async () => {
      add(0, 0);
      await journal.written();
      log.failure = undefined;
      await journal.close();
      expect([log.keys.size, log.isClosed]).toEqual([1, true]);
    });
  });

  it('writes what is left when it closes, and takes nothing more', async () => {
    add(0, 0);
    await journal.close();
    await journal.close();
    add(0, 1);
    journal.drop(0, 1);
    await journal.written();
    await pass(1000);
    expect([...log.keys]).toEqual([toKey({ call: 0, row: 0 })]);
    expect(log.isClosed).toBe(true);
  });

  it('does not wait for ever for a disk that does not answer', async () => {
    log.gate = new Promise(() => {});
    add(0, 0);
    const closed = journal.close();
    await pass(5000);
    await closed;
  });

  it('waits as long as a slow disk still writes', async () => {
    let release = () => {};
    log.append = async (rows) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      log.batches.push(rows.length);
    };
    add(0, ...Array.from({ length: 1200 }, (_, row) => row));
    let isClosed = false;
    const closed = journal.close().then(() => {
      isClosed = true;
    });
    for (let batch = 0; batch < 3; batch += 1) {
      await pass(4000);
      expect(isClosed).toBe(false);
      release();
      await settle();
    }
    await closed;
    expect(log.batches).toEqual([500, 500, 200]);
  });

  describe('a call that is deleted', () => {
    const erasure: Erasure = { call: 1, rows: 2, callId: 'one', value: 'deleted' };

    it('leaves, with what waits of it, and its files are rid of it', async () => {
      add(1, 0, 1);
      add(2, 0);
      await journal.written();
      add(1, 2);
      expect(await journal.erase({ ...erasure, rows: 3 })).toBe(true);
      await journal.written();
      expect([...log.keys]).toEqual([toKey({ call: 2, row: 0 })]);
      expect(log.scrubbed).toEqual([1]);
    });

    it('holds up nobody while its files are rid of it', async () => {
      add(1, 0, 1);
      await journal.written();
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const scrub = log.scrub.bind(log);
      log.scrub = (each) => gate.then(() => scrub(each));
      const erasing = journal.erase(erasure);
      add(2, 0);
      await journal.written();
      expect([[...log.keys], log.scrubbed]).toEqual([[toKey({ call: 2, row: 0 })], []]);
      open();
      expect([await erasing, log.scrubbed]).toEqual([true, [1]]);
    });

    it('is deleted when a disk works again that failed', async () => {
      add(1, 0, 1);
      await journal.written();
      log.failure = full();
      expect(await journal.erase(erasure)).toBe(false);
      log.failure = undefined;
      await pass(5000);
      expect([log.keys.size, log.scrubbed]).toEqual([0, [1]]);
    });

    it('is tried again where its files could not be rid of it', async () => {
      add(1, 0, 1);
      await journal.written();
      log.scrubFailure = full();
      expect(await journal.erase(erasure)).toBe(false);
      await pass(5000);
      await pass(5000);
      expect([log.scrubbed, logger.sentences('error')]).toEqual([
        [],
        Array.from({ length: 3 }, () => 'cannot write to disk: calls go on, and writing is retried'),
      ]);
      log.scrubFailure = undefined;
      await pass(5000);
      expect([log.scrubbed, journal.isFailing]).toEqual([[1], false]);
    });

    it('is waited for by whoever closes the log, as its files are being rid of it', async () => {
      add(1, 0, 1);
      await journal.written();
      let open = () => {};
      log.gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const erasing = journal.erase(erasure);
      await settle();
      const closed = journal.close();
      await settle();
      expect(log.isClosed).toBe(false);
      open();
      await closed;
      expect([await erasing, log.scrubbed, log.isClosed]).toEqual([true, [1], true]);
    });

    it('is not told to be gone by a log that is closed', async () => {
      await journal.close();
      expect(await journal.erase(erasure)).toBe(false);
    });
  });
});
