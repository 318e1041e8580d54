import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CheckResult } from '../../../src/cli/doctor/check.js';
import { type DoctorFlags, type DoctorParts, runDoctor } from '../../../src/cli/doctor/doctor-command.js';
import { checkNode } from '../../../src/cli/doctor/machine.js';
import type { NumberUrls } from '../../../src/carriers/carrier.js';
import { makeFolder } from '../../support/data-folder.js';
import { createPlainCarrier, PlainRest } from '../../support/plain-carrier.js';
import { itRefusesArguments, runCommand } from '../run-command.js';

const NOW = Date.UTC(2026, 0, 1);
const SID = `AC${'0a'.repeat(16)}`;
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

afterEach(() => vi.unstubAllEnvs());

/** What the network answers, by URL; nothing for anything else. */
type Answers = Record<string, Response | Error>;

async function examine(flags: DoctorFlags = {}, answers: Answers = {}, parts: Partial<DoctorParts> = {}) {
  const out: string[] = [];
  const asked: string[] = [];
  const fetch = async (url: unknown) => {
    asked.push(String(url));
    const answer = answers[String(url)] ?? new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } });
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const context = { out: (text: string) => out.push(text), error() {}, signal: new AbortController().signal };
  const code = await runDoctor({ json: true, ...flags }, context, {
    network: { fetch, now: () => NOW },
    createCarrier: createPlainCarrier,
    ...parts,
  });
  const text = out.join('\n');
  const { checks, ok }: { checks: CheckResult[]; ok: boolean } = JSON.parse(text);
  const find = (name: string) => checks.find((check) => check.name === name);
  return { code, ok, text, asked, checks, find };
}

const healthy = () => Response.json({ status: 'ok', mode: 'local' });
const dated = (skewMs: number) =>
  new Response('', { status: 401, headers: { date: new Date(NOW - skewMs).toUTCString() } });
const API_A = 'https://api.twilio.com';

describe('offhook doctor', () => {
  it('looks at this machine, asks nobody, and is content without a carrier', async () => {
    const { code, ok, asked, checks } = await examine();
    expect(checks.map(({ name, status }) => [name, status])).toEqual([
      ['node', 'ok'],
      ['transcoder', 'ok'],
      ['audio', 'ok'],
      ['carriers', 'warning'],
    ]);
    expect({ code, ok, asked }).toEqual({ code: 0, ok: true, asked: [] });
  });

  it('says of each setting whether it is there, and shows no value', async () => {
    vi.stubEnv('CARRIER_A_ACCOUNT_SID', SID);
    vi.stubEnv('TWILIO_AUTH_TOKEN', TOKEN);
    vi.stubEnv('CARRIER_B_API_KEY', 'KEY0123 secret');
    vi.stubEnv('CARRIER_B_PUBLIC_KEY', 'bm90IGEga2V5');
    const { code, text, find } = await examine();
    expect(find('carrier-a.accountSid')).toMatchObject({
      status: 'ok',
      details: { state: 'present', variable: 'CARRIER_A_ACCOUNT_SID' },
    });
    expect(find('carrier-a.authToken')).toMatchObject({ details: { variable: 'TWILIO_AUTH_TOKEN' } });
    expect(find('carrier-b.apiKey')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('blank'),
    });
    expect(find('carrier-b.connectionId')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('set CARRIER_B_CONNECTION_ID'),
      details: { state: 'missing' },
    });
    expect(find('carrier-b.publicKey')).toMatchObject({ status: 'failed', details: { state: 'malformed' } });
    expect(code).toBe(1);
    for (const value of [SID, TOKEN, 'KEY0123', 'bm90IGEga2V5']) expect(text).not.toContain(value);
  });

  it('reads settings from the file of --settings, behind those of the environment', async () => {
    const file = join(await makeFolder(), 'settings');
    await writeFile(
      file,
      `CARRIER_A_ACCOUNT_SID=damaged\nCARRIER_A_AUTH_TOKEN="${TOKEN}"\nCARRIER_B_API_KEY=\n`,
    );
    vi.stubEnv('CARRIER_A_ACCOUNT_SID', SID);
    // Restored like the others, as they were before: not set.
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', undefined);
    vi.stubEnv('CARRIER_B_API_KEY', undefined);
    const { code, text, checks } = await examine({ settings: file });
    expect(checks.slice(3).map(({ name, status }) => [name, status])).toEqual([
      ['carrier-a.accountSid', 'ok'],
      ['carrier-a.authToken', 'ok'],
      ['carrier-a.clock', 'warning'],
    ]);
    expect(text).not.toContain(TOKEN);
    expect(code).toBe(0);
  });

  it('fails without the key that a carrier of commands needs for every call', async () => {
    vi.stubEnv('CARRIER_B_CONNECTION_ID', '17');
    const { code, find } = await examine();
    expect(find('carrier-b.apiKey')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('needed for every call: set CARRIER_B_API_KEY'),
    });
    expect(find('carrier-b.publicKey')).toMatchObject({ status: 'warning' });
    expect(code).toBe(1);
  });

  it.each([
    ['20.18.9', 'failed'],
    ['20.19.0', 'ok'],
    ['20.20.2', 'ok'],
    ['19.99.0', 'failed'],
    ['22.0.0', 'ok'],
    ['24.1.0', 'ok'],
  ])('takes Node %s for %s', (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });

  it.each<[string, Response | Error | undefined, string, RegExp]>([
    ['a server of ours', healthy(), 'ok', /answers/],
    [
      'a server of ours that hands over',
      Response.json({ status: 'handing-over', mode: 'local' }),
      'ok',
      /answers/,
    ],
    ['nobody', undefined, 'failed', /ENOTFOUND.*running.*tunnel/],
    ['a page', new Response('<html>'), 'failed', /something else \(HTTP 200\)/],
    ['a redirect', new Response('', { status: 302 }), 'failed', /HTTP 302/],
    ['somebody who is not well', Response.json({ status: 'no' }), 'failed', /something else/],
    ['null', Response.json(null), 'failed', /something else/],
    ['a slow one', new DOMException('', 'TimeoutError'), 'failed', /no answer in time/],
  ])('asks the public host, where there is %s', async (_, answer, status, sentence) => {
    const url = 'https://voice.example/health';
    const answers = answer === undefined ? {} : { [url]: answer };
    const { find, code, asked } = await examine({ webhookHost: 'voice.example' }, answers as Answers);
    expect(asked).toEqual([url]);
    expect(find('webhook-host')).toMatchObject({ status, message: expect.stringMatching(sentence) });
    expect(code).toBe(status === 'ok' ? 0 : 1);
  });

  it.each([
    [0, 'ok'],
    [20_000, 'ok'],
    [-20_000, 'ok'],
    [60_000, 'warning'],
    [-60_000, 'warning'],
    [400_000, 'failed'],
    [-400_000, 'failed'],
  ])('calls a clock that is %i ms ahead %s', async (skewMs, status) => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const { find } = await examine({}, { [API_A]: dated(skewMs) });
    const way = skewMs > 0 ? 'ahead of' : 'behind';
    expect(find('carrier-a.clock')).toMatchObject({
      status,
      message: expect.stringContaining(` s ${way} the one of carrier-a`),
      details: { skewMs: skewMs - 500 },
    });
  });

  it('says when the API of a configured carrier is out of reach, or names no date', async () => {
    vi.stubEnv('CARRIER_A_AUTH_TOKEN', TOKEN);
    const { find, code } = await examine();
    expect(find('carrier-a.clock')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('ENOTFOUND'),
    });
    expect(code).toBe(0);
    const undated = await examine({}, { [API_A]: new Response('') });
    expect(undated.find('carrier-a.clock')).toMatchObject({ status: 'skipped' });
  });

  describe('with a number', () => {
    const flags = { webhookHost: 'voice.example', number: '+15550100' };
    const right = 'https://voice.example/webhooks/carrier-b/voice';
    const check = async (answer: NumberUrls | undefined | Error, rest = new PlainRest()) => {
      const voiceUrls = async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      };
      const createCarrier = () => createPlainCarrier({ rest: Object.assign(rest, { voiceUrls }) });
      const { find } = await examine(flags, {}, { createCarrier });
      expect(rest.requests).toEqual([]);
      return find('carrier-b.number');
    };

    it.each<[string, NumberUrls | undefined | Error, string, RegExp]>([
      ['here', { voice: right, status: null, isOverridden: false }, 'ok', /leads to/],
      [
        'here, with settings',
        { voice: `${right}#rc=2`, status: null, isOverridden: false },
        'ok',
        /leads to/,
      ],
      ['nowhere', { voice: null, status: null, isOverridden: false }, 'failed', /not set.*manageWebhook/],
      [
        'elsewhere',
        { voice: 'https://old.example/x', status: null, isOverridden: false },
        'failed',
        /old\.example/,
      ],
      ['past the URL', { voice: right, status: null, isOverridden: true }, 'failed', /outranks/],
      ['another account', undefined, 'failed', /does not own/],
      ['a dead API', new Error('key sk-123'), 'failed', /could not be looked up: it failed$/],
    ])('that leads %s', async (_, answer, status, sentence) => {
      expect(await check(answer)).toMatchObject({ status, message: expect.stringMatching(sentence) });
    });

    it.each([
      [right.replace('//', '//user:p@ss@'), 'ok'],
      ['https://user:p@ss@old.example/x', 'failed'],
    ])('shows no credentials of the voice URL %s', async (voice, status) => {
      const result = await check({ voice, status: null, isOverridden: false });
      expect(result).toMatchObject({ status });
      expect(JSON.stringify(result)).not.toMatch(/user|p@ss/);
    });

    it('says when it was not checked', async () => {
      const { find } = await examine(flags);
      expect(find('carrier-b.number')).toMatchObject({ status: 'skipped' });
      const rest = Object.assign(new PlainRest(), { configured: false });
      expect(await check(undefined, rest)).toMatchObject({
        status: 'skipped',
        message: expect.stringContaining('credentials'),
      });
    });
  });
});

describe('the command line of the doctor', () => {
  let server: Server;
  let url: string;

  beforeEach(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(request.url === '/health' ? '{"status":"ok","mode":"local"}' : '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const run = (...args: string[]) => runCommand(['doctor', ...args]);

  it('asks a server on this machine, and writes a line per finding', async () => {
    const { code, out } = await run('--url', `${url}/some/path`);
    expect(out).toMatch(
      new RegExp(
        `ok +Node .*\nok +transcoder.*\nok +audio.*\nwarning +No carrier.*\nok +${url}/health answers$`,
      ),
    );
    expect(code).toBe(0);
  });

  it('exits with 1 when something failed', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const { code, out } = await run('--url', url);
    expect(out).toMatch(/FAILED .*ECONNREFUSED/);
    expect(code).toBe(1);
  });

  itRefusesArguments(run, [
    [
      ['--webhook-host', 'https://voice.example'],
      /--webhook-host is a host name alone: leave out the scheme/,
    ],
    [['--url', 'nowhere'], /--url/],
    [['--url', 'ftp://x'], /--url/],
    [['--number', '555', '--webhook-host', 'voice.example'], /--number/],
    [['--number', '+15550100'], /--webhook-host/],
    [['--request', '/does/not/exist'], /cannot be read \(ENOENT\)/],
    [['--request', 'package.json'], /request line/],
    [['--settings', '/does/not/exist'], /cannot be read \(ENOENT\)/],
    [['--loud'], /unknown option/],
  ]);
});
