// Everybody who hears the same facts holds the same records: the live call, the store, a replay, and the page behind a wire.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordWatch } from '../../src/calls/facts/record-watch.js';
import { type CallEvent, LATE_FACTS } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { Snapshot } from '../../src/contract/dashboard-api.js';
import { EventFeed } from '../../src/dashboard/sse.js';
import {
  applyEvent,
  applySnapshot,
  EMPTY_STATE,
  type PageState,
} from '../../src/dashboard/ui/state/page-state.js';
import { EventBus } from '../../src/events/bus.js';
import { reduceCall, replayCall } from '../../src/events/reduce.js';
import { aggregate, roundMoney, toSummary } from '../../src/events/summarize.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import {
  anyPicks,
  anyRepeats,
  callsOfEvents,
  interleave,
  withRepeats,
} from '../support/call-event-arbitraries.js';
import { FakeSink } from '../support/event-sink.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { runs } from '../support/depth.js';

const replay = (events: readonly CallEvent[], from?: CallRecord) =>
  events.reduce<CallRecord | undefined>(reduceCall, from);
const settle = () => new Promise((resolve) => setImmediate(resolve));

const anyDelivery = fc
  .tuple(callsOfEvents, anyPicks, anyRepeats)
  .map(([calls, picks, repeats]) => ({ calls, delivered: withRepeats(interleave(calls, picks), repeats) }));

function show(state: PageState, sink: FakeSink): PageState {
  return sink.messages.reduce(
    (page, { event, data }) =>
      event === 'snapshot' ? applySnapshot(page, data as Snapshot) : applyEvent(page, data as CallEvent),
    state,
  );
}

describe('the records of all who hear the same facts', () => {
  it('are equal, however calls mix and facts repeat', async () => {
    await fc.assert(
      fc.asyncProperty(anyDelivery, fc.nat(), fc.nat(), async ({ calls, delivered }, join, cut) => {
        const logger = new RecordedLogger();
        const bus = new EventBus(logger);
        const store = new MemoryStore();
        const clock = new FakeClock();
        bus.subscribeDurable((event) => store.append(event));
        const watch = new RecordWatch(bus);
        const feed = new EventFeed({ store, bus, clock, logger });
        const live = new Map(calls.map((events, index) => [index, watch.ended(events[0]?.callId ?? '')]));
        const read = (lastEventId: string | null) => {
          const sink = new FakeSink();
          return { sink, leave: feed.open(sink, { lastEventId, controls: true }) };
        };
        const publish = async (events: readonly CallEvent[]) => {
          for (const event of events) bus.publish(event);
          await bus.settled();
          await clock.advanceAsync(100);
          await settle();
        };
        // The page comes in the middle, and loses its connection once.
        const [from, to] = [join % (delivered.length + 1), cut % (delivered.length + 1)].sort(
          (a, b) => a - b,
        );
        await publish(delivered.slice(0, from));
        const first = read(null);
        await settle();
        await publish(delivered.slice(from, to));
        first.leave();
        const again = read(first.sink.lastId);
        await settle();
        await publish(delivered.slice(to));
        const page = show(show(EMPTY_STATE, first.sink), again.sink);

        const expected = calls.map((events) => replay(events)!);
        for (const [index, record] of expected.entries()) {
          const { callId } = record;
          expect(await store.get(callId)).toEqual(record);
          expect(replay(JSON.parse(JSON.stringify(calls[index])) as CallEvent[])).toEqual(record);
          const shown = page.active.get(callId) ?? page.history.find((call) => call.callId === callId);
          expect(shown && toSummary(shown as CallRecord)).toEqual(toSummary(record));
          const whole = page.active.get(callId) ?? page.ended.get(callId);
          if (whole !== undefined) expect(whole).toEqual(record);
          if (record.status !== 'completed') continue;
          const end = calls[index]!.findIndex((event) => event.type === 'call.ended');
          expect(await live.get(index)).toEqual(replay(calls[index]!.slice(0, end + 1)));
        }
        expect(await store.aggregates()).toEqual(aggregate(expected));
        expect(page.aggregates?.totalCost).toBe(
          roundMoney(expected.reduce((sum, record) => sum + record.cost.total, 0)),
        );
        feed.close();
      }),
      { numRuns: runs(50, 150) },
    );
  });

  it('are those of the whole after a replay that starts over, in part or from the first fact', () => {
    fc.assert(
      fc.property(callsOfEvents, fc.nat(), ([events = []], pick) => {
        const prefix = events.slice(0, pick % (events.length + 1));
        expect(replay(events, replay(prefix))).toEqual(replay(events));
        expect(replay(events, replay(events))).toEqual(replay(events));
      }),
    );
  });
});

describe('a record that is made at one go', () => {
  it('is that of the facts one after the other, whatever comes twice, late or not at all', () => {
    fc.assert(
      fc.property(anyDelivery, fc.array(fc.boolean(), { minLength: 1 }), ({ delivered }, losses) => {
        const events = delivered.filter(
          ({ callId }, index) =>
            callId === 'call-0' && (index === 0 || losses[index % losses.length] !== true),
        );
        const copy = structuredClone(events);
        expect(replayCall(events)).toEqual(replay(events));
        expect(events).toEqual(copy);
      }),
    );
    expect(replayCall([])).toBeUndefined();
  });
});

describe('a record behind a gap', () => {
  const anyGap = fc
    .tuple(callsOfEvents, fc.array(fc.boolean(), { minLength: 1, maxLength: 30 }))
    .map(([[events = []], losses]) => ({
      events,
      // The first fact is there: without it there is no record.
      heard: events.filter((_, index) => index === 0 || losses[index % losses.length] !== true),
    }));
  const lastOf = <T extends CallEvent['type']>(events: readonly CallEvent[], type: T) =>
    events.findLast((event) => event.type === type) as Extract<CallEvent, { type: T }> | undefined;

  it('has what was told, whole, and nothing that was not', () => {
    fc.assert(
      fc.property(anyGap, ({ events, heard }) => {
        const [whole, record] = [replay(events)!, replay(heard)!];
        const isOver = lastOf(heard, 'call.ended') !== undefined;
        expect(record.status === 'completed').toBe(isOver);
        expect(record.cost).toEqual(lastOf(heard, 'cost.updated')?.cost ?? replay(events.slice(0, 1))?.cost);
        expect(record.recording).toEqual(lastOf(heard, 'recording.completed')?.recording ?? null);
        if (isOver) {
          const { endReason, outcome, endedAt, media, error } = whole;
          expect(record).toMatchObject({ endReason, outcome, endedAt, media, error });
        }
        for (const turn of record.turns) expect(whole.turns).toContainEqual(turn);
        for (const incident of record.incidents) expect(whole.incidents).toContainEqual(incident);
        expect(record.turnCount).toBeLessThanOrEqual(whole.turnCount);
      }),
    );
  });

  it('is the whole again where the lost facts were told again later', () => {
    // Money is told in full each time: losing all but the last fact of it loses nothing.
    fc.assert(
      fc.property(callsOfEvents, ([events = []]) => {
        const last = lastOf(events, 'cost.updated');
        const heard = events.filter((event) => event.type !== 'cost.updated' || event === last);
        expect(replay(heard)).toEqual(replay(events));
      }),
    );
  });
});

describe('after the end', () => {
  it('only late facts change anything but the sequence number', () => {
    const types = new Set<string>();
    fc.assert(
      fc.property(callsOfEvents, callsOfEvents, ([events = []], [more = []]) => {
        const record = replay(events)!;
        if (record.status !== 'completed') return;
        for (const event of more) {
          const after = reduceCall(record, { ...event, callId: record.callId, seq: record.seq + 1 });
          if (LATE_FACTS.includes(event.type)) continue;
          types.add(event.type);
          expect(after).toEqual({ ...record, seq: record.seq + 1 });
        }
      }),
    );
    expect([...types]).toEqual(expect.arrayContaining(['turn.completed', 'call.ended', 'call.started']));
  });
});
