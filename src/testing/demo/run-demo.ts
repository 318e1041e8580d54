// The demo: a phone server with the local stack, or several, a carrier that exists only here, and callers who ring again and again.
import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../base/clock.js';
import { OffhookError } from '../../base/errors.js';
import { toLocalUrl } from '../../base/host-name.js';
import { createId } from '../carrier-a/ids.js';
import { startCarrierASimulator } from '../carrier-a/simulator.js';
import { FIRST_CALL_MS, startCallers } from './demo-calls.js';
import { type DemoCluster, startCluster } from './demo-cluster.js';
import { writeDemoFile, type DemoFile } from './demo-file.js';
import { type DemoServer, PHONE_NUMBER, serveDemo, WEBHOOK_HOST } from './demo-server.js';
import { killServer, startKills } from './kill-calls.js';
import { NodeKiller } from './kill-nodes.js';
import { type MortalServer, startMortalServer } from './mortal-server.js';
import { openRecordings } from './recordings.js';

/** `most`: callers at a time. */
const CALLERS = { everyMs: 30_000, most: 3, isQuiet: false };
/** A handful at a time: one rings as another one hangs up. */
const CALLERS_OF_CLUSTER = { everyMs: 5000, most: 5, isQuiet: true };
const KEPT_RECORDINGS = 20;
/** The first kill comes after this share of the time between two: a caller has been on the line for as long. */
const FIRST_KILL_SHARE = 1 / 3;

/** Why a demo ends that finishes its calls. */
export const DRAIN = 'SIGTERM';

export interface DemoOptions {
  port: number;
  host: string;
  /** Folder of the recordings, and of what the server keeps. */
  folder: string;
  /** Takes one line of text at a time. */
  print(line: string): void;
  /** Ends the demo, in order: calls are hung up, or finished where the message of its reason is `DRAIN`. */
  signal: AbortSignal;
  /** Runs the server in a process of its own, kills it this often, and starts it again. @default never */
  killEveryMs?: number;
  /** Runs so many servers in processes of their own as a cluster behind a load balancer, which is at `port` and `host`; one is killed at a time. @default 1: no cluster */
  nodes?: number | undefined;
  /** URL of the Redis or Valkey of the cluster. @default one of its own */
  broker?: string | undefined;
  clock?: Clock;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Runs the demo until the signal comes, and shuts it down in order: no new call, every call finished or hung up, the doors closed.
 * @throws ConfigError when the server cannot start; nothing is left running then.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { print, signal, clock = systemClock } = options;
  const credentials = { accountSid: createId('AC'), authToken: randomBytes(16).toString('hex') };
  const recordings = await openRecordings({ folder: options.folder, keep: KEPT_RECORDINGS });
  const simulator = await startCarrierASimulator({
    ...credentials,
    url: toLocalUrl(options.host, options.port),
    webhookHost: WEBHOOK_HOST,
    phoneNumbers: [PHONE_NUMBER],
    unknownCalls: 'accept',
    clock,
  });
  let server: DemoServer | undefined;
  let demoFile: DemoFile | undefined;
  const removeFile = () => demoFile?.remove();
  const { port, host, folder, killEveryMs, nodes, broker } = options;
  const settings = { port, host, folder, carrier: { ...credentials, baseUrl: simulator.url } };
  try {
    let [mortal, cluster]: [MortalServer?, DemoCluster?] = [];
    if (nodes !== undefined) cluster = await startCluster(settings, { count: nodes, broker });
    else if (killEveryMs !== undefined) mortal = await startMortalServer(settings);
    server = cluster ?? mortal ?? (await serveDemo(settings));
    process.once('exit', removeFile);
    const { authToken } = credentials;
    const facts = {
      port,
      webhookHost: WEBHOOK_HOST,
      authToken,
      phoneNumber: PHONE_NUMBER,
      processId: process.pid,
    };
    try {
      demoFile = await writeDemoFile(facts);
    } catch (error) {
      const reason = OffhookError.isInstance(error)
        ? error.message
        : 'its private file could not be written.';
      print(`note: offhook simulate will not find this demo by itself: ${reason}`);
    }
    print(`dashboard   ${server.dashboardUrl}`);
    const ringing = cluster ? CALLERS_OF_CLUSTER : CALLERS;
    print(
      `callers     a simulated call begins now, and again every ${ringing.everyMs / 1000} s: at most ${ringing.most} at a time`,
    );
    if (killEveryMs !== undefined)
      print(
        `kills       ${cluster ? `one of ${nodes} servers` : 'the server'} is killed every ${killEveryMs / 1000} s, and the calls go on`,
      );
    print(`recordings  ${options.folder}`);
    print(`try         npx offhook simulate --url ${server.url} --text "When are you open?"`);
    const status = cluster
      ? `curl -s ${server.url}/metrics/servers | grep offhook_server`
      : `npx offhook status --data-dir ${options.folder}`;
    print(`status      ${status}`);
    print('Ctrl-C stops the demo.');
    const callers = startCallers({ simulator, recordings, clock, print, ...ringing });
    const failure = new AbortController();
    const killer = cluster && new NodeKiller({ simulator, cluster, clock, print });
    const kill =
      killer?.kill.bind(killer) ??
      (mortal && killServer.bind(undefined, { simulator, server: mortal, clock, print }));
    const kills =
      kill &&
      killEveryMs &&
      startKills({
        ...{ clock, kill, everyMs: killEveryMs },
        firstAfterMs: FIRST_CALL_MS + killEveryMs * FIRST_KILL_SHARE,
        onFailure: (error) => failure.abort(error),
      });
    await aborted(AbortSignal.any([signal, failure.signal]));
    const isDrain = (signal.reason as Error | undefined)?.message === DRAIN;
    callers.stopRinging({ isCut: !isDrain });
    if (kills) await kills.stop();
    failure.signal.throwIfAborted();
    if (isDrain) {
      print('Draining: calls that are up are finished. A second signal stops at once.');
      await server.drain();
    } else {
      print('Shutting down: calls are hung up. Ctrl-C again stops at once.');
      await server.disconnect();
    }
    await callers.finish();
    if (killer) for (const line of [...callers.summary(), ...killer.summary()]) print(line);
    print('Stopped.');
  } finally {
    removeFile();
    process.removeListener('exit', removeFile);
    await server?.disconnect();
    await simulator.close();
  }
}
