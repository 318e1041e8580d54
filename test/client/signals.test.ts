// Signals to a real process. What a drain does to calls is in e2e/drain.test.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type CarrierASimulator, startCarrierASimulator } from '../../src/testing/index.js';
import { freePort } from '../support/free-port.js';

const CREDENTIALS = { accountSid: `AC${'0a'.repeat(16)}`, authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' };

interface World extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  readonly simulator: CarrierASimulator;
  readonly exit: Promise<unknown[]>;
  /** Resolves when the process has printed the line. */
  printed(line: string): Promise<void>;
}

async function start(): Promise<World> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const simulator = await startCarrierASimulator({ ...CREDENTIALS, url, webhookHost: 'voice.example.com' });
  const program = fileURLToPath(new URL('./signals-child.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, String(port), simulator.url], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  reader.on('line', (line) => lines.push(line));
  const world: World = {
    url,
    child,
    simulator,
    exit: once(child, 'exit'),
    async printed(line) {
      while (!lines.includes(line)) await once(reader, 'line');
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await world.exit;
      await simulator.close();
    },
  };
  await world.printed('listening');
  return world;
}

const call = ({ simulator }: World, durationMs: number) =>
  simulator.call({
    from: '+15005550020',
    to: '+15005550010',
    script: [{ type: 'wait-for-agent' }, { type: 'pause', durationMs }, { type: 'hang-up' }],
  });

async function isUp({ url }: World): Promise<void> {
  for (;;) {
    const { calls } = (await (await fetch(`${url}/api/dashboard/active`)).json()) as { calls: unknown[] };
    if (calls.length === 1) return;
  }
}

it.concurrent.each(['SIGTERM', 'SIGINT'] as const)(
  '%s finishes the call, then ends the process',
  async (signal) => {
    await using world = await start();
    const calling = call(world, 1000);
    await isUp(world);
    world.child.kill(signal);
    expect(await calling).toMatchObject({ ok: true, answer: { outcome: 'answered' } });
    expect(await world.exit).toEqual([0, null]);
    await world.printed('ended: caller-hangup');
  },
);

it.concurrent('a second signal ends the process at once', async () => {
  await using world = await start();
  const calling = call(world, 60_000).catch(() => undefined);
  await isUp(world);
  world.child.kill('SIGTERM');
  while ((await fetch(`${world.url}/ready`)).status !== 503);
  world.child.kill('SIGTERM');
  expect(await world.exit).toEqual([143, null]);
  await calling;
});
