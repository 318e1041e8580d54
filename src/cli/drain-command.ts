// `offhook drain`: has a server finish its calls and stop, and says how many are left until it has.
import { systemClock } from '../base/clock.js';
import { counted } from '../base/counted.js';
import { pause } from '../base/pause.js';
import { holdProcess } from '../base/process-hold.js';
import { type FoundProcess, findProcesses } from '../client/handover/processes.js';
import type { ProcessStatus } from '../client/handover/processes.js';
import { isAlive } from '../server/private-socket.js';
import { type CliContext, StoppedError } from './context.js';
import { noServerOn, silentOn } from './status-command.js';

export interface DrainFlags {
  dataDir: string;
  timeout: number;
  pid?: number;
}

const ASK_MS = 5000;
const LOOK_MS = 200;

/** Resolves with 0 when the server has stopped, 1 when there is none or it refuses. @throws StoppedError at the signal */
export async function runDrain(flags: DrainFlags, context: CliContext): Promise<number> {
  const { dataDir, pid } = flags;
  const { found, silent } = await findProcesses(dataDir);
  const chosen = choose(found, pid);
  for (const each of found) if (each !== chosen) each.peer.close();
  if (chosen === undefined) {
    const isOther = pid !== undefined && found.length > 0;
    const none = silent > 0 ? silentOn(dataDir, silent) : await noServerOn(dataDir);
    context.error(isOther ? `No server with the pid ${pid}: see offhook status.` : none);
    return 1;
  }
  // What it waits with keeps no process up.
  const release = holdProcess();
  try {
    return await drain(chosen, flags.timeout, context);
  } finally {
    release();
    chosen.peer.close();
  }
}

/** The one that serves; else one that is about to end anyway. */
function choose(found: readonly FoundProcess[], pid: number | undefined): FoundProcess | undefined {
  if (pid !== undefined) return found.find(({ status }) => status.pid === pid);
  return found.find(({ status }) => status.state === 'serving') ?? found.at(-1);
}

async function drain(
  { peer, path, status }: FoundProcess,
  timeoutSeconds: number,
  context: CliContext,
): Promise<number> {
  const name = `the server with the pid ${status.pid}`;
  const answer = await peer
    .ask('/drain', { body: JSON.stringify({ timeoutSeconds }), timeoutMs: ASK_MS })
    .catch(() => undefined);
  if (answer?.status !== 200) {
    context.error(`${name} did not take the order${answer === undefined ? '' : ` (${answer.status})`}.`);
    return 1;
  }
  // A drain that began before may end sooner.
  const { timeoutSeconds: seconds } = JSON.parse(answer.body) as { timeoutSeconds: number };
  context.out(
    `Draining ${name}, version ${status.version}: no new calls, ${seconds} s for those that are up.`,
  );
  let told: number | undefined;
  while (await isAlive(path)) {
    const calls = await callsOf(peer);
    if (calls !== undefined && calls !== told && calls > 0)
      context.out(`${counted(calls, 'call')} ${calls === 1 ? 'is' : 'are'} up.`);
    told = calls ?? told;
    await pause(systemClock, LOOK_MS, context.signal);
    if (context.signal.aborted) throw new StoppedError('Not waiting any more. The server drains on.');
  }
  context.out('It has stopped.');
  return 0;
}

/** Undefined where it does not say: it is busy, or ends. */
async function callsOf(peer: FoundProcess['peer']): Promise<number | undefined> {
  try {
    const { body } = await peer.ask('/status', { method: 'GET', timeoutMs: ASK_MS });
    return (JSON.parse(body) as ProcessStatus).calls;
  } catch {
    return undefined;
  }
}
