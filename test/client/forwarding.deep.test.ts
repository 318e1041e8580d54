import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallReport } from '../../src/calls/call-desk.js';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { ended, say, stamp, started, turn } from '../support/call-facts.js';
import { until } from '../support/client-bench.js';
import { makeFolder } from '../support/data-folder.js';
import { bytesBelow } from '../support/folder-bytes.js';
import { freePort } from '../support/free-port.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const SERVER = fileURLToPath(new URL('forwarding-child.mjs', import.meta.url));

const children = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of children) await kill(child);
});

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The next message of a child; one that dies instead is no reason to wait. */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const died = once(child, 'exit').then(([code]) => {
    throw new Error(`The process ended with ${code}.`);
  });
  const [message] = await Promise.race([once(child, 'message'), died]);
  return message;
}

/** A user's machine: servers and a dashboard, each with a folder of its own in one data folder. */
class Machine {
  readonly #folder: string;
  readonly #port: number;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  get #place() {
    const dataDir = join(this.#folder, 'data');
    return { dataDir, env: { ...process.env, XDG_RUNTIME_DIR: this.#folder, OFFHOOK_DASHBOARD_TOKEN: '' } };
  }

  async startDashboard(): Promise<ChildProcess> {
    const { dataDir, env } = this.#place;
    const args = [CLI, 'dashboard', '--json', '--port', String(this.#port), '--data-dir', dataDir];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    await once(createInterface({ input: child.stdout }), 'line');
    return child;
  }

  async startServer(nodeId: string): Promise<Server> {
    const { dataDir, env } = this.#place;
    const child = fork(SERVER, [dataDir, nodeId], { env });
    children.add(child);
    await messageOf(child);
    return new Server(child);
  }

  /** What the dashboard shows, by id. */
  async shown(): Promise<CallRecord[]> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/api/dashboard/export/calls`);
    return ((await answer.json()) as { calls: CallRecord[] }).calls.sort(byId);
  }

  /** What the dashboard has on disk. */
  writtenByDashboard(): Promise<string> {
    return bytesBelow(join(this.#place.dataDir, 'dashboard'));
  }

  /** Waits until the dashboard shows `records`. */
  async shows(records: readonly CallRecord[]): Promise<void> {
    const wanted = [...records].sort(byId);
    await until(async () => isDeepStrictEqual(await this.shown(), wanted));
  }
}

class Server {
  readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  publish(events: readonly CallEvent[]): Promise<CallRecord[]> {
    return this.#order({ publish: events });
  }

  report(callId: string, report: CallReport): Promise<CallRecord[]> {
    return this.#order({ callId, report });
  }

  records(): Promise<CallRecord[]> {
    return this.#order({ list: true });
  }

  /** Resolves with its records when everything is on disk. */
  async #order(order: object): Promise<CallRecord[]> {
    this.child.send(order);
    return (await messageOf(this.child)) as CallRecord[];
  }
}

const byId = (a: CallRecord, b: CallRecord) => (a.callId < b.callId ? -1 : 1);

function talk(callId: string, turns: number, at: number): CallEvent[] {
  const facts = Array.from({ length: turns }, (_, index): CallFact[] => [
    say('what', { id: `e${index}`, turnIndex: index, final: false }),
    say('what is it?', { id: `e${index}`, turnIndex: index }),
    { type: 'turn.completed', turn: turn(index, { totalMs: 500 + index }) },
  ]);
  return stamp([started({ carrierCallId: `carrier-${callId}` }), ...facts.flat()], { callId, at });
}

/** The end behind some facts. */
function endOf(events: readonly CallEvent[]): CallEvent {
  const { callId, nodeId, term, seq, at } = events.at(-1)!;
  return { callId, nodeId, term, seq: seq + 1, at: at + 10, ...ended() };
}

describe('a server and a dashboard of one user, both with their calls on disk', () => {
  it('have the same records in the end, whichever is killed', async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, 'offhook'), { mode: 0o700 });
    const machine = new Machine(folder, await freePort());
    const now = Date.now();

    const firstDashboard = await machine.startDashboard();
    const firstServer = await machine.startServer('node-1');
    const over = talk('over', 3, now - 9000);
    const lost = talk('lost', 4, now - 8000);
    await firstServer.publish([...over, endOf(over)]);
    await machine.shows(await firstServer.publish(lost.slice(0, 5)));

    await kill(firstDashboard);
    const unseen = talk('unseen', 2, now - 7000);
    await firstServer.publish([...lost.slice(5), ...unseen, endOf(unseen)]);
    await kill(firstServer.child);

    const secondServer = await machine.startServer('node-2');
    const secondDashboard = await machine.startDashboard();
    const records = await secondServer.records();
    expect(records.map(({ callId, endReason }) => `${callId} ${endReason}`).sort()).toEqual([
      'lost process-lost',
      'over caller-hangup',
      'unseen caller-hangup',
    ]);
    await machine.shows(records);

    const recording = { url: 'https://example.com/r', durationMs: 5000, status: 'completed' } as const;
    const late = { callId: null, carrierCallId: 'carrier-over' };
    await secondServer.report('over', { ...late, type: 'recording', recording });
    const priced = await secondServer.report('lost', {
      callId: null,
      carrierCallId: 'carrier-lost',
      type: 'cost',
      costUsd: 0.25,
    });
    expect(priced.find(({ callId }) => callId === 'over')?.recording).toEqual(recording);
    expect(priced.find(({ callId }) => callId === 'lost')?.cost.telephony).toBe(0.25);
    await machine.shows(priced);

    // What it had not written yet comes again.
    await kill(secondDashboard);
    const thirdDashboard = await machine.startDashboard();
    await machine.shows(priced);

    await kill(secondServer.child);
    // A store writes a moment later what is not the end of a call.
    await until(async () => {
      const written = await machine.writtenByDashboard();
      return [recording.url, '"telephony":0.25'].every((part) => written.includes(part));
    });
    await kill(thirdDashboard);
    await machine.startDashboard();
    expect(await machine.shown()).toEqual(priced.sort(byId));
  }, 120_000);
});
