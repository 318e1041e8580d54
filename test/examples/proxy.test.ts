// The example behind nginx and behind Caddy, started as Debian has them: with TLS, over the real network, called by another process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { it, type TestContext } from 'vitest';
import { start } from '../../examples/proxy/server.js';
import { silentLogger } from '../../src/base/log.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { selfSignedCertificate } from '../../src/testing/emulators/self-signed-certificate.js';
import { freePort } from '../support/free-port.js';
import { describeNeeding } from '../support/needing.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const AUTH_TOKEN = 'any-text-without-blanks';
const DASHBOARD_TOKEN = 'a-token-for-the-dashboard';

/** What stands in a proxy's file for one server and one user, as it is in a test. */
interface Place {
  readonly folder: string;
  readonly port: number;
  readonly upstream: string;
  readonly cert: string;
  readonly key: string;
}

/** Starts a proxy. */
type Start = (place: Place) => ChildProcess;

const read = (name: string) => readFileSync(new URL(`../../examples/proxy/${name}`, import.meta.url), 'utf8');

/** @throws Error where there is nothing to replace, so that the test is of the file as it stands. */
function replaced(file: string, changes: readonly [string, string][]): string {
  return changes.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the example has no ${from}`);
    return result.replaceAll(from, to);
  }, file);
}

function startNginx(nginx: string): Start {
  return ({ folder, port, upstream, cert, key }) => {
    const site = replaced(read('nginx.conf'), [
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['server_name voice.example.com', 'server_name localhost'],
      ['/etc/letsencrypt/live/voice.example.com/fullchain.pem', cert],
      ['/etc/letsencrypt/live/voice.example.com/privkey.pem', key],
      ['127.0.0.1:8000', upstream],
    ]);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const main = `daemon off; pid ${folder}/pid; error_log stderr; ${process.getuid?.() === 0 ? 'user root;' : ''}
events {}
http { access_log off; ${paths.join(' ')}
${site}}
`;
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, main);
    return spawn(nginx, ['-p', folder, '-c', file, '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  };
}

function startCaddy(caddy: string): Start {
  return ({ folder, port, upstream, cert, key }) => {
    const site = replaced(read('Caddyfile'), [
      ['voice.example.com {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${cert} ${key}`],
      ['127.0.0.1:8000', upstream],
    ]);
    const file = join(folder, 'Caddyfile');
    writeFileSync(
      file,
      `{\n  admin off\n  auto_https disable_redirects\n  log {\n    level ERROR\n  }\n}\n${site}`,
    );
    return spawn(caddy, ['run', '--config', file, '--adapter', 'caddyfile'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    });
  };
}

/** Resolves when somebody listens there. */
async function listening(port: number, program: ChildProcess): Promise<void> {
  const complaint = text(program.stderr as Readable);
  while (program.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the proxy did not start:\n${await complaint}`);
}

/** Phone and proxy, gone with the test. */
async function open(startProxy: Start, onTestFinished: TestContext['onTestFinished']) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-proxy-'));
  const { cert, key } = await selfSignedCertificate();
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  const [port, own] = [await freePort(), await freePort()];
  let tell: (record: CallRecord) => void = () => {};
  const ended = new Promise<CallRecord>((resolve) => (tell = resolve));
  const { phone } = await start({
    ...{
      authToken: AUTH_TOKEN,
      webhookHost: `localhost:${port}`,
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
  const proxy = startProxy({ folder, port, upstream: `127.0.0.1:${own}`, ...files });
  const gone = once(proxy, 'exit');
  onTestFinished(async () => {
    await phone.disconnect();
    proxy.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  await listening(port, proxy);
  const url = `https://localhost:${port}`;
  const caller = spawn(
    process.execPath,
    [CLI, 'simulate', '--url', url, '--auth-token', AUTH_TOKEN, '--text', 'Are you open?'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_EXTRA_CA_CERTS: files.cert } },
  );
  const heard = text(caller.stdout as Readable);
  onTestFinished(() => void caller.kill('SIGKILL'));
  return { proxy, url, cert, ended, heard, caller };
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
  startProxy: Start,
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
    holdsACall(test, startNginx(nginx), (proxy) => proxy.kill('SIGHUP')));

  it.concurrent('Caddy: is called, and tells its events live', (test) => holdsACall(test, startCaddy(caddy)));
});
