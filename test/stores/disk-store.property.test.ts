import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { reduceCall } from '../../src/events/reduce.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { ended, started, turn } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { runs } from '../support/depth.js';

const entryId = fc.constantFrom('a', 'b', 'c');
const fact: fc.Arbitrary<CallFact> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(started()) },
  {
    weight: 10,
    arbitrary: fc
      .record({ id: entryId, text: fc.string({ unit: 'binary', maxLength: 8 }), final: fc.boolean() })
      .map(({ id, text, final }) => ({
        type: 'transcript.segment' as const,
        entry: { id, text, final, turnIndex: 0, role: 'user' as const, at: 1 },
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .nat(3)
      .map((index) => ({ type: 'turn.completed' as const, turn: turn(index, { totalMs: index }) })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('1', '#').map((digit) => ({ type: 'dtmf.received' as const, digit })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'incident.noted' as const, code: 'X', message: 'noted' }) },
  {
    weight: 1,
    arbitrary: fc.constant({
      type: 'recording.completed' as const,
      recording: { url: null, durationMs: 1, status: 'completed' as const },
    }),
  },
  { weight: 1, arbitrary: fc.constant(ended()) },
);

/** A fact of one of a few calls, a repetition of its last one, or a restart. */
const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ type: fc.constant('fact' as const), call: fc.nat(4), fact, gap: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('repeat' as const), call: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('restart' as const) }) },
);

/** The plain reducer, with the rule that a fact opens a record only if it says who talks to whom. */
class Model {
  readonly events = new Map<string, CallEvent[]>();
  readonly records = new Map<string, CallRecord>();

  take(event: CallEvent): void {
    this.events.set(event.callId, [...(this.events.get(event.callId) ?? []), event]);
    const before = this.records.get(event.callId);
    if (before === undefined && event.type !== 'call.started') return;
    this.records.set(event.callId, reduceCall(before, event));
  }
}

/** What a restart takes away from a record: partial texts that nobody has finished, and which fact came last of those. */
function settled({ seq: _seq, ...record }: CallRecord) {
  if (record.status === 'completed') return record;
  const transcript = record.transcript.map((entry) => (entry.final ? entry : { ...entry, text: '' }));
  return { ...record, transcript };
}

it('has the records of the plain reducer, whatever comes and however often it restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const folder = await makeFolder();
      const model = new Model();
      let store = await DiskStore.open({ folder });
      let seq = 0;
      for (const next of steps) {
        if (next.type === 'restart') {
          await store.close();
          store = await DiskStore.open({ folder });
          continue;
        }
        const callId = `call-${next.call}`;
        let event = model.events.get(callId)?.at(-1);
        if (next.type === 'fact') {
          seq += 1 + next.gap;
          event = { callId, nodeId: `node-${seq % 2}`, term: 1, seq, at: 1000 + seq, ...next.fact };
        }
        if (event === undefined) continue;
        model.take(event);
        await store.append(event);
      }
      for (const restarts of [0, 1]) {
        if (restarts > 0) {
          await store.close();
          store = await DiskStore.open({ folder });
        }
        const { calls } = await store.list({ limit: 500 });
        expect(calls).toHaveLength(model.records.size);
        for (const record of calls) {
          const expected = model.records.get(record.callId);
          if (expected === undefined) throw new Error('a record of nothing');
          expect(settled(record)).toStrictEqual(settled(expected));
          if (record.status === 'completed') expect(record.seq).toBe(expected.seq);
        }
      }
      await store.close();
    }),
    { numRuns: runs(15, 40) },
  );
}, 120_000);
