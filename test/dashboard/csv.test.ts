import { expect, it } from 'vitest';
import { csvRow } from '../../src/dashboard/csv.js';
import { replayCall } from '../../src/events/reduce.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { ended, stamp, started } from '../support/call-facts.js';

function cellsWith(message: string): string {
  const record = replayCall(stamp([started(), ended({ error: { code: 'X', message } })])) as CallRecord;
  const row = csvRow(record);
  const start = row.indexOf(',X,') + 3;
  return row.slice(start, row.indexOf(',node-1,', start));
}

it.each([
  ['a carriage return alone', 'one\rtwo', '"one\rtwo"'],
  ['a line feed alone', 'one\ntwo', '"one\ntwo"'],
  ['a comma', 'one,two', '"one,two"'],
  ['a quote', 'one"two', '"one""two"'],
  ['a space at the end', 'one ', '"one "'],
  ['nothing of that', 'one two', 'one two'],
])('quotes %s', (_, text, cell) => {
  expect(cellsWith(text)).toBe(cell);
});
