import { readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type CliOptions, createVitest, type Vitest } from 'vitest/node';
import { root } from './support/common-config.js';
import { isDeep } from './support/depth.js';

const NOT_OF_THE_SUITE = /^(clients\/python|conformance|live)\//;

let vitest: Vitest | undefined;

afterEach(() => vitest?.close());

/** What is run: the files in their groups, and how many workers each group has. */
async function asked(commandLine: CliOptions) {
  const options = { ...commandLine, config: 'test/vitest.config.ts', root, watch: false };
  vitest = await createVitest('test', options);
  const files = await vitest.globTestSpecifications();
  return {
    files: files.map(({ moduleId }) => relative(root, moduleId)),
    workers: vitest.projects.map(({ name, config }) => [name, config.maxWorkers]),
    order: vitest.projects.map(({ config }) => config.sequence.groupOrder),
  };
}

describe('the groups of test files', () => {
  it('have every file once', async () => {
    const { files, workers } = await asked({});
    const all = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' });
    const isOfTheSuite = (file: string) =>
      file.endsWith('.test.ts') &&
      !NOT_OF_THE_SUITE.test(file) &&
      (isDeep || !file.endsWith('.deep.test.ts'));
    const wanted = all.filter(isOfTheSuite);
    expect(files.sort()).toEqual(wanted.map((file) => `test/${file}`).sort());
    expect(workers).toEqual([
      ['virtual', 3],
      ['units', 3],
      ['providers', 3],
      ['engines', 3],
      ['early', 3],
      ['apart', 3],
      ['real', 3],
    ]);
  });

  it('go by what the command line says of files and workers, and keep their order', async () => {
    const { files, workers, order } = await asked({
      // The words of `--exclude`.
      cliExclude: ['test/e2e/**', 'test/base/**'],
      maxWorkers: 1,
      sequence: { shuffle: { tests: true } },
    });
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => /^test\/(e2e|base)\//.test(file))).toEqual([]);
    expect(workers.map(([, count]) => count)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(order).toEqual([1, 1, 1, 1, 1, 1, 2]);
  });
});
