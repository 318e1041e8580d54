import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { decodeRows, encodeRow, hex } from '../../../src/stores/disk/row.js';
import { ended, stamp, started } from '../../support/call-facts.js';

const [first, second] = stamp([started(), ended()]) as [CallEvent, CallEvent];

const written = (events: readonly CallEvent[]) =>
  events.map((event, index) => encodeRow(event, index === 0 ? undefined : first));

describe('the rows of a call', () => {
  it('are read as they were written, whichever processes had the call', () => {
    const taken = { ...second, nodeId: 'node-2', originId: 'node-1', term: 2 };
    const back = { ...second, term: 3, seq: 3 };
    const events = [first, second, taken, { ...taken, seq: 3 }, back];
    expect(decodeRows(written(events))).toEqual(events);
  });

  it('are read as they were written where the first that is here is of a process that took the call over', () => {
    const begun = { ...first, nodeId: 'node-2', originId: 'node-1', term: 2 };
    const own = { ...second, nodeId: 'node-1', term: 3 };
    const events = [begun, { ...second, nodeId: 'node-2', originId: 'node-1', term: 2 }, own];
    const rows = events.map((event, index) => encodeRow(event, index === 0 ? undefined : begun));
    expect(decodeRows(rows)).toEqual(events);
  });

  it('of one process repeat nothing that all of them share', () => {
    expect(written([first, second])[1]).not.toMatch(/callId|nodeId|term|originId/);
  });

  it('are of the first term where they are older than terms', () => {
    const old = [first, second, { ...second, nodeId: 'node-2', seq: 9 }].map(
      ({ term: _, ...event }, index) => {
        const { callId: __, nodeId, ...rest } = event;
        const json = JSON.stringify(index === 0 ? event : nodeId === 'node-1' ? rest : { nodeId, ...rest });
        return `${hex(crc32(json), 8)}${json}`;
      },
    );
    expect(decodeRows(old)).toEqual([first, second, { ...second, nodeId: 'node-2', seq: 9 }]);
  });
});
