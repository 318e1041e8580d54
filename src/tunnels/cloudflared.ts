// A quick tunnel of cloudflared: found on PATH or in the optional package of that name, started, and read until it says its host.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Clock, systemClock, type Timer } from '../base/clock.js';
import { readEnv } from '../base/env.js';
import { ConfigError } from '../base/errors.js';
import { type LeashedProgram, startLeashed } from './leash.js';
import type { Tunnel, TunnelProgram } from './tunnel.js';

const PROGRAM = 'cloudflared';

/** It takes some five seconds; a slow network a few more. */
const OPEN_TIMEOUT_MS = 30_000;

/** The host in what the program writes. Its API has a name in the same domain, which stands in error messages. */
const PUBLIC_HOST = /https:\/\/((?!api\.)[a-z\d][a-z\d.-]*\.trycloudflare\.com)\b/i;

/** Where the program finds its way on this machine and into the network. Our own secrets are none of its business. */
const PASSED_VARIABLES = [
  'PATH',
  'HOME',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'SYSTEMROOT',
  'TMPDIR',
  'TEMP',
  'TMP',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'TUNNEL_TRANSPORT_PROTOCOL',
  'TUNNEL_EDGE_IP_VERSION',
  'TUNNEL_REGION',
];

export interface CloudflaredOptions {
  /** Loads the optional package. Tests put one of their own here. */
  loadPackage?: (() => Promise<unknown>) | undefined;
  clock?: Clock | undefined;
}

/** Looks for the program. @throws ConfigError that says what to install. */
export async function findCloudflared(options: CloudflaredOptions = {}): Promise<TunnelProgram> {
  const { loadPackage = importPackage, clock = systemClock } = options;
  const path = (await findOnPath()) ?? (await findInPackage(loadPackage));
  return { open: (url, { signal }) => openTunnel(path, { url, signal, clock }) };
}

async function findOnPath(): Promise<string | undefined> {
  const folders = (readEnv('PATH') ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = process.platform === 'win32' ? [`${PROGRAM}.exe`] : [PROGRAM];
  for (const folder of folders) {
    for (const name of names) {
      const path = join(folder, name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

async function findInPackage(loadPackage: () => Promise<unknown>): Promise<string> {
  const loaded = await loadPackage().catch(() => undefined);
  if (loaded === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `tunnel needs the program ${PROGRAM}: install it so that it is on PATH, or install the package: npm install ${PROGRAM}. Or run a tunnel of your own, and set webhookUrl to its host.`,
    );
  }
  const path = (loaded as { bin?: unknown }).bin;
  if (typeof path === 'string' && (await isExecutable(path))) return path;
  throw new ConfigError(
    'CONFIG_MISSING',
    `tunnel needs the program ${PROGRAM}, which its package has not fetched: run npx ${PROGRAM} bin install.`,
  );
}

function importPackage(): Promise<unknown> {
  // Not a dependency: the compiler need not know it.
  const name: string = PROGRAM;
  return import(name);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function openTunnel(
  path: string,
  options: { url: string; signal: AbortSignal; clock: Clock },
): Promise<Tunnel> {
  const { url, signal, clock } = options;
  const program = startLeashed(path, ['tunnel', '--url', url], { env: environment() });
  try {
    const host = await waitForHost(program, { signal, clock });
    return toTunnel(program, host);
  } catch (error) {
    await program.stop();
    const reason = error instanceof Error ? error.message : 'it failed';
    throw new ConfigError(
      'CONFIG_INVALID',
      `${PROGRAM} opened no tunnel: ${reason}. Run \`${PROGRAM} tunnel --url ${url}\` to see what it says.`,
    );
  }
}

function environment(): Record<string, string> {
  const passed = PASSED_VARIABLES.map((name) => [name, readEnv(name)] as const);
  const known = passed.filter((entry): entry is [string, string] => entry[1] !== undefined);
  // An update in the middle of the day would come back under another host.
  return { ...Object.fromEntries(known), NO_AUTOUPDATE: 'true' };
}

/** Rejects with the end of a sentence. Whatever else the program writes is read and dropped, or it would stall. */
function waitForHost(
  program: LeashedProgram,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<string> {
  let timer: Timer | undefined;
  const named = new Promise<string>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(reason));
    timer = clock.after(OPEN_TIMEOUT_MS, () =>
      fail(`it named no public host within ${OPEN_TIMEOUT_MS / 1000} seconds`),
    );
    if (signal.aborted) fail('the server is closing');
    signal.addEventListener('abort', () => fail('the server is closing'), { once: true });
    void program.ended.then((code) => fail(`it ended (exit code ${code ?? 'unknown'})`));
    for (const stream of program.output) {
      stream.on('error', () => {});
      createInterface({ input: stream }).on('line', (line) => {
        const host = PUBLIC_HOST.exec(line)?.[1];
        if (host !== undefined) resolve(host.toLowerCase());
      });
    }
  });
  return named.finally(() => timer?.cancel());
}

function toTunnel(program: LeashedProgram, host: string): Tunnel {
  let isClosing = false;
  const lost = new Promise<void>((resolve) => {
    void program.ended.then(() => {
      if (!isClosing) resolve();
    });
  });
  return {
    host,
    lost,
    async close() {
      isClosing = true;
      await program.stop();
    },
  };
}
