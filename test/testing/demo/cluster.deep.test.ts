// The built command, its processes, and a real Redis.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/carrier-phone.js';
import { freePort } from '../../support/free-port.js';
import { describeOnRedis, RedisServer } from '../../support/redis-server.js';

const dist = (path: string) => fileURLToPath(new URL(`../../../dist/${path}`, import.meta.url));
const STARTED = /^Ctrl-C/;
const PATIENCE_MS = 100_000;

/** Every process below this one. */
function descendants(pid: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    rows.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

let folder: string;
const running: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-nodes-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** `line` resolves with the first one that says so. */
async function runDemo(...options: string[]) {
  const port = await freePort();
  const demo = spawn(process.execPath, [dist('cli.js'), 'demo', '--port', `${port}`, ...options], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: 'pipe',
  });
  running.push(demo);
  const lines: string[] = [];
  const errors: string[] = [];
  demo.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  createInterface(demo.stdout).on('line', (line) => lines.push(line));
  const line = (text: RegExp) =>
    eventually(`${text}`, () => lines.find((each) => text.test(each)), PATIENCE_MS);
  return { demo, pid: demo.pid ?? 0, url: `http://127.0.0.1:${port}`, lines, line, errors };
}

/** How many are up. */
async function callsOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^offhook_calls_active(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

describeOnRedis('a demo with several servers', (program) => {
  it('kills one, has its calls go on, and leaves nothing behind', { timeout: 200_000 }, async () => {
    const { demo, pid, url, lines, line } = await runDemo('--nodes', '3');
    expect(await line(/went on at/)).toMatch(
      /^server \d killed with \d calls? up: .*went on at server \d.*, silence up to \d\.\d s, back after \d+\.\d s$/,
    );
    expect((await fetch(url)).status).toBe(200);
    const [, looked = ''] =
      /^status +curl -s (\S+) \| grep offhook_server$/.exec(await line(/^status/)) ?? [];
    const up = (await (await fetch(looked)).text())
      .split('\n')
      .filter((each) => /^offhook_server_up/.test(each));
    expect(up.length).toBeGreaterThanOrEqual(2);
    const processes = descendants(pid);
    // Three servers, and a Redis that is held by one more.
    expect(processes).toHaveLength(5);
    const over = once(demo, 'exit');
    demo.kill('SIGINT');
    expect(await over).toEqual([0, null]);
    expect(lines.at(-4)).toMatch(/^calls +[1-9]\d*, .*\(\d+\)$/);
    expect(lines.at(-3)).toMatch(/^lost +0$/);
    expect(lines.at(-2)).toMatch(/^kills +\d, silence up to \d\.\d s$/);
    expect(lines.at(-1)).toBe('Stopped.');
    expect(processes.filter(isAlive)).toEqual([]);
    expect(await readdir(folder)).toEqual(['.offhook']);
  });

  it('takes all of its processes along when it is killed, and sends nobody to its carrier', {
    timeout: 200_000,
  }, async () => {
    const { demo, pid, url, line, errors } = await runDemo('--nodes', '2');
    await line(STARTED);
    const processes = descendants(pid);
    expect(processes).toHaveLength(4);
    await eventually('a call', async () => (await callsOf(url)) > 0 || undefined, PATIENCE_MS);
    demo.kill('SIGKILL');
    await eventually('their end', () => (processes.some(isAlive) ? undefined : true), PATIENCE_MS);
    expect(errors.join('')).not.toContain('may still be up');
  });

  it.each([
    ['', false],
    [', also where that was killed and came back', true],
  ])('leaves no key in the Redis that it was given%s', { timeout: 200_000 }, async (_, isKilled) => {
    const redis = await RedisServer.start(program);
    const { demo, line } = await runDemo('--nodes', '2', '--broker', redis.url);
    await line(STARTED);
    if (isKilled) {
      await redis.kill();
      await redis.start();
    }
    await redis.ask('SET', 'other', '1');
    const size = async () => ((await redis.ask('DBSIZE')) as number) > 1 || undefined;
    await eventually('the servers', size, PATIENCE_MS);
    const over = once(demo, 'exit');
    demo.kill('SIGINT');
    expect(await over).toEqual([0, null]);
    expect(await redis.ask('KEYS', '*')).toEqual(['other']);
    await redis.kill();
  });
});
