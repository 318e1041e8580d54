import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { leashed, startLeashed } from '../../src/tunnels/leash.js';
import { createFakeCloudflared, type FakeCloudflared } from '../support/fake-cloudflared.js';
import { soon } from '../support/soon.js';

let program: FakeCloudflared | undefined;

afterEach(() => program?.[Symbol.dispose]());

describe('a leash', () => {
  it('ends the program when its owner is killed', async () => {
    program = createFakeCloudflared();
    const { file, args } = leashed(program.path, []);
    const owner = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] }); setInterval(() => {}, 1000);`,
      ],
      { stdio: 'ignore' },
    );
    const { pid } = await program.started();
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await program.gone(pid);
  });

  it('cuts a program that will not end by itself', async () => {
    program = createFakeCloudflared([], `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`);
    const { stop, ended } = startLeashed(program.path, ['a', '--b'], { env: {}, graceMs: 50 });
    const { pid, args } = await program.started();
    expect(args).toEqual(['a', '--b']);
    await stop();
    await program.gone(pid);
    expect(await ended).not.toBe(0);
  });

  it('tells of a program that cannot be started', async () => {
    const { ended, stop } = startLeashed('/nowhere/cloudflared', [], { env: {} });
    expect(await ended).toBe(127);
    await stop();
  });

  it('tells also where the process between cannot be started', async () => {
    const node = process.execPath;
    let code: number | null | undefined;
    try {
      process.execPath = '/nowhere/node';
      void startLeashed('cloudflared', [], { env: {} }).ended.then((told) => (code = told));
    } finally {
      process.execPath = node;
    }
    await soon(() => expect(code).toBeNull());
  });
});
