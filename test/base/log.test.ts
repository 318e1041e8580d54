import { expect, it } from 'vitest';
import { withFields } from '../../src/base/log.js';
import { RecordedLogger } from '../support/recorded-logger.js';

it('fields of a logger are on each of its lines, unless the line has its own', () => {
  const logger = new RecordedLogger();
  const named = withFields(logger, { callId: 'call-1', a: 1 });
  for (const level of ['debug', 'info', 'warn', 'error'] as const) named[level]({ a: 2 }, level);
  expect(logger.lines).toEqual(
    ['debug', 'info', 'warn', 'error'].map((level) => ({
      level,
      fields: { callId: 'call-1', a: 2 },
      sentence: level,
    })),
  );
});
