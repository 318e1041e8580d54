import { expect, it } from 'vitest';
import { ToolRun } from '../../../src/engines/tools/tool-run.js';
import { FakeClock } from '../../support/fake-clock.js';

it('tells how long a tool ran in whole milliseconds', () => {
  const clock = new FakeClock();
  const run = new ToolRun(
    { id: 'one', name: 'one', arguments: {}, argumentsText: '{}' },
    { clock, endsCall: false },
  );
  clock.advance(1.590_83);
  run.settle({ text: 'done', error: null });
  expect(run.record.durationMs).toBe(2);
});
