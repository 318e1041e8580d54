// The broker of a demo with several servers: a Redis or Valkey of its own, which ends with the demo, or one that is there.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../base/clock.js';
import { readEnv } from '../../base/env.js';
import { ConfigError } from '../../base/errors.js';
import { within } from '../../base/pause.js';
import { nodesIn, type SlotRanges } from '../../cluster/redis/broker-addresses.js';
import { loadRedisPackage } from '../../cluster/redis/package.js';
import { complainOfUrl } from '../../options/cluster.js';
import { type LeashedProgram, startLeashed } from '../../tunnels/leash.js';
import { freePort } from '../loopback.js';

const PROGRAMS = ['valkey-server', 'redis-server'];
const NOT_FOUND = 127;
const GRACE_MS = 1000;
const START_MS = 5000;

export interface DemoBroker {
  readonly url: string;
  /** Resolves when nothing of the demo is left there. */
  close(): Promise<void>;
}

/** Starts the first of these programs that is in the PATH: loopback only, with a password, nothing on disk. @throws ConfigError */
export async function startBroker(programs: readonly string[] = PROGRAMS): Promise<DemoBroker> {
  const [port, password] = [await freePort(), randomBytes(24).toString('hex')];
  const folder = await mkdtemp(join(tmpdir(), 'offhook-demo-'));
  try {
    // A command line is seen by every user of the machine.
    const config = join(folder, 'broker.conf');
    const lines = ['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`, 'save ""', 'appendonly no'];
    await writeFile(config, `${lines.join('\n')}\n`, { mode: 0o600 });
    const env = { PATH: readEnv('PATH') ?? '' };
    for (const program of programs) {
      const broker = startLeashed(program, [config], { env, graceMs: GRACE_MS });
      if (await isReady(broker))
        return { url: `redis://:${password}@127.0.0.1:${port}`, close: () => broker.stop() };
      const code = await broker.ended;
      if (code !== NOT_FOUND)
        throw new ConfigError('CONFIG_INVALID', `${program} did not start (exit code ${code}).`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  throw new ConfigError(
    'CONFIG_MISSING',
    `--nodes needs Redis or Valkey, and ${programs.join(' or ')} is not in the PATH: install it (apt install redis-server, brew install valkey), or name one that runs with --broker redis://127.0.0.1:6379.`,
  );
}

async function isReady({ output: [said, failed] }: LeashedProgram): Promise<boolean> {
  failed?.resume();
  if (said === undefined) return false;
  for await (const line of createInterface(said)) {
    if (!/ready to accept connections/i.test(line)) continue;
    said.resume();
    return true;
  }
  return false;
}

/** One that runs. What the cluster of that name leaves there is removed. @throws ConfigError where it does not answer. */
export async function useBroker(url: string, name: string, { waitMs = START_MS } = {}): Promise<DemoBroker> {
  const complaint = complainOfUrl(url);
  if (complaint !== undefined) throw unfit(`cannot be reached by that URL: it ${complaint}`);
  const { createClient } = await loadRedisPackage();
  // It may be away between the start and the end of a demo: no connection lasts from one to the other.
  const connected = async (to = url) => {
    const client = createClient({ url: to, socket: { reconnectStrategy: false, connectTimeout: waitMs } });
    client.on('error', () => {});
    // Who takes the connection may say nothing on it.
    await within(systemClock, waitMs, client.connect());
    if (client.isReady) return client;
    client.destroy();
    throw new Error('timeout');
  };
  const removeAt = async (node: string) => {
    const client = await connected(node);
    try {
      // One by one: a Redis Cluster takes no command that is about several slots.
      for await (const keys of client.scanIterator({ MATCH: `offhook:${name}:*`, COUNT: 1000 }))
        await Promise.all(keys.map((key) => client.unlink(key)));
    } finally {
      client.destroy();
    }
  };
  try {
    (await connected()).destroy();
    return {
      url,
      async close() {
        try {
          const client = await connected();
          // A single one refuses this.
          const slots = await client.sendCommand<SlotRanges>(['CLUSTER', 'SLOTS']).catch(() => []);
          client.destroy();
          const nodes = slots.length === 0 ? [url] : nodesIn(slots, url);
          await Promise.allSettled(nodes.map(removeAt));
        } catch {
          // It is gone, or its user may not list keys.
        }
      },
    };
  } catch (cause) {
    throw unfit(complaintOf(cause, waitMs), cause);
  }
}

/** `because`: the end of a sentence, with or without its full stop. */
function unfit(because: string, cause?: unknown): ConfigError {
  return new ConfigError(
    'CONFIG_INVALID',
    `The broker of --broker ${because.replace(/\.$/, '')}. Name a Redis or Valkey that runs and lets us in, such as redis://127.0.0.1:6379, or leave --broker out: the demo then starts its own.`,
    { cause },
  );
}

/** Without the URL, which may have a password. */
function complaintOf(cause: unknown, waitMs: number): string {
  const { code, message = '' } = (cause ?? {}) as { code?: unknown; message?: string };
  if (code === 'ECONNREFUSED') return 'does not listen (ECONNREFUSED)';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `has a host that is not found (${code})`;
  if (typeof code === 'string') return `is not reached (${code})`;
  // What it says itself begins with a word in capitals.
  if (/^[A-Z]{3,} /.test(message)) return `refuses us: ${message}`;
  return /timeout/i.test(message) ? `has not answered within ${waitMs / 1000} s` : 'does not answer as one';
}
