// Signals to a real process. What a drain does to calls is in e2e/drain.test.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { type CarrierASimulator, startCarrierASimulator } from '../../src/testing/index.js';
import { runCommand } from '../cli/run-command.js';
import { makeFolder } from '../support/data-folder.js';
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

async function start(dataDir?: string): Promise<World> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const simulator = await startCarrierASimulator({ ...CREDENTIALS, url, webhookHost: 'voice.example.com' });
  const program = fileURLToPath(new URL('./signals-child.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [program, String(port), simulator.url, ...(dataDir === undefined ? [] : [dataDir])],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
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

/** A call whose caller leaves half a second after `left`. Nobody speaks: on a busy machine the voice would be late, and the call over for that. */
const call = ({ simulator }: World, left: AbortSignal) =>
  simulator.call({
    from: '+15005550020',
    to: '+15005550010',
    script: [
      { type: 'wait-until', signal: left, timeoutMs: 60_000 },
      { type: 'pause', durationMs: 500 },
      { type: 'hang-up' },
    ],
  });

async function isUp({ url }: World): Promise<void> {
  for (;;) {
    const { calls } = (await (await fetch(`${url}/api/dashboard/active`)).json()) as { calls: unknown[] };
    if (calls.length === 1) return;
    // Whoever asks without a pause leaves the server no time for the call.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it.concurrent.each(['SIGTERM', 'SIGINT'] as const)(
  '%s finishes the call, then ends the process',
  async (signal) => {
    await using world = await start();
    const leaving = new AbortController();
    const calling = call(world, leaving.signal);
    await isUp(world);
    world.child.kill(signal);
    leaving.abort();
    expect(await calling).toMatchObject({ ok: true, answer: { outcome: 'answered' } });
    expect(await world.exit).toEqual([0, null]);
    await world.printed('ended: caller-hangup');
  },
);

it.concurrent('a signal that comes twice at once, as from npm, is one', async () => {
  await using world = await start();
  const leaving = new AbortController();
  const calling = call(world, leaving.signal);
  await isUp(world);
  // Two of a kind might arrive as one.
  world.child.kill('SIGINT');
  world.child.kill('SIGTERM');
  leaving.abort();
  expect(await calling).toMatchObject({ ok: true, answer: { outcome: 'answered' } });
  expect(await world.exit).toEqual([0, null]);
  await world.printed('ended: caller-hangup');
});

it.concurrent('a second signal ends the process at once', async () => {
  await using world = await start();
  const calling = call(world, new AbortController().signal).catch(() => undefined);
  await isUp(world);
  // At the first of these it drains, at the first that is no echo of it the process ends.
  const signals = setInterval(() => world.child.kill('SIGTERM'), 100);
  expect(await world.exit).toEqual([143, null]);
  clearInterval(signals);
  await calling;
});

it.concurrent('a drain by command has a time of its own', async () => {
  const dataDir = await makeFolder();
  await using world = await start(dataDir);
  const calling = call(world, new AbortController().signal).catch(() => undefined);
  await isUp(world);
  const drain = async (seconds: string) =>
    (await runCommand(['drain', '--data-dir', dataDir, '--timeout', seconds], AbortSignal.abort())).out;
  const begun = performance.now();
  expect(await drain('90')).toContain('90 s for those that are up');
  const [, left] = / (\d+) s for those that are up/.exec(await drain('300')) ?? [];
  // What the machine took over both is gone of it.
  const passed = Math.ceil((performance.now() - begun) / 1000);
  expect(Number(left)).toBeLessThanOrEqual(90);
  expect(Number(left)).toBeGreaterThanOrEqual(90 - passed);
  world.child.kill('SIGKILL');
  await calling;
});

it('a server that began to listen too late for the signal drains, too', async () => {
  vi.resetModules();
  using exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const { drainOnSignal } = await import('../../src/client/signals.js');
  const others = process.listeners('SIGTERM');
  const first = vi.fn(async () => {});
  const ignoreFirst = drainOnSignal(first);
  const [listener] = process.listeners('SIGTERM').filter((each) => !others.includes(each));
  listener?.('SIGTERM');
  const late = vi.fn(async () => {});
  const ignoreLate = drainOnSignal(late);
  expect([first, late].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  ignoreFirst();
  ignoreLate();
  expect(process.listeners('SIGTERM')).toEqual(others);
  expect(exit).not.toHaveBeenCalled();
});

it('a later signal ends the process at once, one within a second is the first one again', async () => {
  vi.resetModules();
  using exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const { drainOnSignal } = await import('../../src/client/signals.js');
  const others = process.listeners('SIGINT');
  const drain = vi.fn(() => new Promise<void>(() => {}));
  const ignore = drainOnSignal(drain);
  const [listener] = process.listeners('SIGINT').filter((each) => !others.includes(each));
  // Whole: the difference of fractions would not be that of the table.
  const now = Math.ceil(performance.now());
  using clock = vi.spyOn(performance, 'now');
  for (const [afterMs, exits] of [
    [0, []],
    [999, []],
    [1000, [[130]]],
  ] as const) {
    clock.mockReturnValue(now + afterMs);
    listener?.('SIGINT');
    expect(exit.mock.calls).toEqual(exits);
  }
  expect(drain).toHaveBeenCalledTimes(1);
  ignore();
  expect(process.listeners('SIGINT')).toEqual(others);
});

it('a signal is the first one, too, where a command has drained the servers before', async () => {
  vi.resetModules();
  using exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const { drainOnSignal, endProcessAfter } = await import('../../src/client/signals.js');
  const others = process.listeners('SIGTERM');
  const drain = vi.fn(async () => {});
  const ignore = drainOnSignal(drain);
  const [listener] = process.listeners('SIGTERM').filter((each) => !others.includes(each));
  const other = vi.fn(async () => {});
  const ignoreOther = drainOnSignal(other);
  // The server that is drained has its own time, and the others that of a signal.
  endProcessAfter(() => new Promise<void>(() => {}), drain);
  expect([drain, other].map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  listener?.('SIGTERM');
  expect(drain).toHaveBeenCalledTimes(1);
  expect(exit).not.toHaveBeenCalled();
  ignore();
  ignoreOther();
});
