import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/program.js';
import { ConfigError } from '../../src/base/errors.js';
import { findDemo } from '../../src/testing/demo/demo-file.js';
import { runDemo } from '../../src/testing/demo/run-demo.js';
import { runCommand } from './run-command.js';

async function freePort(): Promise<{ port: number; release(): Promise<void> }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async release() {
      server.close();
      await once(server, 'close');
    },
  };
}

describe('offhook demo', () => {
  it('says in one line that the port is in use', async () => {
    const { port, release } = await freePort();
    const errors: string[] = [];
    const code = await runCli(['demo', '--port', String(port)], {
      out: () => {},
      error: (text) => errors.push(text),
      signal: new AbortController().signal,
    });
    await release();
    expect(code).toBe(1);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(new RegExp(`^error: .*${port}[^\n]*$`));
  });

  it('says in one line that its folder cannot be created', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-demo-'));
    // A file in the place of the folder stands for every refusal, and holds for root as well.
    await writeFile(join(folder, 'taken'), '');
    const running = runDemo({
      port: 1,
      host: '127.0.0.1',
      folder: join(folder, 'taken', 'demo'),
      print: () => {},
      signal: AbortSignal.abort(),
    });
    await expect(running).rejects.toThrow(/^The folder .*taken\/demo cannot be created \(ENOTDIR\)[^\n]*$/);
    await expect(running).rejects.toBeInstanceOf(ConfigError);
    await rm(folder, { recursive: true });
  });

  it('can be found while it runs, and ends in order', async () => {
    const { port, release } = await freePort();
    await release();
    const controller = new AbortController();
    const lines: string[] = [];
    let found: unknown;
    let status: unknown;
    const code = await runCli(['demo', '--port', String(port)], {
      error: (text) => lines.push(text),
      signal: controller.signal,
      out(text) {
        lines.push(text);
        if (!text.startsWith('Ctrl-C')) return;
        void (async () => {
          found = await findDemo(port);
          // As it says itself.
          const [, command = ''] = /^status +npx offhook (.*)$/m.exec(lines.join('\n')) ?? [];
          status = await runCommand(command.split(' '));
          const response = await fetch(`http://127.0.0.1:${port}/health`);
          expect(response.status).toBe(200);
        })().finally(() => controller.abort());
      },
    });
    expect(code).toBe(0);
    expect(found).toMatchObject({ port, processId: process.pid });
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining(`${port}`) });
    expect(lines[0]).toContain(`http://127.0.0.1:${port}`);
    expect(lines.at(-1)).toBe('Stopped.');
    expect(await findDemo(port)).toBeUndefined();
  });
});
