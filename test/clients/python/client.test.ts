// The same in Python. `scripts/python-client.mjs` runs it, with the place of a Python that has the generator.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { CallRecord } from '../../../src/contract/call-record.js';
import type { CallsPage } from '../../../src/contract/dashboard-api.js';
import { startPhoneWithCalls, TOKEN } from '../phone-with-calls.js';

const PROGRAM = fileURLToPath(new URL('client.py', import.meta.url));
const CONFIG = fileURLToPath(new URL('generator.yaml', import.meta.url));
/** The most that a program of Python may take. */
const PATIENCE_MS = 240_000;

/** The folder of the programs of Python. */
const programs = process.env.TEST_PYTHON ?? '';

async function run(name: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const options = {
    cwd,
    timeout: PATIENCE_MS,
    // The generator looks for its formatter. What is on loopback needs no proxy.
    env: {
      ...process.env,
      PATH: `${programs}${delimiter}${process.env.PATH}`,
      NO_PROXY: '127.0.0.1',
      ...env,
    },
  };
  const { stdout } = await promisify(execFile)(join(programs, name), args, options);
  return stdout;
}

it('a Python client generated from the OpenAPI document reads the history, follows events and hangs up', {
  timeout: 3 * PATIENCE_MS,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-python-'));
  const phone = await startPhoneWithCalls({ dataDir: join(folder, 'data'), localRecording: true });
  try {
    const document = `${phone.url}/api/openapi.json?token=${TOKEN}`;
    const output = ['--config', CONFIG, '--meta', 'none', '--output-path', 'offhook_client'];
    await run(
      'openapi-python-client',
      ['generate', '--url', document, ...output, '--fail-on-warning'],
      folder,
    );
    await cp(PROGRAM, join(folder, 'client.py'));
    const { calls } = await phone.read<CallsPage>('/api/dashboard/calls');
    const [live, last] = calls;
    const record = await phone.read<CallRecord>(`/api/dashboard/calls/${last?.callId}`);
    const said = await run('python', ['client.py'], folder, {
      OFFHOOK_URL: phone.url,
      DASHBOARD_TOKEN: TOKEN,
    });
    expect(JSON.parse(said)).toEqual({
      callIds: calls.map(({ callId }) => callId),
      record,
      turns: record.turns.length,
      audioBytes: record.localRecording?.bytes,
      ended: expect.objectContaining({ type: 'call.ended', callId: live?.callId }),
      byOperator: true,
      refusals: {
        stranger: expect.stringMatching(/^AUTH_REQUIRED: The dashboard token/),
        range: expect.stringMatching(/^REQUEST_INVALID: Query parameter "limit"/),
        unknown: expect.stringMatching(/^NOT_FOUND: No such call/),
        unfinished: expect.stringMatching(/^RECORDING_NOT_READY: The recording is still being made/),
        over: expect.stringMatching(/^REQUEST_CONFLICT: The call is over/),
      },
    });
    expect(await phone.read('/api/dashboard/active')).toEqual({ calls: [] });
  } finally {
    await phone[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
});
