import { join } from 'node:path';
import { setTimeout as realPause } from 'node:timers/promises';
import type { Plugin } from 'vitest/config';
import { describe, expect, it } from 'vitest';
import { root } from '../common-config.js';
import { virtualClock } from './clock.js';
import { counted } from './modules.js';
import { virtualTime } from './plugin.js';

describe('modules that are loaded in the middle of a call', () => {
  it('have the clock wait for them', async () => {
    const happened: string[] = [];
    const module = counted(realPause(50).then(() => happened.push('loaded')));
    await new Promise<void>((resolve) => void virtualClock.after(60_000, resolve));
    happened.push('a minute later');
    await module;
    expect(happened).toEqual(['loaded', 'a minute later']);
  });

  it('have it wait where WebAssembly is compiled', async () => {
    const { WebAssembly } = globalThis as unknown as {
      WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
    };
    let isCompiled = false;
    const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    const compiling = WebAssembly.compile(empty).then(() => (isCompiled = true));
    await new Promise<void>((resolve) => void virtualClock.after(60_000, resolve));
    expect(isCompiled).toBe(true);
    await compiling;
  });

  it('are found in the sources', () => {
    const { transform } = virtualTime(root) as Plugin & {
      transform(code: string, id: string): string | null;
    };
    const loads = "const { page } = await import('./page.js');";
    expect(transform(loads, join(root, 'src/server/page.ts'))).toContain(
      "await countedModule(import('./page.js'))",
    );
    expect(transform('const page = 1;', join(root, 'src/server/page.ts'))).toBeNull();
    expect(transform(loads, join(root, 'test/a.test.ts'))).toBeNull();
  });
});
