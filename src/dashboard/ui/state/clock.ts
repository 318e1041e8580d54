// One tick a second for everything on the page that counts, and none while nothing does.
import { useEffect, useState } from 'preact/hooks';
import { readState } from './app-store.js';

const listeners = new Set<() => void>();
let interval: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  for (const listener of listeners) listener();
}

/** The server's epoch milliseconds, as far as the page can tell: it stands still while the page is out of touch. */
export function serverNow(): number {
  const { connection, clockAheadMs } = readState();
  const now = connection.phase === 'reconnecting' ? connection.since : Date.now();
  return now - (clockAheadMs ?? 0);
}

/** Renders the calling part once a second. Returns `serverNow()`. */
export function useSeconds(): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const listener = () => setNow(serverNow());
    listeners.add(listener);
    interval ??= setInterval(tick, 1000);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(interval);
      interval = undefined;
    };
  }, []);
  return now;
}
