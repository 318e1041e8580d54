import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { beforeAll, describe, expect, it } from 'vitest';
import { readTableFile } from '../../../../src/stores/disk/level-files/table-file.js';
import { runs } from '../../../support/depth.js';

const TEXTS = Array.from({ length: 300 }, (_, index) => {
  const noise = Math.abs(Math.sin(index + 1))
    .toString(36)
    .repeat(5);
  return `{"text":"${index} ${'hello '.repeat(index % 90)}${noise}"}`;
});
const key = (index: number) => `call/${String(index).padStart(8, '0')}`;

async function writeTable(compression: boolean): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-level-'));
  const level = new ClassicLevel(folder, { compression });
  await level.batch(TEXTS.map((value, index) => ({ type: 'put', key: key(index), value })));
  await level.del(key(7));
  await level.compactRange(key(0), key(TEXTS.length));
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.ldb'));
  const bytes = await readFile(join(folder, name));
  await level.close();
  await rm(folder, { recursive: true });
  return bytes;
}

describe.each([
  ['plain', false],
  ['packed', true],
])('readTableFile of one that is %s', (_, compression) => {
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await writeTable(compression);
  });
  const truth = () => new Map(TEXTS.flatMap((text, index) => (index === 7 ? [] : [[key(index), text]])));
  /** The last one of each key. */
  const values = ({ entries }: ReturnType<typeof readTableFile>) => {
    const last = entries().sort((a, b) => a.sequence - b.sequence);
    const found = new Map(last.map(({ key: name, value }) => [name, value]));
    return new Map([...found].filter(([, value]) => value !== undefined));
  };

  it('reads what the library has written', () => {
    const file = readTableFile(bytes);
    expect(file.isDamaged).toBe(false);
    expect(values(file)).toEqual(truth());
  });

  it('loses one block for one bit at the most, and no entry of another', () => {
    const expected = truth();
    for (let index = 0; index < bytes.length; index += 97 * runs(5, 1)) {
      const damaged = Buffer.from(bytes);
      damaged[index] = (damaged[index] ?? 0) ^ (1 << (index & 7));
      const file = readTableFile(damaged);
      const found = values(file);
      // Where it is forgotten that a key went away, it is there again.
      const wrong = [...found].filter(([name, value]) => TEXTS[Number(name.slice(5))] !== value);
      expect({ index, wrong }).toEqual({ index, wrong: [] });
      const lost = expected.size - found.size;
      expect(lost === 0 || file.isDamaged, `byte ${index}`).toBe(true);
      expect(lost, `byte ${index}`).toBeLessThan(TEXTS.length / 2);
    }
  });

  it('needs no index to read the blocks before it', () => {
    for (const cut of [1, 48, 60]) {
      const file = readTableFile(bytes.subarray(0, bytes.length - cut));
      expect(file.isDamaged).toBe(true);
      expect(values(file)).toEqual(truth());
    }
    const noFooter = Buffer.from(bytes).fill(0, bytes.length - 48);
    expect(values(readTableFile(noFooter))).toEqual(truth());
  });
});
