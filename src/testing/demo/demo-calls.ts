// The calls of a demo: who rings when, what is said of a call that is over, and what all of them came to.
import type { Clock } from '../../base/clock.js';
import { counted } from '../../base/counted.js';
import { OffhookError } from '../../base/errors.js';
import { maskPhone } from '../../base/redact.js';
import type { CallReport } from '../report.js';
import { describeEnd } from '../report-text.js';
import type { CarrierSimulator } from '../simulator.js';
import { DEMO_CALLERS, type DemoCaller } from './demo-callers.js';
import { PHONE_NUMBER } from './demo-server.js';
import type { Recordings } from './recordings.js';

export const FIRST_CALL_MS = 1500;
const CALL_LIMIT_MS = 120_000;
const STOPPED = 'the demo was stopped';

export interface CallersOptions {
  readonly simulator: CarrierSimulator;
  readonly recordings: Recordings;
  readonly clock: Clock;
  readonly everyMs: number;
  /** Callers at a time; one who would be beyond does not ring. */
  readonly most: number;
  /** Only calls that were not in order are told of. */
  readonly isQuiet: boolean;
  /** Takes one line of text for a call. */
  print(line: string): void;
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
    `${isStopping ? STOPPED : describeEnd(report.end)}, ${report.recording ?? 'not recorded'}`,
  ].join(', ');
}

/** Whether the caller lost the line: never had an agent, or was cut off. */
function isLost({ end }: CallReport): boolean {
  return end === null || end.how === 'lost' || end.how === 'closed';
}

/** Rings again and again. */
export function startCallers(options: CallersOptions) {
  const { simulator, clock, recordings, everyMs, most, isQuiet, print } = options;
  const ends = new Map<string, number>();
  let [calls, lost] = [0, 0];
  const running = new Set<Promise<void>>();
  const abort = new AbortController();
  let turn = 0;
  let isStopping = false;
  const ring = async (caller: DemoCaller): Promise<void> => {
    try {
      const report = await simulator.call({
        from: caller.from,
        to: PHONE_NUMBER,
        script: caller.script,
        maxDurationMs: CALL_LIMIT_MS,
        recordTo: recordings.nextPath(clock.wallNow()),
        signal: abort.signal,
      });
      calls += 1;
      if (isLost(report) && !isStopping) lost += 1;
      const end = isStopping ? STOPPED : report.end === null ? 'not answered' : describeEnd(report.end);
      ends.set(end, (ends.get(end) ?? 0) + 1);
      if (!isQuiet || !report.ok) print(describeCall(caller, report, isStopping));
      await recordings.prune();
    } catch (error) {
      const reason = OffhookError.isInstance(error) ? error.message : 'the simulated caller failed';
      print(`call from ${maskPhone(caller.from)}: not made, ${reason}`);
    }
  };
  const next = (): void => {
    const caller = DEMO_CALLERS[turn % DEMO_CALLERS.length];
    turn += 1;
    timer = clock.after(everyMs, next);
    if (caller === undefined || running.size >= most) return;
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
    /** What the calls came to so far, one line each. */
    summary(): string[] {
      const told = [...ends].map(([end, count]) => `${end} (${count})`);
      return [`calls       ${[calls, ...told].join(', ')}`, `lost        ${lost}`];
    },
  };
}
