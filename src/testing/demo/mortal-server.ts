// A demo's server in a process of its own, which dies as often as it is told, and comes back.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../base/errors.js';
import type { DemoNews, DemoOrder } from './demo-process.js';
import type { DemoServer, DemoServerSettings } from './demo-server.js';

export interface MortalServer extends DemoServer {
  /** Kills the process without a word. */
  kill(): Promise<void>;
  /** Starts another one. Resolves when it serves. @throws ConfigError when it cannot. */
  start(): Promise<void>;
}

/** Starts the server in a process of its own, which ends with this one. @throws ConfigError when it cannot serve; nothing is left running then. */
export async function startMortalServer(settings: DemoServerSettings): Promise<MortalServer> {
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = fork(fileURLToPath(new URL('./demo-process.js', import.meta.url)), {
      // The flags of this process are not for that one.
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child = started;
    return serving(started, settings);
  };
  /** Resolves when the process has ended. */
  const end = async (order: DemoOrder['type'] | 'kill') => {
    const ending = child;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, 'exit');
    if (order === 'kill') ending.kill('SIGKILL');
    // One that has lost its connection ends by itself.
    else if (ending.connected) ending.send({ type: order });
    await gone;
  };
  const { url, dashboardUrl } = await start();
  return {
    url,
    dashboardUrl,
    kill: () => end('kill'),
    async start() {
      await start();
    },
    drain: () => end('drain'),
    disconnect: () => end('disconnect'),
  };
}

function serving(
  child: ChildProcess,
  settings: DemoServerSettings,
): Promise<Extract<DemoNews, { type: 'serving' }>> {
  return new Promise((resolve, reject) => {
    const fail = (message: string) => reject(new ConfigError('CONFIG_INVALID', message));
    child.on('message', (news: DemoNews) => {
      if (news.type === 'serving') resolve(news);
      else fail(news.message);
    });
    child.once('error', (error) => fail(`The process of the demo's server failed: ${error.message}.`));
    child.once('exit', () => fail("The process of the demo's server ended before it served."));
    child.send({ type: 'serve', settings } satisfies DemoOrder);
  });
}
