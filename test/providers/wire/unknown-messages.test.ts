import { expect, it } from 'vitest';
import { createUnknownLog } from '../../../src/providers/wire/unknown-messages.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

it('notes a kind of message once, and none that is known', () => {
  const logger = new RecordedLogger();
  const note = createUnknownLog({ logger, known: ['Metadata'] });
  for (const name of ['Metadata', 'Weather', 'Weather', 'Tides']) note(name);
  expect(logger.lines.map(({ fields }) => fields)).toEqual([{ type: 'Weather' }, { type: 'Tides' }]);
});

it('notes no more than fifty kinds of a service that makes up names', () => {
  const logger = new RecordedLogger();
  const note = createUnknownLog({ logger });
  for (let count = 0; count < 60; count += 1) note(`kind ${count}`);
  expect(logger.lines).toHaveLength(50);
});
