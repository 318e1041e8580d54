import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DemoOptions } from '../../../src/testing/demo/run-demo.js';
import { freePort } from '../../support/free-port.js';

describe('a demo whose server is killed', () => {
  const dist = new URL('../../../dist/testing/demo/run-demo.js', import.meta.url);

  it('has its calls go on', async () => {
    // Processes cannot be started from sources.
    const { runDemo } = (await import(dist.href)) as { runDemo(options: DemoOptions): Promise<void> };
    const folder = await mkdtemp(join(tmpdir(), 'offhook-demo-'));
    const lines: string[] = [];
    const controller = new AbortController();
    await runDemo({
      ...{ port: await freePort(), host: '127.0.0.1', folder, signal: controller.signal },
      killEveryMs: 6000,
      print(line) {
        lines.push(line);
        if (line.startsWith('server killed')) controller.abort();
      },
    });
    await rm(folder, { recursive: true });
    const killed = lines.find((line) => line.startsWith('server killed'));
    expect(killed).toMatch(/^server killed with 1 call up, .*, the call from …0121 went on after \d\.\d s$/);
    expect(lines.at(-1)).toBe('Stopped.');
  });
});
