import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecordFile } from '../../../../src/stores/disk/level-files/record-file.js';

/** A log as the library writes it, with a record for each of the texts. */
async function writeLog(texts: readonly string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-level-'));
  const level = new ClassicLevel(folder);
  await level.open();
  for (const [index, text] of texts.entries()) await level.put(`key-${index}`, text);
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.log'));
  const bytes = await readFile(join(folder, name));
  await level.close();
  await rm(folder, { recursive: true });
  return bytes;
}

const hexOf = (records: readonly Buffer[]) => records.map((record) => record.toString('hex'));

describe('readRecordFile', () => {
  let bytes: Buffer;
  let records: string[];
  beforeAll(async () => {
    bytes = await writeLog(Array.from({ length: 6 }, (_, index) => `text ${index} `.repeat(5 + index)));
    records = hexOf(readRecordFile(bytes).records);
  });

  it('reads what the library has written, over the ends of blocks', async () => {
    const texts = [10, 32_700, 5, 70_000, 32_740, 3].map((length, index) => `${index}`.repeat(length));
    const file = readRecordFile(await writeLog(texts));
    expect(file).toMatchObject({ isDamaged: false, tornBytes: 0 });
    expect(file.records.map((record) => record.toString().slice(-3))).toEqual(
      texts.map((text) => text.slice(-3)),
    );
  });

  it('loses one record for one bit, and says so', () => {
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const file = readRecordFile(damaged);
      const lost = records.filter((record) => !hexOf(file.records).includes(record));
      const isReported = file.isDamaged || file.tornBytes > 0;
      if (lost.length !== 1 || file.records.length !== 5 || !isReported) {
        expect({ bit, lost, isReported }).toEqual('one record that is lost');
      }
    }
  });

  it('has the whole records before the place where a file ends, and says how much is behind them', () => {
    for (let length = 0; length <= bytes.length; length += 1) {
      const { records: left, isDamaged, tornBytes } = readRecordFile(bytes.subarray(0, length));
      expect(hexOf(left)).toEqual(records.slice(0, left.length));
      expect(isDamaged).toBe(false);
      const whole = left.reduce((sum, record) => sum + 7 + record.length, 0);
      expect(tornBytes).toBe(length - whole);
    }
  });

  it('goes on behind a block that is gone', async () => {
    const log = await writeLog(Array.from({ length: 40 }, (_, index) => `${index},`.repeat(1500)));
    log.fill(0, 32_768, 65_536);
    const file = readRecordFile(log);
    const found = file.records.map((record) => Number(/(\d+),$/.exec(record.toString())?.[1]));
    expect(file.isDamaged).toBe(true);
    expect(found[0]).toBe(0);
    expect(found.at(-1)).toBe(39);
    expect(found.length).toBeGreaterThan(28);
  });
});
