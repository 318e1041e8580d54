// `onCallEnd` in processes that die.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { type CarrierASimulator, startCarrierASimulator } from '../../src/testing/index.js';
import { stamp, started } from '../support/call-facts.js';
import { freePort } from '../support/free-port.js';

const CREDENTIALS = { accountSid: `AC${'0a'.repeat(16)}`, authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' };
const PROGRAM = fileURLToPath(new URL('./end-callback-child.mjs', import.meta.url));

interface Server {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** Resolves when the process has printed such a line. */
  printed(line: RegExp): Promise<void>;
  kill(): Promise<void>;
}

/** Servers on one data folder, one after the other. */
class World implements AsyncDisposable {
  readonly port: number;
  readonly simulator: CarrierASimulator;
  readonly dataDir: string;
  #server: Server | undefined;

  private constructor(port: number, simulator: CarrierASimulator, dataDir: string) {
    this.port = port;
    this.simulator = simulator;
    this.dataDir = dataDir;
  }

  static async open(): Promise<World> {
    const port = await freePort();
    // Tests beside each other cannot leave it to the end of one of them.
    const dataDir = await mkdtemp(join(tmpdir(), 'offhook-data-'));
    const url = `http://127.0.0.1:${port}`;
    const simulator = await startCarrierASimulator({ ...CREDENTIALS, url, webhookHost: 'voice.example.com' });
    return new World(port, simulator, dataDir);
  }

  async start(mode: 'returns' | 'hangs' | 'exits'): Promise<Server> {
    const child = spawn(
      process.execPath,
      [PROGRAM, String(this.port), this.simulator.url, this.dataDir, mode],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    reader.on('line', (line) => lines.push(line));
    // It has printed nothing more then.
    const exit = once(child, 'close');
    const server: Server = {
      child,
      lines,
      async printed(line) {
        while (!lines.some((each) => line.test(each))) await once(reader, 'line');
      },
      async kill() {
        child.kill('SIGKILL');
        await exit;
      },
    };
    this.#server = server;
    if (mode === 'exits') await exit;
    else await server.printed(/^listening/);
    return server;
  }

  call(durationMs: number) {
    return this.simulator.call({
      from: '+15005550020',
      to: '+15005550010',
      script: [{ type: 'pause', durationMs }, { type: 'hang-up' }],
    });
  }

  /** The next process will know the call that is up. */
  async isKept(): Promise<void> {
    const hasCall = async () =>
      (await readdir(join(this.dataDir, 'live'))).some((name) => name.endsWith('.json'));
    while (!(await hasCall())) await pause(systemClock, 20);
  }

  /** Every callback has returned. */
  async nothingIsPending(): Promise<void> {
    while ((await readdir(join(this.dataDir, 'ended'))).length > 0) await pause(systemClock, 20);
  }

  async [Symbol.asyncDispose]() {
    if (this.#server?.child.exitCode === null) await this.#server.kill();
    await this.simulator.close();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}

it.concurrent('a callback that was running when its process was killed runs again in the next one, until it returns', async () => {
  await using world = await World.open();
  const first = await world.start('hangs');
  expect(await world.call(100)).toMatchObject({ ok: true });
  await first.printed(/^ended: .* first/);
  await first.kill();
  const second = await world.start('hangs');
  await second.printed(/^ended: .* true/);
  await second.kill();
  const third = await world.start('returns');
  await third.printed(/^ended: .* true/);
  expect(await world.call(100)).toMatchObject({ ok: true });
  await third.printed(/^ended: .* first/);
  await world.nothingIsPending();
  await third.kill();
  const fourth = await world.start('returns');
  expect(fourth.lines).toEqual(['listening']);
});

it.concurrent('the end of a call that died with its process is told for the first time by the next one', async () => {
  await using world = await World.open();
  const first = await world.start('returns');
  const calling = world.call(3000);
  await world.isKept();
  await first.kill();
  await calling.catch(() => {});
  const second = await world.start('hangs');
  await second.printed(/^ended: process-lost first/);
  await second.kill();
  const third = await world.start('returns');
  await third.printed(/^ended: process-lost true/);
});

it.concurrent('a callback that ends its process each time does not end each process to come', async () => {
  await using world = await World.open();
  const store = await DiskStore.open({ folder: join(world.dataDir, 'server') });
  for (const event of stamp([started()], { callId: 'call-1' })) await store.append(event);
  await store.close();
  for (const delivery of ['first', 'true', 'true', 'true', 'true'])
    expect((await world.start('exits')).lines).toEqual([`ended: process-lost ${delivery}`]);
  expect((await world.start('returns')).lines).toEqual(['listening']);
});
