// One tick a second for everything on the page that depends on the time.
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

/** `serverNow(callId)`, read every second. */
export function useSeconds(callId?: string): number {
  return useTicks(() => serverNow(callId), callId);
}

/** The browser's time, epoch milliseconds, read every second. It goes on while the page is out of touch. */
export function useBrowserSeconds(): number {
  return useTicks(Date.now);
}

/** When the browser's day began, epoch milliseconds. */
export function useToday(): number {
  return useTicks(() => new Date().setHours(0, 0, 0, 0));
}

/** Minutes of the epoch, by the browser. */
export function useMinute(): number {
  return useTicks(() => Math.floor(Date.now() / 60_000));
}

/** Draws the calling part again when what `read` returns has changed at a tick. `of`: what else it depends on. */
function useTicks(read: () => number, of?: string): number {
  const [now, setNow] = useState(read);
  useEffect(() => {
    const listener = () => setNow(read());
    listeners.add(listener);
    interval ??= setInterval(tick, 1000);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearInterval(interval);
      interval = undefined;
    };
  }, [of]);
  return now;
}
