import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { dashboardSocket } from '../../src/base/dashboard-socket.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { FeedingServer } from '../support/feeding-server.js';
import { freePort } from '../support/free-port.js';
import { socketFolder } from '../support/ingest-dashboard.js';
import { itRefusesArguments, runCommand } from './run-command.js';
import { soon } from '../support/soon.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

let room: ReturnType<typeof socketFolder>;
const children: ChildProcess[] = [];

beforeEach(() => {
  room = socketFolder();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  room.remove();
});

/** Starts the command in a process of its own, and reads what it prints as JSON. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [CLI, 'dashboard', '--json', '--data-dir', room.folder, ...args], {
    env: { ...process.env, XDG_RUNTIME_DIR: room.folder, OFFHOOK_DASHBOARD_TOKEN: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, said: JSON.parse(line) as { url: string; socket: string | null; warnings: string[] } };
}

const run = (...args: string[]) =>
  runCommand(['dashboard', '--data-dir', room.folder, ...args], AbortSignal.abort());

describe('offhook dashboard', () => {
  it('shows the calls of a server that knows nothing of it, and ends in order', async () => {
    const port = await freePort();
    const { child, said } = await start('--port', String(port));
    const socket = dashboardSocket(join(room.folder, 'offhook'));
    expect(said).toMatchObject({ url: `http://127.0.0.1:${port}/`, socket: socket.path });
    expect(said.warnings).toEqual([expect.stringContaining('OFFHOOK_DASHBOARD_TOKEN')]);
    const health = await fetch(`${said.url}health`);
    expect(await health.json()).toEqual({ status: 'ok', mode: 'dashboard' });

    const server = new FeedingServer({
      nodeId: 'node-1',
      store: new MemoryStore(),
      socket,
      clock: systemClock,
    });
    for (const event of stamp([started(), ended()])) server.publish(event);
    let calls: unknown[] = [];
    while (calls.length === 0) {
      const answer = await fetch(`${said.url}api/dashboard/calls?status=completed`);
      calls = ((await answer.json()) as { calls: unknown[] }).calls;
    }
    expect(calls).toMatchObject([{ callId: 'call-1', endReason: 'caller-hangup' }]);
    await server.kill();

    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    await expect(fetch(`${said.url}health`)).rejects.toThrow();
  });

  it('says that the secret of a cluster is that of its servers', async () => {
    vi.stubEnv('OFFHOOK_CLUSTER_SECRET', 'too-short');
    const { code, errors } = await run('--cluster', 'redis://localhost', '--cluster-name', 'x');
    vi.unstubAllEnvs();
    expect(code).toBe(2);
    expect(errors).toMatch(
      /^error: OFFHOOK_CLUSTER_SECRET must have at least 32 bytes.* Use that of the servers\./,
    );
    expect(errors).not.toContain('openssl');
  });

  it('ends in order at a Ctrl-C that comes twice at once, as from npx', async () => {
    const { child } = await start('--port', String(await freePort()));
    // Two of a kind might arrive as one.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('lets the second one of a user run, and says that servers do not find it', async () => {
    await start('--port', String(await freePort()));
    const { said } = await start('--port', String(await freePort()));
    expect(said.socket).toBeNull();
    const { path } = dashboardSocket(join(room.folder, 'offhook'));
    expect(said.warnings).toEqual([
      expect.stringMatching(/kept in memory only.*--data-dir/),
      expect.stringContaining(`Another dashboard of this user listens on ${path}: stop it first.`),
      expect.stringMatching(/No calls are taken: there is neither a socket nor a token/),
    ]);
    expect(said.warnings[1]).toMatch(/give this one a token \(OFFHOOK_DASHBOARD_TOKEN\).*dashboardUrl/);
  });

  it('takes the place of one that was killed', async () => {
    const first = await start('--port', String(await freePort()));
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect((await start('--port', String(await freePort()))).said.socket).not.toBeNull();
  });

  it('has its history after it was killed', async () => {
    const first = await start('--port', String(await freePort()));
    const socket = dashboardSocket(join(room.folder, 'offhook'));
    const server = new FeedingServer({
      nodeId: 'node-1',
      store: new MemoryStore(),
      socket,
      clock: systemClock,
    });
    for (const event of stamp([started(), ended()])) server.publish(event);
    const shown = async (url: string) =>
      (await (await fetch(`${url}api/dashboard/export/calls?status=completed`)).json()) as {
        calls: unknown[];
      };
    // Shown is what it has heard; what it has said to have is on its disk.
    await soon(() => expect(server.endedThere.has('call-1')).toBe(true));
    const before = await shown(first.said.url);
    await server.kill();
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await start('--port', String(await freePort()));
    expect(await shown(second.said.url)).toEqual(before);
    expect(before.calls).toMatchObject([{ callId: 'call-1', endReason: 'caller-hangup' }]);
  });

  it('says in one line that the port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, errors } = await run('--port', String(port));
    taken.close();
    expect(errors).toMatch(new RegExp(`^error: Port ${port} is in use[^\n]*$`));
    expect(code).toBe(1);
  });

  itRefusesArguments(run, [
    [['--port', '0'], /from 1 to 65535/],
    [['--token', ''], /without blanks/],
    [['--token', 'a b'], /without blanks/],
    [['--token', 'fifteen-letters'], /16 characters or more.*randomBytes/],
    [['--speed', '1'], /unknown option/],
    [
      ['--cluster', '--cluster-name', 'x'],
      /needs the URL of the broker: --cluster \(or OFFHOOK_CLUSTER_URL\)/,
    ],
    [
      ['--cluster', 'redis://localhost'],
      /needs the name of the cluster: --cluster-name \(or OFFHOOK_CLUSTER_NAME\)/,
    ],
    [
      ['--cluster', 'redis://localhost', '--cluster-name', 'x'],
      /needs the secret of its servers: OFFHOOK_CLUSTER_SECRET/,
    ],
    [['--cluster-name', 'x'], /--cluster-name goes with --cluster: give that the URL/],
    [['--cluster', 'redis://user:word@localhost'], /Other users see a command line.*OFFHOOK_CLUSTER_URL/],
  ]);
});
