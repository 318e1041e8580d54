import { afterEach, expect, it, vi } from 'vitest';
import type { TestCase } from 'vitest/node';
import { SlowTests } from './slow-tests.js';

afterEach(() => void vi.useRealTimers());

const test = (fullName: string) =>
  ({ fullName, module: { relativeModuleId: 'test/a.test.ts' } }) as unknown as TestCase;

it('tests that run for minutes are named, once a minute', () => {
  vi.useFakeTimers();
  const said = vi.spyOn(console, 'log').mockReturnValue();
  const slow = new SlowTests();
  const [ends, hangs] = [test('ends'), test('hangs')];
  slow.onTestRunStart();
  slow.onTestCaseReady(ends);
  slow.onTestCaseReady(hangs);
  vi.advanceTimersByTime(100_000);
  slow.onTestCaseResult(ends);
  vi.advanceTimersByTime(140_000);
  expect(said.mock.calls).toEqual([
    ['has run for 180 s: test/a.test.ts > hangs'],
    ['has run for 240 s: test/a.test.ts > hangs'],
  ]);
  slow.onTestRunEnd();
  vi.advanceTimersByTime(140_000);
  expect(said).toHaveBeenCalledTimes(2);
});
