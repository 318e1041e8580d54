import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { root } from './common-config.js';
import { LONGEST, LongestFirst } from './longest-first.js';

/** Of a fresh clone: nobody knows how long a file takes, or how large it is. */
const CONTEXT = {
  config: { root },
  cache: { getFileTestResults: () => undefined, getFileStats: () => undefined },
} as unknown as Vitest;

function specification(path: string): TestSpecification {
  const project = { name: 'group', config: { sequence: { groupOrder: 0 }, isolate: true } };
  return { moduleId: join(root, path), project } as unknown as TestSpecification;
}

it('names files that there are', () => {
  expect(LONGEST.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('begins with the longest, and keeps the order of all others', async () => {
  const others = ['test/base/sse.test.ts', 'test/base/log.test.ts'];
  const files = [...others, ...LONGEST.toReversed()].map(specification);
  const sorted = await new LongestFirst(CONTEXT).sort(files);
  expect(sorted).toEqual([...LONGEST, ...others].map(specification));
});
