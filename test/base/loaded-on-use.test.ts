import { describe, expect, it } from 'vitest';
import { loadedOnUse } from '../../src/base/loaded-on-use.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('loadedOnUse', () => {
  it('loads once, with the first call, and runs the calls in order', async () => {
    const heard: string[] = [];
    let loads = 0;
    const run = loadedOnUse(
      async () => {
        loads += 1;
        return (word: string) => void heard.push(word);
      },
      () => {},
    );
    await turn();
    expect(loads).toBe(0);
    run('a');
    run('b');
    expect(heard).toEqual([]);
    await turn();
    run('c');
    expect(heard).toEqual(['a', 'b', 'c']);
    expect(loads).toBe(1);
  });

  it('says of every call why it cannot run', async () => {
    const failures: unknown[] = [];
    const run = loadedOnUse<[string]>(
      () => Promise.reject(new Error('gone')),
      (error, word) => failures.push([(error as Error).message, word]),
    );
    run('a');
    run('b');
    await turn();
    expect(failures).toEqual([
      ['gone', 'a'],
      ['gone', 'b'],
    ]);
  });

  it('says what a call has thrown that waited, and nothing of it ends the process', async () => {
    const failures: unknown[] = [];
    const run = loadedOnUse<[string]>(
      async () => (word) => {
        throw new Error(`${word} failed`);
      },
      (error) => {
        failures.push((error as Error).message);
        throw error;
      },
    );
    run('a');
    await turn();
    expect(failures).toEqual(['a failed']);
  });
});
