// SIGINT and SIGTERM for servers that leave them to us: the first signal drains every one of them and ends the process, a later one ends it at once.
import { constants } from 'node:os';
import { systemClock } from '../base/clock.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** What else the application has to do once nothing is served, in milliseconds. */
const EXIT_GRACE_MS = 3000;
/**
 * One signal may come twice, in milliseconds: the terminal sends Ctrl-C to `npm start` and to the server, and npm passes its own on. Nobody means
 * a second one so soon.
 */
export const SIGNAL_ECHO_MS = 1000;

/** Of the process: one signal is for all its servers. */
const drains = new Set<() => Promise<void>>();
/** When the first signal came, on the clock. */
let signaledAt: number | undefined;
/** The process ends once its servers have. */
let isEnding = false;

/** `drain`: ends a server in order, and never rejects. Returns what stops listening. */
export function drainOnSignal(drain: () => Promise<void>): () => void {
  if (drains.size === 0) for (const signal of SIGNALS) process.on(signal, endProcess);
  drains.add(drain);
  // It was starting when the signal came.
  if (isEnding) void drain();
  return () => {
    drains.delete(drain);
    if (drains.size > 0) return;
    for (const signal of SIGNALS) process.removeListener(signal, endProcess);
  };
}

/** Ends the process in order, as a signal does, once `leave` has, which is how the server of `own` ends: the other servers are drained. */
export function endProcessAfter(leave: () => Promise<void>, own: (() => Promise<void>) | undefined): void {
  isEnding = true;
  const others = [...drains].filter((drain) => drain !== own);
  void Promise.all([leave(), ...others.map((drain) => drain())]).then(exitSoon);
}

function endProcess(signal: (typeof SIGNALS)[number]): void {
  if (signaledAt !== undefined) {
    if (systemClock.now() - signaledAt >= SIGNAL_ECHO_MS) process.exit(128 + constants.signals[signal]);
    return;
  }
  // Also where the servers drain already: calls then have the time of a signal.
  signaledAt = systemClock.now();
  isEnding = true;
  void Promise.all([...drains].map((drain) => drain())).then(exitSoon);
}

/** A process with nothing left to do is gone before: the timer does not keep it. */
function exitSoon(): void {
  systemClock.after(EXIT_GRACE_MS, () => process.exit());
}
