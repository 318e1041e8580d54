import { afterEach, describe, expect, it, vi } from 'vitest';
import { findCloudflared } from '../../src/tunnels/cloudflared.js';
import type { Tunnel } from '../../src/tunnels/tunnel.js';
import {
  createFakeCloudflared,
  FAKE_HOST,
  type FakeCloudflared,
  REAL_OUTPUT,
} from '../support/fake-cloudflared.js';
import { FakeClock } from '../support/fake-clock.js';

const URL = 'http://127.0.0.1:8000';
const noPackage = () => Promise.reject(new Error('Cannot find package'));

let fake: FakeCloudflared | undefined;
let tunnel: Tunnel | undefined;

/** Makes a program, and PATH lead to nothing else. */
function install(lines?: readonly string[], behavior?: string): FakeCloudflared {
  fake = createFakeCloudflared(lines, behavior);
  vi.stubEnv('PATH', fake.folder);
  return fake;
}

async function open(options: { clock?: FakeClock; signal?: AbortSignal } = {}): Promise<Tunnel> {
  const program = await findCloudflared({ loadPackage: noPackage, clock: options.clock });
  tunnel = await program.open(URL, { signal: options.signal ?? new AbortController().signal });
  return tunnel;
}

afterEach(async () => {
  await tunnel?.close();
  tunnel = undefined;
  fake?.[Symbol.dispose]();
  vi.unstubAllEnvs();
});

describe('finding cloudflared', () => {
  it('fails with what to install where it is not', async () => {
    vi.stubEnv('PATH', '/nowhere');
    await expect(findCloudflared({ loadPackage: noPackage })).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message: expect.stringMatching(/PATH.*npm install cloudflared.*webhookUrl/),
    });
  });

  it('takes the program of the optional package, or says that it was not fetched', async () => {
    const { path } = install();
    vi.stubEnv('PATH', '');
    await expect(findCloudflared({ loadPackage: async () => ({ bin: path }) })).resolves.toBeDefined();
    await expect(
      findCloudflared({ loadPackage: async () => ({ bin: '/nowhere/cloudflared' }) }),
    ).rejects.toMatchObject({ message: expect.stringContaining('npx cloudflared bin install') });
  });
});

describe('a tunnel', () => {
  it('leads to the address, under the host that the program names', async () => {
    const program = install();
    const clock = new FakeClock();
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', 'secret');
    expect((await open({ clock })).host).toBe(FAKE_HOST);
    expect(clock.pending).toBe(0);
    const { args, env } = await program.started();
    expect(args).toEqual(['tunnel', '--url', URL]);
    expect(env).not.toHaveProperty('CARRIER_A_AUTH_TOKEN');
    expect(env).toMatchObject({ PATH: program.folder, NO_AUTOUPDATE: 'true' });
  });

  it('ends the program when it is closed, once and for all', async () => {
    const program = install();
    const { close, lost } = await open();
    const { pid } = await program.started();
    let isLost = false;
    void lost.then(() => {
      isLost = true;
    });
    await Promise.all([close(), close()]);
    await program.gone(pid);
    await close();
    expect(isLost).toBe(false);
  });

  it('tells when the program has gone by itself', async () => {
    const program = install();
    const { lost } = await open();
    process.kill((await program.started()).pid, 'SIGKILL');
    await expect(lost).resolves.toBeUndefined();
  });

  it('is not opened when the program ends, and what it said is not repeated', async () => {
    const line = 'ERR failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": secret';
    install([line], 'process.exit(3);');
    const clock = new FakeClock();
    const failure = open({ clock });
    await expect(failure).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/exit code 3.*cloudflared tunnel --url http:\/\/127\.0\.0\.1:8000/),
    });
    await expect(failure).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
    expect(clock.pending).toBe(0);
  });

  it('is not opened when no host is named in time', async () => {
    const program = install(REAL_OUTPUT.slice(0, 2));
    const clock = new FakeClock();
    const failure = expect(open({ clock })).rejects.toMatchObject({
      message: expect.stringContaining('30 seconds'),
    });
    const { pid } = await program.started();
    clock.advance(30_000);
    await failure;
    await program.gone(pid);
  });

  it('is given up when the server closes meanwhile', async () => {
    const program = install([]);
    const controller = new AbortController();
    const failure = expect(open({ signal: controller.signal })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    const { pid } = await program.started();
    controller.abort();
    await failure;
    await program.gone(pid);
  });

  it('does not stall however much the program writes', async () => {
    install(REAL_OUTPUT, `for (let n = 0; n < 20000; n += 1) console.log('x'.repeat(100)); process.exit(0);`);
    const { lost } = await open();
    await expect(lost).resolves.toBeUndefined();
  });
});
