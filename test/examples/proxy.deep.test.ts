// The example behind nginx and behind Caddy, started as Debian has them: with TLS, over the real network, called by another process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { it, type TestContext } from 'vitest';
import { start } from '../../examples/proxy/server.js';
import { silentLogger } from '../../src/base/log.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { freePort } from '../support/free-port.js';
import { describeNeeding } from '../support/needing.js';
import { caddyOf, nginxOf, openProxy, type StartProxy } from '../support/proxies.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const AUTH_TOKEN = 'any-text-without-blanks';
const DASHBOARD_TOKEN = 'a-token-for-the-dashboard';

/** Phone and proxy, gone with the test. */
async function open(startProxy: StartProxy, onTestFinished: TestContext['onTestFinished']) {
  const own = await freePort();
  const proxy = await openProxy(startProxy, 'proxy', [['127.0.0.1:8000', `127.0.0.1:${own}`]]);
  const { url, cert } = proxy;
  let tell: (record: CallRecord) => void = () => {};
  const ended = new Promise<CallRecord>((resolve) => (tell = resolve));
  const { phone } = await start({
    ...{
      authToken: AUTH_TOKEN,
      webhookHost: `localhost:${proxy.port}`,
      port: own,
      dashboardToken: DASHBOARD_TOKEN,
    },
    ...{
      logger: silentLogger,
      dataDir: false,
      manageWebhook: false,
      dashboardUrl: false,
      handleSignals: false,
    },
    onCallEnd: tell,
  });
  onTestFinished(async () => {
    await phone.disconnect();
    await proxy[Symbol.asyncDispose]();
  });
  const caller = spawn(
    process.execPath,
    [CLI, 'simulate', '--url', url, '--auth-token', AUTH_TOKEN, '--text', 'Are you open?'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_EXTRA_CA_CERTS: proxy.certFile } },
  );
  const heard = text(caller.stdout as Readable);
  onTestFinished(() => void caller.kill('SIGKILL'));
  return { proxy: proxy.process, url, cert, ended, heard, caller };
}

/** Follows the live events over the proxy until one of this type. */
async function follow(url: string, ca: string, type: string): Promise<void> {
  const headers = { authorization: `Bearer ${DASHBOARD_TOKEN}` };
  const request = get(`${url}/api/dashboard/events`, { ca, headers, agent: false });
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`events answered ${response.statusCode}`);
  let seen = '';
  for await (const piece of response) {
    seen += String(piece);
    if (seen.includes(`event: ${type}\n`)) break;
  }
  request.destroy();
}

/** The header with which the page signs in. */
async function signIn(url: string, ca: string): Promise<string> {
  const request = get(`${url}/dashboard?token=${DASHBOARD_TOKEN}`, { ca, agent: false });
  const [response] = await once(request, 'response');
  response.resume();
  return String(response.headers['set-cookie']);
}

async function holdsACall(
  { expect, onTestFinished }: TestContext,
  startProxy: StartProxy,
  meanwhile: (proxy: ChildProcess) => void = () => {},
) {
  const { proxy, url, cert, ended, heard, caller } = await open(startProxy, onTestFinished);
  const exit = once(caller, 'exit');
  // The phone knows that the browser came over TLS.
  expect(await signIn(url, cert)).toContain('; Secure');
  // Told while the call is up: nothing on the way holds events back.
  await follow(url, cert, 'turn.started');
  meanwhile(proxy);
  const record = await ended;
  expect((await exit)[0], await heard).toBe(0);
  expect(record).toMatchObject({ status: 'completed', endReason: 'caller-hangup' });
  const [greeting, question, ...answer] = record.transcript.map(({ role }) => role);
  expect([greeting, question]).toEqual(['agent', 'user']);
  // By the real clock: on a busy machine the agent says "One moment." before its answer.
  expect(new Set(answer)).toEqual(new Set(['agent']));
}

// Beside each other, since both are mostly a caller who speaks.
describeNeeding(['nginx', 'caddy', 'openssl'], 'a phone behind a proxy', (nginx = '', caddy = '') => {
  it.concurrent('nginx: is called, tells its events live, and keeps its call while nginx is reloaded', (test) =>
    holdsACall(test, nginxOf(nginx), (proxy) => proxy.kill('SIGHUP')));

  it.concurrent('Caddy: is called, and tells its events live', (test) => holdsACall(test, caddyOf(caddy)));
});
