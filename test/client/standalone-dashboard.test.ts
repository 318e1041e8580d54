import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dashboardSocket } from '../../src/base/dashboard-socket.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord, Cost } from '../../src/contract/call-record.js';
import { openLedger } from '../../src/testing/index.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';
import { until } from '../support/client-bench.js';
import { FeedingServer, hurriedClock } from '../support/feeding-server.js';
import { freePort } from '../support/free-port.js';
import { openDashboard, socketFolder, type TestDashboard } from '../support/ingest-dashboard.js';
import { CallLogFile, HISTORIES, LogStore } from '../support/log-store.js';
import { runs } from '../support/depth.js';

/** Retries, signs of life and the patience with silent servers pass in hundredths of their time. */
const HURRY = 100;

/** The facts of a call with some turns, its partial transcripts between. */
function factsOf(turns: number): CallFact[] {
  const cost: Cost = { stt: 0, llm: 0, tts: 0, telephony: 0, total: 0, currency: 'USD', estimated: true };
  const facts = Array.from({ length: turns }, (_, index): CallFact[] => {
    const entry = { id: `e${index}`, turnIndex: index, role: 'user' as const, at: index };
    return [
      { type: 'turn.started', turnIndex: index },
      { type: 'transcript.segment', entry: { ...entry, text: 'wh', final: false } },
      { type: 'transcript.segment', entry: { ...entry, text: 'what', final: false } },
      { type: 'transcript.segment', entry: { ...entry, text: 'what is it?', final: true } },
      { type: 'turn.completed', turn: turn(index, { totalMs: 500 + index }) },
      { type: 'cost.updated', cost: { ...cost, total: index }, usage: null },
    ];
  });
  return [started({ carrierCallId: null }), ...facts.flat()];
}

/** A server with its process after process, all over one log. */
class Host {
  readonly file = new CallLogFile();
  readonly #folder: string;
  readonly #name: string;
  #starts = 0;
  #calls = 0;
  /** Facts of the calls that are up, still to come. */
  #live: CallEvent[][] = [];
  readonly #ids = new Set<string>();
  server: FeedingServer | undefined;

  constructor(name: string, folder: string) {
    this.#name = name;
    this.#folder = folder;
  }

  async start(): Promise<void> {
    this.#starts += 1;
    const nodeId = `${this.#name}-${this.#starts}`;
    const store = await LogStore.open(this.file, { owner: nodeId });
    const clock = hurriedClock(HURRY);
    this.server = new FeedingServer({ nodeId, store, socket: dashboardSocket(this.#folder), clock });
  }

  async kill(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    this.#live = [];
    await server?.kill();
  }

  ring(options: { callId?: string; turns: number }): void {
    this.#calls += 1;
    const { callId = `${this.#name}-call-${this.#calls}`, turns } = options;
    const facts = [...factsOf(turns), ended(), { type: 'incident.noted', code: 'late', message: 'late' }];
    const nodeId = `${this.#name}-${this.#starts}`;
    const events = stamp(facts as CallFact[], { callId }).map((event) => ({ ...event, nodeId }));
    if (this.server === undefined || this.#ids.has(callId)) return;
    this.#ids.add(callId);
    this.#live.push(events);
  }

  /** The next `count` facts of each call that is up. */
  talk(count: number): void {
    for (const events of this.#live) {
      for (const event of events.splice(0, count)) this.server?.publish(event);
    }
    this.#live = this.#live.filter((events) => events.length > 0);
  }

  async records(): Promise<CallRecord[]> {
    const { calls } = (await this.server?.store.list({ limit: 500 })) ?? { calls: [] };
    return calls;
  }
}

let room: ReturnType<typeof socketFolder>;
let port: number;

beforeEach(async () => {
  room = socketFolder();
  port = await freePort();
});
afterEach(() => room.remove());

/**
 * Records of several servers as one dashboard shows them, whoever came first with an id that both have. The dashboard may have counted
 * a partial transcript that a dead process did not write: `seq` is left out.
 */
function byParty(records: Iterable<CallRecord>): Record<string, CallRecord> {
  const entries = [...records].map((record): [string, CallRecord] => {
    const callId = record.callId.split('~')[0] ?? '';
    return [`${record.originId} ${callId}`, { ...record, callId, seq: 0 }];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function inStep(dashboard: TestDashboard, hosts: readonly Host[]): Promise<void> {
  const wanted = async () => byParty((await Promise.all(hosts.map((host) => host.records()))).flat());
  const shown = async () => byParty((await dashboard.records()).values());
  await until(async () => isDeepStrictEqual(await shown(), await wanted()));
  expect(await shown()).toEqual(await wanted());
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('talk' as const),
      host: fc.nat(1),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ring' as const),
      host: fc.nat(1),
      count: fc.integer({ min: 0, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('ring same' as const), host: fc.nat(1), count: fc.nat(2) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('not sent' as const, 'not answered' as const),
      host: fc.nat(1),
      count: fc.constant(0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('kill server' as const), host: fc.nat(1), count: fc.constant(0) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('kill dashboard' as const),
      host: fc.constant(0),
      count: fc.constant(0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      host: fc.constant(0),
      count: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

describe('a standalone dashboard', () => {
  it('has no timer left that would hold its process once it is closed', async () => {
    using ledger = openLedger();
    await ledger.run(async () => {
      const dashboard = await openDashboard({ folder: room.folder });
      await dashboard.close();
    });
    expect(await ledger.read()).toEqual([]);
  });

  it.each(HISTORIES)(
    'whose history is %s has in the end the records of its servers, whatever dies or breaks',
    async (_where, openHistory) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const open = openHistory();
          const openIt = async () =>
            openDashboard({ folder: room.folder, port, store: await open(), clock: hurriedClock(HURRY) });
          let dashboard = await openIt();
          const hosts = [new Host('a', room.folder), new Host('b', room.folder)] as const;
          for (const host of hosts) await host.start();
          for (const { do: what, host: index, count } of steps) {
            const host = hosts[index as 0 | 1];
            if (what === 'talk') host.talk(count);
            else if (what === 'ring') host.ring({ turns: count });
            else if (what === 'ring same') host.ring({ callId: `same-${count}`, turns: count });
            else if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, count));
            else if (what === 'kill server') {
              await host.kill();
              await host.start();
            } else if (what === 'kill dashboard') {
              await dashboard.close();
              dashboard = await openIt();
            } else if (host.server !== undefined) host.server.trouble = what;
          }
          for (const host of hosts) host.talk(1000);
          await inStep(dashboard, hosts);
          for (const host of hosts) await host.kill();
          await dashboard.close();
        }),
        { numRuns: runs(10, 30), endOnFailure: true },
      );
    },
    120_000,
  );
});
