import { ClassicLevel } from 'classic-level';
import { expect, it } from 'vitest';
import { makeFolder } from '../data-folder.js';
import { virtualClock } from './clock.js';

it('has the clock wait for a database', async () => {
  const level = new ClassicLevel(await makeFolder());
  const happened: string[] = [];
  const work = async () => {
    await level.open();
    const rows = Array.from({ length: 2000 }, (_, row) => ({
      type: 'put' as const,
      key: `${row}`,
      value: 'x'.repeat(1000),
    }));
    await level.batch(rows, { sync: true });
    await level.compactRange('0', '9');
    happened.push(`${(await level.keys().all()).length} rows`);
    await level.close();
    happened.push('closed');
  };
  const working = work();
  await new Promise<void>((resolve) => void virtualClock.after(60_000, resolve));
  happened.push('a minute later');
  await working;
  expect(happened).toEqual(['2000 rows', 'closed', 'a minute later']);
});
