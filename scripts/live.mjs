// `npm run live`: one short exchange with each AI vendor whose key is in the environment, for money, when OFFHOOK_LIVE is 1. Sets the
// clone up first. Arguments go to vitest.
import { run, setUp } from './setup.mjs';

await setUp();
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'test/live/vitest.config.ts',
  '--reporter=verbose',
];
await run(process.execPath, [...vitest, ...process.argv.slice(2)], { show: true }).catch(() =>
  process.exit(1),
);
