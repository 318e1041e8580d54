// What every run of vitest here goes by: the suite, the checks against official packages, and the talks with vendors.
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin, ViteUserConfig } from 'vitest/config';
import manifest from '../../package.json' with { type: 'json' };
import { emptyForeign } from './foreign-variables.js';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A worker thread loads its file without vitest, so it cannot be TypeScript: tests use the built file in dist. */
const builtWorkers: Plugin = {
  name: 'built-workers',
  enforce: 'pre',
  transform(code, id) {
    const path = relative(resolve(root, 'src'), id);
    if (path.startsWith('..')) return null;
    return code.replace(
      /new URL\('\.\/((?:[\w-]+-)?worker\.js)', import\.meta\.url\)/g,
      (_, file: string) => `new URL('${pathToFileURL(resolve(root, 'dist', path, '..', file)).href}')`,
    );
  },
};

/** Examples import the package by its name, as users do: here that is its source. */
const ownName = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          find: new RegExp(`^${entry.replace(/^\./, 'offhook')}$`),
          replacement: resolve(root, target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
        },
      ],
);

export const common = {
  root,
  resolve: { alias: ownName },
  plugins: [builtWorkers],
  test: {
    pool: 'forks',
    // Of what a call leaves, most is dead soon; as many processes as processors leave none to collect beside them.
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'],
    // What one group has compiled, the others and the next run take from node_modules.
    experimental: { fsModuleCache: true },
    maxWorkers: 2,
    // For what hangs alone: however busy the machine is, no test that goes on comes near.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // The same for what a test waits for.
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
    // Keys of whoever runs the tests must not make an agent call a vendor.
    env: {
      ...emptyForeign(process.env),
      // Nor must calls of tests appear on a dashboard that happens to run.
      XDG_RUNTIME_DIR: join(tmpdir(), `offhook-test-${process.pid}`),
    },
  },
} satisfies ViteUserConfig;
