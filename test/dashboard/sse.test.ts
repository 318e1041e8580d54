import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { LimitError } from '../../src/base/errors.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallPhase } from '../../src/contract/call-record.js';
import { EventFeed, type EventFeedParts } from '../../src/dashboard/sse.js';
import { EventBus } from '../../src/events/bus.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { FakeSink } from '../support/event-sink.js';
import { FakeClock } from '../support/fake-clock.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { SlowStore } from '../support/slow-store.js';
import { soon } from '../support/soon.js';

interface Setup {
  feed: EventFeed;
  bus: EventBus;
  store: MemoryStore;
  clock: FakeClock;
  logger: RecordedLogger;
  read(lastEventId?: string): FakeSink;
  /** Publishes, and lets the time pass in which facts are gathered. */
  tell(events: readonly CallEvent[]): void;
}

function setUp(
  bounds: Partial<Pick<EventFeedParts, 'ring' | 'maxBacklogBytes' | 'entry'>> & { store?: MemoryStore } = {},
): Setup {
  const { store = new MemoryStore(), ...rest } = bounds;
  const logger = new RecordedLogger();
  const clock = new FakeClock();
  const bus = new EventBus(logger);
  bus.subscribeDurable((event) => store.append(event));
  const feed = new EventFeed({ store, bus, clock, logger, ...rest });
  return {
    feed,
    bus,
    store,
    clock,
    logger,
    read(lastEventId) {
      const sink = new FakeSink();
      feed.open(sink, { lastEventId: lastEventId ?? null, controls: true });
      return sink;
    },
    tell(events) {
      for (const event of events) bus.publish(event);
      clock.advance(GATHER_MS);
    },
  };
}

const GATHER_MS = 25;
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const digits = (count: number): CallFact[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'dtmf.received', digit: String(index % 10) }));

describe('the event feed', () => {
  it('says whether the broker is there once it was away, also to who comes or is in an opening then', async () => {
    const { feed, read } = setUp();
    const early = read();
    await settle();
    feed.announceBroker(false);
    const late = read();
    await settle();
    expect([early.names, late.names]).toEqual([
      ['snapshot', 'broker'],
      ['snapshot', 'broker'],
    ]);
    feed.refresh();
    feed.announceBroker(true);
    await settle();
    for (const { text } of [early, late])
      expect(text.trim().split('\n').at(-1)).toBe('data: {"isThere":true}');
  });

  it('sends retry and a snapshot first, then facts under their type', async () => {
    const { bus, clock, read, tell } = setUp();
    const [first, ...rest] = stamp([started(), ...digits(2), ended()]);
    tell([first!]);
    const sink = read();
    await settle();
    tell(rest);
    await bus.settled();
    clock.advance(GATHER_MS);
    expect(sink.text.startsWith('retry: 2000\n\n')).toBe(true);
    expect(sink.names).toEqual(['snapshot', 'dtmf.received', 'dtmf.received', 'call.ended']);
    const { snapshot } = sink;
    expect(snapshot.active.map((record) => record.callId)).toEqual(['call-1']);
    expect(snapshot).toMatchObject({ recent: [], controls: true, aggregates: { totalCalls: 1 } });
    expect(snapshot.entry).toBeNull();
    for (const { id } of sink.messages) expect(id).toMatch(/^[0-9a-f]+-\d+$/);
  });

  it('sends what is published while it sends', async () => {
    const { bus, clock, read, tell } = setUp();
    const [first, second, third] = stamp([started(), ...digits(2)]);
    const sink = read();
    await settle();
    const write = sink.write.bind(sink);
    let isTold = false;
    sink.write = (chunk) => {
      if (!isTold) bus.publish(third!);
      isTold = true;
      return write(chunk);
    };
    tell([first!, second!]);
    await settle();
    clock.advance(GATHER_MS);
    expect(sink.names).toEqual(['snapshot', 'call.started', 'dtmf.received', 'dtmf.received']);
    // Nothing is left to do for it.
    clock.advance(GATHER_MS);
    expect(clock.pending).toBe(1);
  });

  it('tells the phase in the snapshot, and each change of it', async () => {
    const { read, tell } = setUp();
    const phase = (name: CallPhase): CallFact => ({ type: 'phase.changed', phase: name });
    const events = stamp([started(), phase('listening'), phase('hearing'), phase('thinking')]);
    tell(events.slice(0, 2));
    const sink = read();
    await settle();
    tell(events.slice(2));
    expect(sink.snapshot.active.map((record) => record.phase?.name)).toEqual(['listening']);
    expect(sink.names).toEqual(['snapshot', 'phase.changed', 'phase.changed']);
  });

  it('says where calls come in, as it is known by then', async () => {
    let voiceUrl: string | null = null;
    const entry = () => ({ carrier: 'carrier-b' as const, voiceUrl, isSigned: true });
    const { read } = setUp({ entry });
    voiceUrl = 'https://voice.example/webhooks/carrier-b/voice';
    const sink = read();
    await settle();
    expect(sink.snapshot.entry).toEqual({ carrier: 'carrier-b', voiceUrl, isSigned: true });
  });

  it('sends at most 50 ended calls, the newest, without turns', async () => {
    const { bus, read } = setUp();
    for (let index = 0; index < 60; index += 1)
      for (const event of stamp([started({ carrierCallId: null }), ended()], {
        callId: `c${index}`,
        at: index * 100,
      }))
        bus.publish(event);
    await bus.settled();
    const sink = read();
    await settle();
    const { recent } = sink.snapshot;
    expect(recent.map((call) => call.callId)).toEqual(
      Array.from({ length: 50 }, (_, index) => `c${59 - index}`),
    );
    expect(recent[0]).not.toHaveProperty('turns');
  });

  it('resumes behind the last event without loss or duplicate', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 12 }),
        async (before, away) => {
          const { read, tell } = setUp();
          const events = stamp([started(), ...digits(before + away + 1)]);
          tell(events.slice(0, 1));
          const sink = read();
          await settle();
          tell(events.slice(1, 1 + before));
          const lastId = sink.lastId;
          tell(events.slice(1 + before, 1 + before + away));
          const again = read(lastId);
          tell(events.slice(1 + before + away));
          expect(again.messages.map((message) => (message.data as CallEvent).seq)).toEqual(
            events.slice(1 + before).map((event) => event.seq),
          );
        },
      ),
      { numRuns: 20 },
    );
  });

  it.each([
    ['from before the ring', (id: string) => id],
    ['of another process', () => 'abcdef-1'],
    ['of the future', (id: string) => id.replace(/-\d+$/, '-999')],
    ['that is no id', () => "'; drop"],
  ])('answers an id %s with a new snapshot', async (_name, change) => {
    const { read, tell } = setUp({ ring: { events: 3 } });
    const events = stamp([started(), ...digits(9)]);
    tell(events.slice(0, 1));
    const sink = read();
    await settle();
    for (const event of events.slice(1)) tell([event]);
    const again = read(change(sink.messages[0]?.id ?? ''));
    await settle();
    expect(again.names).toEqual(['snapshot']);
    expect(again.snapshot.active[0]?.seq).toBe(10);
  });

  it('leaves no gap and no duplicate between a snapshot of a slow store and the live facts', async () => {
    // Each part of the snapshot is read at its own time, with facts in between.
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()), { minLength: 1, maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 3, maxLength: 3 }),
        async (steps, delays) => {
          const store = new SlowStore(delays);
          const { bus, clock, read } = setUp({ store });
          const seqs = new Map<string, number>();
          const over = new Set<string>();
          const publishNext = (call: number, ends: boolean) => {
            const callId = `c${call}`;
            if (over.has(callId)) return;
            const seq = (seqs.get(callId) ?? 0) + 1;
            seqs.set(callId, seq);
            if (ends && seq > 1) over.add(callId);
            const fact =
              seq === 1 ? started({ carrierCallId: null }) : over.has(callId) ? ended() : digits(1)[0]!;
            bus.publish({ ...stamp([fact], { callId, at: 1000 + call })[0]!, seq });
          };
          const half = Math.floor(steps.length / 2);
          for (const [call, ends] of steps.slice(0, half)) publishNext(call, ends);
          const sink = read();
          for (const [call, ends] of steps.slice(half)) {
            await new Promise((resolve) => setImmediate(resolve));
            publishNext(call, ends);
          }
          await bus.settled();
          await soon(() => expect(sink.names).toContain('snapshot'));
          await bus.settled();
          clock.advance(GATHER_MS);
          const [, ...rest] = sink.messages;
          const { snapshot } = sink;
          const known = new Map(
            [...snapshot.active, ...snapshot.recent].map((record) => [record.callId, record.seq]),
          );
          for (const { data } of rest) {
            const { callId, seq } = data as CallEvent;
            expect([callId, seq]).toEqual([callId, (known.get(callId) ?? 0) + 1]);
            known.set(callId, seq);
          }
          expect(Object.fromEntries(known)).toEqual(Object.fromEntries(seqs));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows a call once that is stored as over before anyone has heard so', async () => {
    // Active calls are read at once, ended ones later; the end of the call is stored between the two.
    const { bus, read } = setUp({ store: new SlowStore([0, 3, 0]) });
    let release = () => {};
    bus.subscribeDurable(
      (event) =>
        new Promise((resolve) => {
          if (event.type === 'call.ended') release = resolve;
          else resolve();
        }),
    );
    const [first, last] = stamp([started(), ended()]);
    bus.publish(first!);
    const sink = read();
    await new Promise((resolve) => setImmediate(resolve));
    bus.publish(last!);
    await settle();
    expect([sink.snapshot.active.length, sink.snapshot.recent[0]?.callId]).toEqual([0, 'call-1']);
    release();
    await bus.settled();
    expect(sink.names).toEqual(['snapshot']);
  });

  it('writes a comment every 15 s, and keeps no timer without readers', async () => {
    const { clock, feed } = setUp();
    const sink = new FakeSink();
    const leave = feed.open(sink, { lastEventId: null, controls: false });
    await settle();
    clock.advance(45_000);
    expect(sink.text.match(/^:$/gm)).toHaveLength(3);
    leave();
    leave();
    expect([clock.pending, feed.readerCount]).toEqual([0, 0]);
  });

  it('cuts off a reader that does not read, and no other', async () => {
    const { feed, logger, read, tell } = setUp({ maxBacklogBytes: 2000 });
    const events = stamp([started(), ...digits(200)]);
    tell(events.slice(0, 1));
    const [slow, quick] = [read(), read()];
    await settle();
    slow.stuck = true;
    for (const event of events.slice(1)) tell([event]);
    expect([slow.state, quick.state]).toEqual(['destroyed', 'open']);
    expect(slow.writableLength).toBeLessThan(20_000);
    expect(quick.messages).toHaveLength(201);
    expect(feed.readerCount).toBe(1);
    expect(logger.sentences('warn')).toEqual(['event stream cut off']);
  });

  it('lets a reader in whose snapshot alone is over the bound, as fast as it reads', async () => {
    const { clock, feed, read, tell } = setUp({ maxBacklogBytes: 100 });
    const events = stamp([started(), ...digits(2)]);
    tell(events.slice(0, 1));
    const sink = new FakeSink();
    sink.stuck = true;
    feed.open(sink, { lastEventId: null, controls: false });
    await settle();
    tell(events.slice(1, 2));
    expect([sink.state, feed.readerCount]).toEqual(['open', 1]);
    sink.drain();
    await clock.advanceAsync(10);
    tell(events.slice(2));
    expect(sink.names).toEqual(['snapshot', 'dtmf.received', 'dtmf.received']);
    expect(read().state).toBe('open');
  });

  it('holds no more than a piece of a snapshot for a reader that does not read, and gives it up', async () => {
    const { clock, feed, tell } = setUp();
    for (let call = 0; call < 40; call += 1)
      tell(stamp([started({ carrierCallId: null }), ...digits(50)], { callId: `c${call}` }));
    const sink = new FakeSink();
    sink.stuck = true;
    feed.open(sink, { lastEventId: null, controls: false });
    await settle();
    expect(sink.writableLength).toBeGreaterThan(0);
    expect(sink.writableLength).toBeLessThan(20_000);
    clock.advance(15_000);
    expect(sink.state).toBe('open');
    clock.advance(15_000);
    expect([sink.state, feed.readerCount]).toEqual(['destroyed', 0]);
    expect(sink.text).not.toContain('\n:');
  });

  it('keeps the facts of a bounded number of bytes, and resumes within them only', async () => {
    const { read, tell } = setUp({ ring: { bytes: 3000 } });
    const events = stamp([started(), ...digits(30)]);
    tell(events.slice(0, 1));
    const sink = read();
    await settle();
    for (const event of events.slice(1)) tell([event]);
    const ids = sink.messages.map(({ id }) => id);
    const size = (id: string) =>
      sink.text.split('\n\n').find((block) => block.includes(`id: ${id}\n`))!.length + 2;
    const kept = Math.floor(3000 / size(ids.at(-1)!));
    const [inside, outside] = [read(ids.at(-1 - kept)), read(ids.at(-3 - kept))];
    await settle();
    expect(inside.names).toEqual(Array(kept).fill('dtmf.received'));
    expect(outside.names).toEqual(['snapshot']);
  });

  it('cuts off a reader that the ring has overtaken, which then comes back to a snapshot', async () => {
    const { bus, clock, feed, read } = setUp({ ring: { events: 5 } });
    const events = stamp([started(), ...digits(20)]);
    bus.publish(events[0]!);
    const sink = read();
    await settle();
    for (const event of events.slice(1)) bus.publish(event);
    clock.advance(GATHER_MS);
    expect([sink.state, feed.readerCount]).toEqual(['destroyed', 0]);
  });

  it('gives all readers the same bytes, made once, in few writes', async () => {
    const { read, tell } = setUp();
    const events = stamp([started(), ...digits(20)]);
    tell(events.slice(0, 1));
    const sinks = Array.from({ length: 1000 }, () => read());
    await settle();
    const chunks: (string | Uint8Array)[] = [];
    for (const sink of sinks) vi.spyOn(sink, 'write').mockImplementation((chunk) => chunks.push(chunk) > 0);
    const stringify = vi.spyOn(JSON, 'stringify');
    tell(events.slice(1));
    expect(stringify).toHaveBeenCalledTimes(20);
    expect(chunks).toHaveLength(1000);
    expect(new Set(chunks).size).toBe(1);
  });

  it('has room for a thousand readers', () => {
    const { feed } = setUp();
    const leave = Array.from({ length: 1000 }, () => {
      feed.checkRoom();
      return feed.open(new FakeSink(), { lastEventId: null, controls: true });
    });
    expect(() => feed.checkRoom()).toThrow(LimitError);
    leave[0]?.();
    feed.checkRoom();
  });

  it('ends every stream when it is closed, and takes no new one', async () => {
    const { bus, clock, feed, read } = setUp();
    const [idle, stuck] = [read(), read()];
    await settle();
    stuck.writableLength = 10;
    const [first, second] = stamp([started(), ...digits(1)]);
    bus.publish(first!);
    feed.close();
    feed.close();
    bus.publish(second!);
    expect([idle.state, stuck.state, read().state]).toEqual(['ended', 'destroyed', 'ended']);
    expect(idle.names).toEqual(['snapshot', 'call.started']);
    expect(clock.pending).toBe(0);
  });

  it('cuts a reader off when the store fails, so that it comes back', async () => {
    const store = new MemoryStore();
    store.active = () => Promise.reject(new Error('gone'));
    const { feed, logger, read } = setUp({ store });
    const sink = read();
    await settle();
    expect([sink.state, feed.readerCount]).toEqual(['destroyed', 0]);
    expect(logger.sentences('error')).toEqual(['dashboard snapshot failed']);
  });
});
