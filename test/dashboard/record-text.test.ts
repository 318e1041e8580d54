import { describe, expect, it } from 'vitest';
import type { CallFact } from '../../src/contract/call-event.js';
import { inChunks } from '../../src/dashboard/breather.js';
import { listPieces, recordPieces } from '../../src/dashboard/record-text.js';
import { replayCall } from '../../src/events/reduce.js';
import { say, stamp, started, turn } from '../support/call-facts.js';

function recordOf(turns: number) {
  const facts = Array.from({ length: turns }, (_, index): CallFact[] => [
    say(`שלום "${index}"\n`, { id: `e${index}`, turnIndex: index }),
    { type: 'turn.completed', turn: turn(index, { totalMs: index }) },
  ]);
  const record = replayCall(stamp([started(), ...facts.flat()]));
  if (record === undefined) throw new Error('no facts');
  return record;
}

describe('the text of a record', () => {
  it.each([0, 1, 49, 50, 51, 1000])('of %i turns is that of the whole, in pieces', (turns) => {
    const record = recordOf(turns);
    const pieces = [...recordPieces(record)];
    expect(JSON.parse(pieces.join(''))).toEqual(record);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000);
  });

  it('goes out in chunks, each of whole pieces', async () => {
    const records = [recordOf(1), recordOf(200), recordOf(0)];
    const chunks: Uint8Array[] = [];
    for await (const chunk of inChunks(listPieces(records, recordPieces))) chunks.push(chunk);
    expect(JSON.parse(Buffer.concat(chunks).toString('utf8'))).toEqual(records);
    for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThanOrEqual(16 * 1024);
    const texts = chunks.map((chunk) => Buffer.from(chunk).toString('utf8'));
    expect(texts.join('')).not.toContain('\ufffd');
  });
});
