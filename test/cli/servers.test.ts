// `offhook status` and `offhook drain`: what servers say on their control sockets, and a server that is told to stop.
import { describe, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import type { ServeOptions } from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { type CarrierPhone, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { makeFolder } from '../support/data-folder.js';
import { itRefusesArguments, runCommand } from './run-command.js';

/** A caller who waits for the signal, then hangs up. */
const waits = (signal: AbortSignal): CallerStep[] => [
  { type: 'wait-for-agent' },
  { type: 'wait-until', signal, timeoutMs: 50_000 },
  { type: 'hang-up' },
];

async function openPhone(serve: Partial<ServeOptions> = {}): Promise<CarrierPhone & { dataDir: string }> {
  const dataDir = await makeFolder();
  return { ...(await startCarrierPhone('carrier-a', {}, { serve: { dataDir, ...serve } })), dataDir };
}

/** Resolves when the call is up. */
async function call({ simulator, active }: CarrierPhone, signal = new AbortController().signal) {
  const report = simulator.call({ to: OWN_NUMBER, script: waits(signal) });
  await active(1);
  return { report };
}

describe('offhook status', () => {
  const status = (...args: string[]) => runCommand(['status', ...args]);

  it('says that no server runs', async () => {
    const dataDir = await makeFolder();
    const { code, out, errors } = await status('--data-dir', dataDir);
    expect([code, out]).toEqual([1, '']);
    expect(errors).toBe(`No server of yours runs on ${dataDir}. Another folder: --data-dir.`);
    const json = await status('--data-dir', dataDir, '--json');
    expect([json.code, JSON.parse(json.out), json.errors]).toEqual([
      1,
      { dataDir, servers: [], silent: 0 },
      '',
    ]);
    expect((await status('--data-dir', `${dataDir}/nowhere`)).code).toBe(1);
  });

  it('says where a demo runs', async () => {
    const dataDir = await makeFolder();
    const demo = `${dataDir}/demo`;
    await using _ = await startCarrierPhone('carrier-a', {}, { serve: { dataDir: demo } });
    for (const command of ['status', 'drain']) {
      const { code, errors } = await runCommand([command, '--data-dir', dataDir]);
      expect([code, errors]).toEqual([
        1,
        `No server of yours runs on ${dataDir}. A demo does: --data-dir ${demo}`,
      ]);
    }
  });

  it('shows what serves, and how many calls are up', async () => {
    await using phone = await openPhone();
    const isOver = new AbortController();
    const { report } = await call(phone, isOver.signal);
    const { code, out } = await status('--data-dir', phone.dataDir);
    expect(code).toBe(0);
    const [headings, row, ...more] = out.split('\n').map((line) => line.split(/ {2,}/));
    expect([headings, more]).toEqual([['pid', 'version', 'port', 'state', 'calls', 'up since'], []]);
    const { version } = packageFile;
    const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(row).toEqual([String(process.pid), version, String(phone.server.port), 'serving', '1', since]);
    const { servers } = JSON.parse((await status('--data-dir', phone.dataDir, '--json')).out);
    expect(servers).toMatchObject([{ pid: process.pid, version, port: phone.server.port, calls: 1 }]);
    isOver.abort();
    await report;
  });

  itRefusesArguments(status, [[['--port', '8000'], /unknown option/]]);
});

describe('offhook drain', () => {
  const drain = (...args: string[]) => runCommand(['drain', ...args]);

  it('has the calls hung up that are left after its time', async () => {
    await using phone = await openPhone();
    const { report } = await call(phone);
    const { code } = await drain('--data-dir', phone.dataDir, '--timeout', '1', '--pid', String(process.pid));
    expect(code).toBe(0);
    expect((await report).end).toMatchObject({ by: 'agent', how: 'hang-up' });
    expect(phone.records.map(({ endReason }) => endReason)).toEqual(['server-shutdown']);
  });

  it('says what time there is where the server drains already', async () => {
    await using phone = await openPhone();
    const isOver = new AbortController();
    const { report } = await call(phone, isOver.signal);
    const first = phone.phone.drain({ timeoutSeconds: 60 });
    const { out } = await runCommand(
      ['drain', '--data-dir', phone.dataDir, '--timeout', '300'],
      AbortSignal.abort(),
    );
    expect(out).toContain('no new calls, 60 s for those that are up.');
    isOver.abort();
    await report;
    await first;
  });

  it('ends at Ctrl-C, and the server drains on', async () => {
    await using phone = await openPhone();
    const isOver = new AbortController();
    const { report } = await call(phone, isOver.signal);
    const { code, errors } = await runCommand(['drain', '--data-dir', phone.dataDir], AbortSignal.abort());
    expect([code, errors]).toEqual([1, 'Not waiting any more. The server drains on.']);
    expect((await runCommand(['status', '--data-dir', phone.dataDir])).out).toContain('  draining  1');
    isOver.abort();
    await report;
    await phone.server.closed;
  });

  it('says that there is nothing to drain', async () => {
    const dataDir = await makeFolder();
    const none = await drain('--data-dir', dataDir);
    expect([none.code, none.errors]).toEqual([1, expect.stringContaining('No server of yours runs on')]);
    await using phone = await openPhone();
    const other = await drain('--data-dir', phone.dataDir, '--pid', '1');
    expect([other.code, other.errors]).toEqual([1, 'No server with the pid 1: see offhook status.']);
  });

  itRefusesArguments(drain, [
    [['--timeout', '-1'], /whole number from 0 to 86400/],
    [['--timeout', '86401'], /whole number from 0 to 86400/],
    [['--pid', 'me'], /whole number from 1/],
  ]);
});
