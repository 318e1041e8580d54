import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { makeFolder } from '../support/data-folder.js';
import { runs } from '../support/depth.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** The second one finds what the first has left, and the third what a kill amid a few calls has. */
const KILLS = runs(3, 30);
/** Kills that one folder lives through: what it holds is read after each of them. */
const KILLS_A_FOLDER = 10;
const CHILD = new URL('./crash-child.mjs', import.meta.url).pathname;

/** Kills the child when it is ready and has announced `more` records since. Returns all that it announced. */
async function runAndKill(folder: string, round: number, more: number): Promise<CallRecord[]> {
  const child = spawn(process.execPath, [CHILD, folder, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const announced: CallRecord[] = [];
  let last = Number.POSITIVE_INFINITY;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    if (line === 'ready') last = announced.length + more;
    else announced.push(...parse(line));
    if (announced.length >= last) child.kill('SIGKILL');
  });
  const read = once(lines, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  await read;
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return announced;
}

/** Nothing for a last line that the kill has cut off: that record was not announced. */
function parse(line: string): CallRecord[] {
  try {
    return [JSON.parse(line) as CallRecord];
  } catch {
    return [];
  }
}

async function withStore<T>(folder: string, look: (store: DiskStore) => Promise<T>): Promise<T> {
  const logger = new RecordedLogger();
  const store = await DiskStore.open({ folder, size: 1_000_000, logger });
  // What a kill cuts off is no damage.
  expect(logger.sentences('error')).toEqual([]);
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

describe('a process that is killed', () => {
  it(`loses no call that has ended, and changes no record (${KILLS} times)`, async () => {
    let folder = '';
    let announced = new Map<string, CallRecord>();
    let wereActive: CallRecord[] = [];
    let [ended, lost] = [0, 0];
    for (let round = 0; round < KILLS; round += 1) {
      if (round % KILLS_A_FOLDER === 0) {
        [folder, announced, wereActive] = [await makeFolder(), new Map(), []];
      }
      const heard = await runAndKill(folder, round, round % 2 === 0 ? 100 : Math.floor(Math.random() * 200));
      for (const record of heard) {
        expect(announced.has(record.callId), `${record.callId} is announced once`).toBe(false);
        announced.set(record.callId, record);
      }
      ended += heard.length;
      for (const before of wereActive) {
        const record = announced.get(before.callId);
        lost += 1;
        expect(record).toMatchObject({ status: 'completed', endReason: 'process-lost', outcome: 'answered' });
        expect(record?.turnCount).toBe(before.turnCount);
        expect(record?.endedAt).toBeGreaterThanOrEqual(before.startedAt);
      }
      wereActive = await withStore(folder, async (store) => {
        for (const record of announced.values()) {
          const kept = await store.get(record.callId);
          expect(kept).toEqual(record);
          const texts = kept?.transcript ?? [];
          expect(texts.filter(({ text, final }) => !final || !text.startsWith('final'))).toEqual([]);
        }
        return store.active();
      });
    }
    expect(ended).toBeGreaterThan(KILLS);
    expect(lost).toBeGreaterThan(0);
  }, 600_000);
});
