// A process whose signals are the server's ends by itself once another one has its calls, and the command line sees both.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { runCommand } from '../../cli/run-command.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

it('the process before ends when everything is at the next one', async () => {
  await using deploy = await Deploy.on('carrier-a');
  const old = await deploy.fork({}, { handleSignals: true });
  const exit = once(old.child, 'exit');
  deploy.proxy.switchTo(old.port);
  // While somebody speaks, the call stays for a while.
  const calling = deploy.simulator.call({
    script: [{ type: 'monologue', durationMs: 10_000 }, { type: 'hang-up' }],
  });
  await eventually('the call', () => (old.started.length === 1 ? true : undefined), 40_000);
  const next = await deploy.serve();
  deploy.proxy.switchTo(next.port);
  const both = await runCommand(['status', '--json', '--data-dir', deploy.dataDir]);
  expect(JSON.parse(both.out).servers).toMatchObject([
    { pid: old.child.pid, port: old.port, state: 'handing-over', calls: 1 },
    { pid: process.pid, port: next.port, state: 'serving', calls: 0 },
  ]);
  expect(await exit).toEqual([0, null]);
  const one = await runCommand(['status', '--json', '--data-dir', deploy.dataDir]);
  expect(JSON.parse(one.out).servers).toMatchObject([{ pid: process.pid }]);
  expect((await runCommand(['drain', '--data-dir', deploy.dataDir])).code).toBe(0);
  expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
  await next.server.closed;
  expect(next.ended).toMatchObject([{ endReason: 'caller-hangup', term: 2 }]);
});
