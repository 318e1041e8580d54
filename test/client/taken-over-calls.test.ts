import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dashboardSocket } from '../../src/base/dashboard-socket.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, IDENTITY, say, stamp, started, turn } from '../support/call-facts.js';
import { until } from '../support/client-bench.js';
import { FeedingServer, hurriedClock } from '../support/feeding-server.js';
import { freePort } from '../support/free-port.js';
import { openDashboard, socketFolder, type TestDashboard } from '../support/ingest-dashboard.js';
import { CallLogFile, HISTORIES, LogStore } from '../support/log-store.js';
import { runs } from '../support/depth.js';

/** Retries and signs of life pass in hundredths of their time. */
const HURRY = 100;

/** A turn whose words say who tells of it. */
function turnOf(index: number, who: string): CallFact[] {
  return [
    { type: 'turn.started', turnIndex: index },
    say('wh', { id: `${who}-${index}`, turnIndex: index, final: false }),
    say(`what, ${who}?`, { id: `${who}-${index}`, turnIndex: index }),
    { type: 'dtmf.received', digit: '5' },
    { type: 'turn.completed', turn: { ...turn(index), agentText: who } },
  ];
}

interface Plan {
  /** Turns of the old process, of which the last ones may come when it has lost the call. */
  readonly oldTurns: number;
  /** How many facts of the old one are on disk as the new one starts. */
  readonly known: number;
  readonly newTurns: number;
  /** The new one goes on with the call, or can only end it. */
  readonly goesOn: boolean;
  readonly steps: readonly Step[];
}

type Step =
  | { readonly do: 'old' | 'new' | 'wait'; readonly count: number }
  | {
      readonly do:
        | 'kill dashboard'
        | 'kill new'
        | 'old not sent'
        | 'old not answered'
        | 'new not sent'
        | 'new not answered';
      readonly count?: number;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('old' as const, 'new' as const),
      count: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), count: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'kill dashboard' as const,
        'kill new' as const,
        'old not sent' as const,
        'old not answered' as const,
        'new not sent' as const,
        'new not answered' as const,
      ),
    }),
  },
);

const plan: fc.Arbitrary<Plan> = fc.record({
  oldTurns: fc.integer({ min: 1, max: 3 }),
  known: fc.integer({ min: 1, max: 12 }),
  newTurns: fc.integer({ min: 0, max: 2 }),
  goesOn: fc.boolean(),
  steps: fc.array(step, { minLength: 3, maxLength: 18 }),
});

/** What the old process states of the call, and the new one from what of it was on disk. */
function factsOf({ oldTurns, known, newTurns, goesOn }: Plan) {
  const turns = Array.from({ length: oldTurns }, (_, index) => turnOf(index, 'old')).flat();
  const old = stamp([started(), ...turns, ended({ endReason: 'stream-lost', outcome: 'failed' })]);
  const onDisk = old.slice(0, Math.min(known, old.length - 1));
  const more = Array.from({ length: newTurns }, (_, index) => turnOf(index + 1, 'new')).flat();
  const active: CallFact = { type: 'call.status', status: 'active', ...IDENTITY };
  const end = ended({ endReason: goesOn ? 'caller-hangup' : 'process-lost' });
  const next = stamp(goesOn ? [active, ...more, end] : [end], { at: 2_000_000 }).map(
    (event): CallEvent => ({
      ...event,
      nodeId: 'new',
      originId: 'node-1',
      term: 2,
      seq: event.seq + onDisk.length,
    }),
  );
  return { old, onDisk, next };
}

let room: ReturnType<typeof socketFolder>;
let port: number;

beforeEach(async () => {
  room = socketFolder();
  port = await freePort();
});
afterEach(() => room.remove());

/** Both processes, each with its own store, and the dashboard that both feed. */
class Scene {
  readonly #openHistory: () => Promise<MemoryStore>;
  readonly #oldFacts: CallEvent[];
  readonly #newFacts: CallEvent[];
  readonly #newFile = new CallLogFile();
  #dashboard: TestDashboard | undefined;
  #old: FeedingServer | undefined;
  #new: FeedingServer | undefined;

  constructor(facts: ReturnType<typeof factsOf>, openHistory: () => Promise<MemoryStore>) {
    this.#openHistory = openHistory;
    this.#oldFacts = [...facts.old];
    this.#newFacts = [...facts.next];
    for (const event of facts.onDisk) this.#newFile.keep(event);
    this.#known = facts.onDisk.length;
  }

  readonly #known: number;

  async open(): Promise<void> {
    await this.#openDashboard();
    this.#old = this.#feed('node-1', await LogStore.open(new CallLogFile()));
    this.#say('old', this.#known);
    await this.#openNew();
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const { do: what, count = 0 } of steps) {
      if (what === 'old' || what === 'new') this.#say(what, count);
      else if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, count));
      else if (what === 'kill dashboard') {
        await this.#dashboard?.close();
        await this.#openDashboard();
      } else if (what === 'kill new') {
        await this.#new?.kill();
        await this.#openNew();
      } else {
        const server = what.startsWith('old') ? this.#old : this.#new;
        if (server !== undefined) server.trouble = what.endsWith('sent') ? 'not sent' : 'not answered';
      }
    }
    this.#say('old', 1000);
    this.#say('new', 1000);
  }

  async records(): Promise<CallRecord[]> {
    return [...((await this.#dashboard?.records()) ?? new Map()).values()];
  }

  async close(): Promise<void> {
    await this.#old?.kill();
    await this.#new?.kill();
    await this.#dashboard?.close();
  }

  async #openDashboard(): Promise<void> {
    const store = await this.#openHistory();
    this.#dashboard = await openDashboard({ folder: room.folder, port, store, clock: hurriedClock(HURRY) });
  }

  async #openNew(): Promise<void> {
    this.#new = this.#feed('new', await LogStore.open(this.#newFile));
  }

  #feed(nodeId: string, store: LogStore): FeedingServer {
    return new FeedingServer({
      nodeId,
      store,
      socket: dashboardSocket(room.folder),
      clock: hurriedClock(HURRY),
    });
  }

  #say(who: 'old' | 'new', count: number): void {
    const [facts, server] = who === 'old' ? [this.#oldFacts, this.#old] : [this.#newFacts, this.#new];
    for (const event of facts.splice(0, count)) server?.publish(event);
  }
}

describe('a call that one process took over from another, which was frozen and goes on', () => {
  it.each(HISTORIES)(
    'is one call to a dashboard whose history is %s, and the one that took it over says how it went',
    async (_where, openHistory) => {
      await fc.assert(
        fc.asyncProperty(plan, async (played) => {
          const facts = factsOf(played);
          const scene = new Scene(facts, openHistory());
          await scene.open();
          await scene.play(played.steps);
          const last = facts.next.at(-1);
          const isThere = async () =>
            (await scene.records()).some(({ term, seq }) => term === last?.term && seq === last.seq);
          await until(isThere);
          // What the old one still has to say changes nothing.
          await new Promise((resolve) => setTimeout(resolve, 30));
          const records = await scene.records();
          await scene.close();
          expect(records).toHaveLength(1);
          const [record] = records;
          expect(record).toMatchObject({
            callId: 'call-1',
            status: 'completed',
            endReason: played.goesOn ? 'caller-hangup' : 'process-lost',
            outcome: 'answered',
            endedAt: last?.at,
            startedAt: facts.old[0]?.at,
            nodeId: 'new',
            originId: 'node-1',
            term: 2,
            seq: last?.seq,
          });
          const said = (events: readonly CallEvent[]) =>
            events.flatMap((event) =>
              event.type === 'transcript.segment' && event.entry.final ? [event.entry.id] : [],
            );
          const keys = (events: readonly CallEvent[]) =>
            events.flatMap((event) => (event.type === 'dtmf.received' ? [event] : [])).length;
          const ids = record?.transcript.map(({ id }) => id) ?? [];
          expect(new Set(ids).size).toBe(ids.length);
          // Of what the old one had said and nobody had written the dashboard may know more.
          expect(ids).toEqual(expect.arrayContaining([...said(facts.onDisk), ...said(facts.next)]));
          expect([...said(facts.old), ...said(facts.next)]).toEqual(
            expect.arrayContaining(ids.filter((id) => !id.startsWith('key-'))),
          );
          const pressed = ids.filter((id) => id.startsWith('key-')).length;
          expect(pressed).toBeGreaterThanOrEqual(keys(facts.onDisk) + keys(facts.next));
          expect(pressed).toBeLessThanOrEqual(keys(facts.old) + keys(facts.next));
          for (const event of facts.next)
            if (event.type === 'turn.completed')
              expect(record?.turns.find(({ index }) => index === event.turn.index)?.agentText).toBe('new');
        }),
        { numRuns: runs(10, 30), endOnFailure: true },
      );
    },
    120_000,
  );
});
