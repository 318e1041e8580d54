// A standard client behind a line that breaks at any byte, while calls go on.
import { EventSource } from 'eventsource';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { CallEvent, CallEventType } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Snapshot } from '../../src/contract/dashboard-api.js';
import { ReplayRing } from '../../src/dashboard/replay-ring.js';
import { applyEvent, applySnapshot, EMPTY_STATE } from '../../src/dashboard/ui/state/page-state.js';
import { reduceCall } from '../../src/events/reduce.js';
import { toSummary } from '../../src/events/summarize.js';
import { anyPicks, callsOfEvents, interleave } from '../support/call-event-arbitraries.js';
import { startCuttingProxy } from '../support/cutting-proxy.js';
import { type DashboardServer, startDashboard } from '../support/dashboard-server.js';
import { soon } from '../support/soon.js';

const TYPES: readonly CallEventType[] = [
  'call.status',
  'call.started',
  'phase.changed',
  'language.changed',
  'agent.changed',
  'transcript.segment',
  'turn.started',
  'turn.completed',
  'cost.updated',
  'dtmf.received',
  'amd.detected',
  'recording.completed',
  'local-recording.updated',
  'transfer.updated',
  'incident.noted',
  'call.ended',
];

/** The wait that the server asks for is for people. */
const impatient = (text: string) => text.replace('retry: 2000', 'retry: 0002');

interface Heard {
  readonly snapshots: number;
  readonly facts: CallEvent[];
}

/** Reads through broken lines until the client knows all that the server knows. */
async function readThrough(
  server: DashboardServer,
  options: { cuts: readonly number[]; events: readonly CallEvent[]; pauses: readonly number[] },
) {
  const proxy = await startCuttingProxy(server.port, options.cuts, impatient);
  const source = new EventSource(`${proxy.url}/api/dashboard/events`);
  const heard: Heard & { snapshots: number } = { snapshots: 0, facts: [] };
  let page = EMPTY_STATE;
  source.addEventListener('snapshot', (message) => {
    heard.snapshots += 1;
    page = applySnapshot(page, JSON.parse(message.data as string) as Snapshot);
  });
  for (const type of TYPES)
    source.addEventListener(type, (message) => {
      const event = JSON.parse(message.data as string) as CallEvent;
      expect(event.type).toBe(type);
      heard.facts.push(event);
      page = applyEvent(page, event);
    });
  for (const [index, event] of options.events.entries()) {
    server.publish(event);
    const pause = options.pauses[index % options.pauses.length] ?? 0;
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  await server.bus.settled();
  const known = () =>
    [...page.active.values(), ...page.history].map(({ callId, seq }) => `${callId} ${seq}`).sort();
  const records = (await server.store.list({ limit: 500 })).calls;
  const wanted = records.map(({ callId, seq }) => `${callId} ${seq}`).sort();
  try {
    await soon(() => expect(known()).toEqual(wanted));
  } finally {
    source.close();
    await proxy.close();
  }
  return { heard, page, records, connections: proxy.connections };
}

describe('an event stream over a line that breaks', () => {
  it('loses no fact and brings none twice, wherever it breaks', async () => {
    let broken = 0;
    await fc.assert(
      fc.asyncProperty(
        callsOfEvents,
        anyPicks,
        // The first connection lives until the client knows how soon it may come back.
        fc.tuple(
          fc.integer({ min: 600, max: 5000 }),
          fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 7 }),
        ),
        fc.array(fc.constantFrom(0, 0, 0, 1, 12), { minLength: 1, maxLength: 20 }),
        async (calls, picks, [first, later], pauses) => {
          const server = await startDashboard();
          try {
            const events = interleave(calls, picks);
            const { heard, page, records, connections } = await readThrough(server, {
              cuts: [first, ...later],
              events,
              pauses,
            });
            broken += connections - 1;
            // Facts are in order and whole: behind the first of a call that is heard, each comes once, and none is missing.
            const last = new Map<string, number>();
            for (const { callId, seq } of heard.facts) {
              const before = last.get(callId);
              if (before !== undefined && heard.snapshots === 1)
                expect([callId, seq]).toEqual([callId, before + 1]);
              else if (before !== undefined) expect(seq).toBeGreaterThan(before);
              last.set(callId, seq);
            }
            const expected = calls.map((own) => own.reduce<CallRecord | undefined>(reduceCall, undefined)!);
            expect(records.map(({ callId }) => callId).sort()).toEqual(
              expected.map(({ callId }) => callId).sort(),
            );
            for (const record of expected) {
              const shown =
                page.active.get(record.callId) ?? page.history.find(({ callId }) => callId === record.callId);
              expect(toSummary(shown as CallRecord)).toEqual(toSummary(record));
              const whole = page.active.get(record.callId) ?? page.ended.get(record.callId);
              if (whole !== undefined) expect(whole).toEqual(record);
            }
          } finally {
            await server.close();
          }
        },
      ),
      { numRuns: 15 },
    );
    expect(broken).toBeGreaterThan(5);
  });

  it('starts over with a snapshot where the server does not know any more what it told', async () => {
    const server = await startDashboard();
    const [events = []] = fc.sample(callsOfEvents, { numRuns: 1, seed: 5 })[0] ?? [];
    // As after a restart: every id is of another process.
    vi.spyOn(ReplayRing.prototype, 'positionOf').mockReturnValue(null);
    const read = await readThrough(server, { cuts: [700, 900], events, pauses: [10] });
    expect(read.connections).toBe(3);
    expect(read.heard.snapshots).toBeGreaterThan(0);
    await server.close();
  });
});
