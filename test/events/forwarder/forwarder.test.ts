import { describe, expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import type { IngestAnswer, IngestBatch } from '../../../src/contract/ingest.js';
import { EventBus } from '../../../src/events/bus.js';
import type { BacklogBounds } from '../../../src/events/forwarder/backlog.js';
import type { FactSource } from '../../../src/events/forwarder/archive.js';
import { Forwarder } from '../../../src/events/forwarder/forwarder.js';
import { LinkError } from '../../../src/events/forwarder/link.js';
import { ended, say, stamp, started } from '../../support/call-facts.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** A dashboard that takes everything in order, unless it is told to fail. */
class FakeDashboard {
  readonly batches: IngestBatch[] = [];
  readonly seqs = new Map<string, number>();
  readonly ended = new Set<string>();
  failure: LinkError | undefined;
  refuse: IngestAnswer['refused'] = [];
  attempts = 0;
  /** Answers only when this resolves. */
  gate: Promise<void> | undefined;
  id = 'one';

  async send(body: string): Promise<IngestAnswer> {
    this.attempts += 1;
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    const batch = JSON.parse(body) as IngestBatch;
    this.batches.push(batch);
    for (const { callId, seq, type } of batch.events) {
      this.seqs.set(callId, seq);
      if (type === 'call.ended') this.ended.add(callId);
    }
    const named = [...batch.events, ...batch.calls];
    return {
      dashboardId: this.id,
      accepted: batch.events.length,
      duplicates: 0,
      refused: this.refuse,
      calls: [...new Set(named.map(({ callId }) => callId))].map((callId) => ({
        callId,
        nodeId: 'node-1',
        term: 1,
        seq: this.seqs.get(callId) ?? 0,
        ended: this.ended.has(callId),
        wanted: true,
      })),
    };
  }
}

function rig(options: { isNamed?: boolean; bounds?: Partial<BacklogBounds>; source?: FactSource } = {}) {
  const clock = new FakeClock();
  const logger = new RecordedLogger();
  const bus = new EventBus(logger);
  const dashboard = new FakeDashboard();
  const link = {
    isNamed: options.isNamed ?? true,
    address: 'https://calls.example.com/',
    send: (body: string) => dashboard.send(body),
    close() {},
  };
  const { bounds, source } = options;
  const parts = { bus, link, nodeId: 'node-1', clock, logger, source, random: () => 1 };
  const forwarder = new Forwarder({ ...parts, ...(bounds === undefined ? {} : { bounds }) });
  const publish = (...events: CallEvent[]) => events.forEach((event) => void bus.publish(event));
  return { clock, logger, dashboard, forwarder, publish };
}

const CALL = stamp([started(), { type: 'turn.started', turnIndex: 0 }, ended()]);

describe('a forwarder', () => {
  it('sends the facts of a moment together', async () => {
    const { clock, dashboard, publish } = rig();
    await clock.advanceAsync(0);
    publish(...CALL);
    await clock.advanceAsync(60);
    expect(dashboard.batches.map(({ events }) => events.length)).toEqual([0, 3]);
    expect(dashboard.batches[1]?.nodeId).toBe('node-1');
  });

  it('sends what many calls have to tell in batches that are no longer than they may be', async () => {
    const { clock, dashboard, publish } = rig();
    await clock.advanceAsync(0);
    const facts = [started(), say('x'.repeat(60_000))];
    for (let call = 1; call <= 10; call += 1) publish(...stamp(facts, { callId: `call-${call}` }));
    await clock.advanceAsync(1000);
    expect([...dashboard.seqs.values()]).toEqual(Array(10).fill(2));
    const longest = Math.max(...dashboard.batches.map((batch) => JSON.stringify(batch).length));
    expect(longest).toBeLessThan((256 + 64 + 10) * 1024);
  });

  it('gives a sign of life every ten seconds', async () => {
    const { clock, dashboard } = rig();
    await clock.advanceAsync(30_500);
    expect(dashboard.batches).toHaveLength(4);
  });

  it('does not hold up who publishes, and sends nothing twice while an answer is due', async () => {
    const { clock, dashboard, publish } = rig();
    await clock.advanceAsync(0);
    let open = () => {};
    dashboard.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    publish(...CALL.slice(0, 2));
    await clock.advanceAsync(5000);
    publish(...CALL.slice(2));
    await clock.advanceAsync(5000);
    expect(dashboard.attempts).toBe(2);
    open();
    await clock.advanceAsync(100);
    expect(dashboard.batches.slice(1).map(({ events }) => events.map(({ seq }) => seq))).toEqual([
      [1, 2],
      [3],
    ]);
  });

  it('tries again ever more seldom, says it once, and says when it is over', async () => {
    const { clock, dashboard, logger, publish } = rig();
    dashboard.failure = new LinkError('unreachable', { cause: new Error('secret') });
    const attempts: number[] = [];
    for (const ms of [0, 500, 1000, 2000, 4000]) {
      await clock.advanceAsync(ms);
      attempts.push(dashboard.attempts);
    }
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    publish(...CALL);
    await clock.advanceAsync(3_600_000);
    expect(dashboard.attempts).toBeLessThan(130);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        fields: { dashboard: 'https://calls.example.com/' },
        sentence: expect.stringContaining('kept until it is'),
      },
    ]);
    expect(logger.text).not.toContain('secret');
    dashboard.failure = undefined;
    await clock.advanceAsync(30_100);
    expect(dashboard.seqs.get('call-1')).toBe(3);
    expect(logger.sentences('info')).toContain('the dashboard is back');
  });

  it('names the setting when it is refused', async () => {
    const { clock, dashboard, logger } = rig();
    dashboard.failure = new LinkError('refused', { status: 401 });
    await clock.advanceAsync(60_000);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        fields: { dashboard: 'https://calls.example.com/', status: 401 },
        sentence: expect.stringContaining('dashboardIngestToken'),
      },
    ]);
  });

  it('blames no setting when the dashboard itself is in trouble', async () => {
    const { clock, dashboard, logger } = rig();
    dashboard.failure = new LinkError('unreachable', { status: 503 });
    await clock.advanceAsync(60_000);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { status: 503 }, sentence: expect.stringContaining('kept until') },
    ]);
  });

  it('says nothing where no dashboard was asked for, and finds one that is started later', async () => {
    const { clock, dashboard, logger, publish } = rig({ isNamed: false });
    dashboard.failure = new LinkError('absent');
    publish(...CALL);
    await clock.advanceAsync(600_000);
    expect(logger.lines).toEqual([]);
    dashboard.failure = undefined;
    await clock.advanceAsync(5_100);
    expect(dashboard.seqs.get('call-1')).toBe(3);
  });

  it('sends a dashboard that was started anew what it has not', async () => {
    const { clock, dashboard, publish } = rig();
    await clock.advanceAsync(0);
    publish(...CALL.slice(0, 2));
    await clock.advanceAsync(100);
    dashboard.id = 'two';
    dashboard.seqs.clear();
    await clock.advanceAsync(10_100);
    expect(dashboard.seqs.get('call-1')).toBe(2);
    expect(dashboard.batches.at(-1)?.events.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('lets go of a fact that is refused for good, and says so once', async () => {
    const { clock, dashboard, logger, publish } = rig();
    await clock.advanceAsync(0);
    dashboard.refuse = [{ index: 1, reason: 'unknown-type' }];
    publish(...CALL);
    await clock.advanceAsync(100);
    expect(logger.sentences('warn')).toHaveLength(1);
    dashboard.refuse = [];
    dashboard.id = 'two';
    dashboard.seqs.clear();
    await clock.advanceAsync(10_100);
    expect(dashboard.batches.at(-1)?.events.map(({ seq, after }) => [seq, after])).toEqual([
      [1, 0],
      [3, 1],
    ]);
  });

  it('takes it for no trouble where the dashboard never had a call that was deleted', async () => {
    const { clock, dashboard, forwarder, logger, publish } = rig();
    await clock.advanceAsync(0);
    dashboard.refuse = [{ index: 0, reason: 'no-call' }];
    const deletion: CallEvent = {
      type: 'call.forgotten',
      callId: 'gone',
      nodeId: 'node-1',
      term: 2,
      seq: 1,
      at: 5,
    };
    publish(deletion);
    await clock.advanceAsync(100);
    expect([
      dashboard.batches.at(-1)?.events.length,
      logger.sentences('warn'),
      forwarder.counts.held,
    ]).toEqual([1, [], 0]);
    publish(...stamp([{ type: 'turn.started', turnIndex: 0 }], { callId: 'headless' }));
    await clock.advanceAsync(100);
    expect(logger.sentences('warn')).toEqual(['the dashboard rejected some facts']);
  });

  it('holds no more than its bounds, however long the dashboard is away', async () => {
    const { clock, dashboard, forwarder, publish } = rig({ bounds: { events: 100, calls: 40 } });
    dashboard.failure = new LinkError('unreachable');
    for (let call = 0; call < 2000; call += 1) {
      publish(...stamp([started(), ended()], { callId: `call-${call}` }));
      if (call % 100 === 0) await clock.advanceAsync(1000);
    }
    await clock.advanceAsync(1000);
    expect(forwarder.counts.held).toBeLessThanOrEqual(80);
    expect(forwarder.counts.held + forwarder.counts.lost).toBe(4000);
    dashboard.failure = undefined;
    await clock.advanceAsync(60_000);
    expect(dashboard.seqs.get('call-1999')).toBe(2);
  });

  it('takes from the store what it let go of', async () => {
    const stored = new Map<string, CallEvent[]>();
    const source: FactSource = {
      calls: () => (async function* () {})(),
      events: async (callId) => stored.get(callId),
    };
    const { clock, dashboard, forwarder, publish } = rig({ bounds: { events: 20 }, source });
    dashboard.failure = new LinkError('unreachable');
    for (let call = 0; call < 100; call += 1) {
      const events = stamp([started(), ended()], { callId: `call-${call}` });
      stored.set(`call-${call}`, events);
      publish(...events);
    }
    expect(forwarder.counts).toEqual({ held: 20, lost: 0 });
    await clock.advanceAsync(1000);
    dashboard.failure = undefined;
    await clock.advanceAsync(60_000);
    expect([...dashboard.seqs.values()]).toEqual(Array(100).fill(2));
  });

  it('sends the last facts when it is closed, but does not wait for a dashboard that does not answer', async () => {
    const one = rig();
    await one.clock.advanceAsync(0);
    one.publish(...CALL);
    await one.forwarder.close();
    expect(one.dashboard.seqs.get('call-1')).toBe(3);

    const two = rig();
    await two.clock.advanceAsync(0);
    two.dashboard.gate = new Promise(() => {});
    two.publish(...CALL);
    const closing = two.forwarder.close();
    await two.clock.advanceAsync(2000);
    await closing;
    expect(two.clock.pending).toBe(0);
  });
});
