import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { readRecordFile } from '../../../src/stores/disk/level-files/record-file.js';
import { DiskStore } from '../../../src/stores/disk-store.js';
import { ended, say, stamp, started, turn } from '../../support/call-facts.js';
import { makeFolder } from '../../support/data-folder.js';
import { runs } from '../../support/depth.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** What is kept of calls, and how it came to be: copied while the store is open, as a process that is killed leaves it. */
interface Truth {
  readonly folder: string;
  readonly records: ReadonlyMap<string, CallRecord>;
}

const PAGE = 4096;
/** Ended calls by how often the store was opened before they came. */
const SESSIONS = [12, 6, 14];

async function ring(store: DiskStore, callId: string, isOver: boolean): Promise<void> {
  const words = Array.from({ length: 6 }, (_, index) =>
    say(`words ${index} of ${callId}: `.repeat(1 + (callId.length % 3)), { id: `e${index}` }),
  );
  const price = {
    stt: 0.1,
    llm: null,
    tts: 0,
    telephony: 0.2,
    total: 0.3,
    currency: 'USD',
    estimated: true,
  } as const;
  const facts = [
    started({ carrierCallId: `carrier-${callId}` }),
    ...words,
    { type: 'turn.completed' as const, turn: turn(0, { totalMs: callId.length }) },
    ...(isOver ? [ended(), { type: 'cost.updated' as const, cost: price, usage: null }] : []),
  ];
  for (const event of stamp(facts, { callId, at: 1_000_000 })) await store.append(event);
}

async function all(store: DiskStore): Promise<Map<string, CallRecord>> {
  const { calls } = await store.list({ limit: 500 });
  return new Map(calls.map((record) => [record.callId, record]));
}

async function makeTruth(): Promise<Truth> {
  const folder = await makeFolder();
  const size = 20;
  let store = await DiskStore.open({ folder, size });
  for (const [session, calls] of SESSIONS.entries()) {
    for (let call = 0; call < calls; call += 1) await ring(store, `call-${session}-${call}`, true);
    if (session === SESSIONS.length - 1) break;
    await store.close();
    store = await DiskStore.open({ folder, size });
  }
  await ring(store, 'call-up', false);
  // Is on disk when the next one has ended.
  await ring(store, 'call-last', true);
  await store.events('call-last');
  const records = await all(store);
  const killed = await makeFolder();
  await cp(folder, killed, { recursive: true });
  await store.close();
  return { folder: killed, records };
}

/** Calls of which the most were written in one go: on a slow disk several wait for the same one. */
function mostTogether(log: Buffer): number {
  const calls = readRecordFile(log).records.map(
    (write) => new Set(String(write).match(/\bcall-(\d+-\d+|up|last)\b/g)).size,
  );
  return Math.max(0, ...calls);
}

type Damage = (bytes: Buffer) => Buffer | undefined;

const at = (bytes: Buffer, share: number) => Math.floor(share * bytes.length);

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const damage: fc.Arbitrary<readonly [name: string, act: Damage]> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(share, fc.nat(7)).map(
      ([where, bit]) =>
        [
          `bit ${bit} at ${where}`,
          (bytes: Buffer) => {
            const index = at(bytes, where);
            bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
            return bytes;
          },
        ] as const,
    ),
  },
  {
    weight: 4,
    arbitrary: share.map(
      (where) => [`cut at ${where}`, (bytes: Buffer) => bytes.subarray(0, at(bytes, where))] as const,
    ),
  },
  {
    weight: 3,
    arbitrary: share.map(
      (where) =>
        [
          `zeros at ${where}`,
          (bytes: Buffer) => {
            const start = at(bytes, where) & -PAGE;
            bytes.subarray(start, start + PAGE).fill(0);
            return bytes;
          },
        ] as const,
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(share, share).map(
      ([from, to]) =>
        [
          `page of ${from} at ${to}`,
          (bytes: Buffer) => {
            const [source, target] = [at(bytes, from) & -PAGE, at(bytes, to) & -PAGE];
            bytes.copy(bytes, target, source, source + PAGE);
            return bytes;
          },
        ] as const,
    ),
  },
  { weight: 1, arbitrary: fc.constant(['gone', () => undefined] as const) },
);

describe('a store with a damaged file', () => {
  let truth: Truth;
  let files: string[];
  beforeEach(async () => {
    truth = await makeTruth();
    const names = await readdir(truth.folder, { recursive: true });
    files = names.filter((name) => /(\.log|\.ldb|CURRENT|MANIFEST-\d+|LOCK|ended-calls)$/.test(name));
  });

  /** Opens a copy in which one file is damaged. */
  async function openDamaged(file: string, act: Damage) {
    const folder = await makeFolder();
    await cp(truth.folder, folder, { recursive: true });
    const path = join(folder, file);
    const before = await readFile(path);
    const after = act(Buffer.from(before));
    if (after === undefined) await rm(path);
    else await writeFile(path, after);
    const logger = new RecordedLogger();
    const store = await DiskStore.open({ folder, logger });
    const records = await all(store);
    // What was damaged is told once.
    await store.close();
    const quiet = new RecordedLogger();
    const again = await DiskStore.open({ folder, logger: quiet });
    expect(await all(again)).toEqual(records);
    expect(quiet.lines).toEqual([]);
    await again.close();
    await rm(folder, { recursive: true });
    return { records, logger, before, isChanged: after === undefined || !before.equals(after) };
  }

  function check({ records, logger }: { records: Map<string, CallRecord>; logger: RecordedLogger }) {
    let lost = 0;
    for (const [callId, record] of truth.records) {
      const found = records.get(callId);
      if (found === undefined) lost += 1;
      // One that was up when its process was killed may have lost its last facts with it.
      else if (record.status === 'completed') expect(found).toEqual(record);
      else expect(found.status).toBe('active');
    }
    if (lost > 0) expect(logger.lines.length, `${lost} are lost`).toBeGreaterThan(0);
    return lost;
  }

  it('is whole before', async () => {
    const { records, logger } = await openDamaged('calls/CURRENT', (bytes) => bytes);
    expect(records).toEqual(truth.records);
    expect(logger.lines).toEqual([]);
    expect(files.filter((name) => name.endsWith('.ldb')).length).toBeGreaterThan(0);
  });

  it('has each record as it was, or leaves it out and says so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), damage, async (which, [name, act]) => {
        const file = files[which % files.length] ?? '';
        const opened = await openDamaged(file, act);
        const lost = check(opened);
        const isBit = name.startsWith('bit');
        const isSpare = !/\.log|\.ldb/.test(file);
        if (isSpare) expect(lost, `${name} of ${file}`).toBe(0);
        if (isBit && file.endsWith('.log'))
          expect(lost, `${name} of ${file}`).toBeLessThanOrEqual(mostTogether(opened.before));
      }),
      { numRuns: runs(25, 200) },
    );
  }, 600_000);
});
