// `npm test`: sets the clone up, then runs the test suite. Arguments go to vitest.
import { spawn } from 'node:child_process';
import { root, setUp } from './setup.mjs';

await setUp();
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
const child = spawn(process.execPath, [...vitest, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
