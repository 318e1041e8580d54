// nginx and Caddy with the file of an example, over TLS. Only port, name, certificate and servers are replaced.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { text } from 'node:stream/consumers';
import { selfSignedCertificate } from '../../src/testing/emulators/self-signed-certificate.js';
import { freePort } from './free-port.js';
import { type Joint, openJoint } from './joint.js';

/** What stands in a proxy's file for one server and one user, as it is in a test. */
interface Place {
  readonly folder: string;
  /** Of the example. */
  readonly example: string;
  readonly port: number;
  /** By the address in the file. */
  readonly upstreams: readonly [string, string][];
  readonly cert: string;
  readonly key: string;
}

/** Starts a proxy. */
export type StartProxy = (place: Place) => ChildProcess;

export interface RunningProxy extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly port: number;
  readonly url: string;
  /** As PEM, and where it stands. */
  readonly cert: string;
  readonly certFile: string;
}

const read = (example: string, name: string) =>
  readFileSync(new URL(`../../examples/${example}/${name}`, import.meta.url), 'utf8');

/** @throws Error where there is nothing to replace, so that the test is of the file as it stands. */
function replaced(file: string, changes: readonly [string, string][]): string {
  return changes.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the example has no ${from}`);
    return result.replaceAll(from, to);
  }, file);
}

export function nginxOf(nginx: string): StartProxy {
  return ({ folder, example, port, upstreams, cert, key }) => {
    const site = replaced(read(example, 'nginx.conf'), [
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['server_name voice.example.com', 'server_name localhost'],
      ['/etc/letsencrypt/live/voice.example.com/fullchain.pem', cert],
      ['/etc/letsencrypt/live/voice.example.com/privkey.pem', key],
      ...upstreams,
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

export function caddyOf(caddy: string): StartProxy {
  return ({ folder, example, port, upstreams, cert, key }) => {
    const site = replaced(read(example, 'Caddyfile'), [
      ['voice.example.com {', `https://localhost:${port} {\n  bind 127.0.0.1\n  tls ${cert} ${key}`],
      ...upstreams,
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

/** Resolves when it listens. `upstreams`: by the address in the file. */
export async function openProxy(
  startProxy: StartProxy,
  example: string,
  upstreams: readonly [string, string][],
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-proxy-'));
  const { cert, key } = await selfSignedCertificate();
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  const port = await freePort();
  const proxy = startProxy({ folder, example, port, upstreams, ...files });
  const gone = once(proxy, 'exit');
  await listening(port, proxy);
  return {
    process: proxy,
    port,
    url: `https://localhost:${port}`,
    cert,
    certFile: files.cert,
    async [Symbol.asyncDispose]() {
      proxy.kill('SIGTERM');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The simulators speak without TLS: this gives them it, as a carrier has it. */
export function openTls({ port, cert }: RunningProxy): Promise<Joint> {
  return openJoint(() => connectTls({ host: '127.0.0.1', port, ca: cert, servername: 'localhost' }));
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
