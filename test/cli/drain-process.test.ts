// `offhook drain` in a process of its own, in real time: nobody here knows what that process waits for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { makeFolder } from '../support/data-folder.js';
import '../support/room-for-calls.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

it('waits until the calls are over and the server has stopped', async () => {
  const dataDir = await makeFolder();
  await using phone = await startCarrierPhone('carrier-a', {}, { serve: { dataDir } });
  const isOver = new AbortController();
  const report = phone.simulator.call({
    to: OWN_NUMBER,
    script: [
      { type: 'wait-for-agent' },
      { type: 'wait-until', signal: isOver.signal, timeoutMs: 50_000 },
      { type: 'hang-up' },
    ],
  });
  await phone.active(1);
  const child = spawn(process.execPath, [CLI, 'drain', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let out = '';
  for await (const chunk of child.stdout) {
    out += String(chunk);
    if (out.includes('1 call is up.')) isOver.abort();
  }
  expect(await exit).toEqual([0, null]);
  expect(out).toBe(
    `Draining the server with the pid ${process.pid}, version ${packageFile.version}: no new calls, 30 s for those that are up.
1 call is up.
It has stopped.
`,
  );
  expect(await report).toMatchObject({ ok: true, end: { by: 'caller' } });
  await phone.server.closed;
});
