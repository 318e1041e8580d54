// The demo: a phone server with the local stack, a carrier that exists only here, and callers who ring every half minute.
import { randomBytes } from 'node:crypto';
import { counted } from '../../base/counted.js';
import { systemClock, type Clock } from '../../base/clock.js';
import { OffhookError } from '../../base/errors.js';
import { toLocalUrl } from '../../base/host-name.js';
import { maskPhone } from '../../base/redact.js';
import { createId } from '../carrier-a/ids.js';
import { startCarrierASimulator } from '../carrier-a/simulator.js';
import type { CallReport } from '../report.js';
import { describeEnd } from '../report-text.js';
import type { CarrierSimulator } from '../simulator.js';
import { DEMO_CALLERS, type DemoCaller } from './demo-callers.js';
import { writeDemoFile, type DemoFile } from './demo-file.js';
import { type DemoServer, PHONE_NUMBER, serveDemo, WEBHOOK_HOST } from './demo-server.js';
import { startKills } from './kill-calls.js';
import { startMortalServer } from './mortal-server.js';
import { openRecordings, type Recordings } from './recordings.js';

const FIRST_CALL_MS = 1500;
const CALL_INTERVAL_MS = 30_000;
const KEPT_RECORDINGS = 20;
/** Callers at a time; one who would be the fourth does not ring. */
const MAX_CALLERS = 3;
const CALL_LIMIT_MS = 120_000;
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
  clock?: Clock;
}

interface DemoSetup {
  readonly simulator: CarrierSimulator;
  readonly recordings: Recordings;
  readonly clock: Clock;
}

function describeCall(caller: DemoCaller, report: CallReport, isStopping: boolean): string {
  const who = `${maskPhone(caller.from)} (${caller.topic})`;
  if (report.end === null) return `call from ${who}: not answered, ${report.answer.reason}`;
  const answers = report.turns.flatMap(({ responseMs }) => (responseMs === null ? [] : [responseMs]));
  const mean = answers.reduce((sum, value) => sum + value, 0) / answers.length;
  return [
    `call from ${who}: ${((report.durationMs ?? 0) / 1000).toFixed(0)} s`,
    `${counted(answers.length, 'answer')}${answers.length > 0 ? ` after ${(mean / 1000).toFixed(1)} s` : ''}`,
    ...(report.clears.length > 0 ? [`${report.clears.length} interrupted`] : []),
    ...report.protocolErrors.map(({ sentence }) => `PROTOCOL ERROR: ${sentence}`),
    ...(report.gaps.length > 0 ? [counted(report.gaps.length, 'gap')] : []),
    `${isStopping ? 'the demo was stopped' : describeEnd(report.end)}, ${report.recording ?? 'not recorded'}`,
  ].join(', ');
}

/** Rings until the signal comes. `stop` waits for the calls that are up. */
function startCallers(setup: DemoSetup, print: (line: string) => void) {
  const { clock, recordings } = setup;
  const running = new Set<Promise<void>>();
  const abort = new AbortController();
  let turn = 0;
  let isStopping = false;
  const ring = async (caller: DemoCaller): Promise<void> => {
    try {
      const report = await setup.simulator.call({
        from: caller.from,
        to: PHONE_NUMBER,
        script: caller.script,
        maxDurationMs: CALL_LIMIT_MS,
        recordTo: recordings.nextPath(clock.wallNow()),
        signal: abort.signal,
      });
      print(describeCall(caller, report, isStopping));
      await recordings.prune();
    } catch (error) {
      const reason = OffhookError.isInstance(error) ? error.message : 'the simulated caller failed';
      print(`call from ${maskPhone(caller.from)}: not made, ${reason}`);
    }
  };
  const next = (): void => {
    const caller = DEMO_CALLERS[turn % DEMO_CALLERS.length];
    turn += 1;
    timer = clock.after(CALL_INTERVAL_MS, next);
    if (caller === undefined || running.size >= MAX_CALLERS) return;
    const call = ring(caller).finally(() => running.delete(call));
    running.add(call);
  };
  let timer = clock.after(FIRST_CALL_MS, next);
  return {
    /** No further caller rings. `isCut`: who is on the line is hung up, too. */
    stopRinging({ isCut }: { isCut: boolean }) {
      isStopping = isCut;
      timer.cancel();
    },
    /** Cuts off who is still on the line, and waits for the last report. */
    async finish() {
      abort.abort();
      await Promise.all(running);
    },
  };
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
  const { port, host, folder, killEveryMs } = options;
  const settings = { port, host, folder, carrier: { ...credentials, baseUrl: simulator.url } };
  try {
    const mortal = killEveryMs === undefined ? undefined : await startMortalServer(settings);
    server = mortal ?? (await serveDemo(settings));
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
    print('callers     a simulated call begins now, and again every half minute');
    if (killEveryMs !== undefined)
      print(`kills       the server is killed every ${killEveryMs / 1000} s, and the calls go on`);
    print(`recordings  ${options.folder}`);
    print(`try         npx offhook simulate --url ${server.url} --text "When are you open?"`);
    print('Ctrl-C stops the demo.');
    const setup = { simulator, recordings, clock };
    const callers = startCallers(setup, print);
    const failure = new AbortController();
    const kills =
      mortal &&
      killEveryMs &&
      startKills({
        ...{ simulator, server: mortal, clock, print, everyMs: killEveryMs },
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
    print('Stopped.');
  } finally {
    removeFile();
    process.removeListener('exit', removeFile);
    await server?.disconnect();
    await simulator.close();
  }
}
