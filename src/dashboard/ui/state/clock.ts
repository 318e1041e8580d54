// One tick a second for everything on the page that counts, and none while nothing does.
import { useEffect, useState } from 'preact/hooks';
import { readState } from './app-store.js';
import { offsetOf } from './clock-offsets.js';

const listeners = new Set<() => void>();
let interval: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  for (const listener of listeners) listener();
}

/** Epoch milliseconds of the server, or of one of its calls, as far as the page can tell: they stand still while it is out of touch. */
export function serverNow(callId?: string): number {
  const { connection, clockOffsets } = readState();
  const now = connection.phase === 'reconnecting' ? connection.since : Date.now();
  return now - offsetOf(clockOffsets, callId);
}

/** Renders the calling part once a second. Returns `serverNow(callId)`. */
export function useSeconds(callId?: string): number {
  const [now, setNow] = useState(() => serverNow(callId));
  useEffect(() => {
    const listener = () => setNow(serverNow(callId));
    listeners.add(listener);
    interval ??= setInterval(tick, 1000);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(interval);
      interval = undefined;
    };
  }, [callId]);
  return now;
}
