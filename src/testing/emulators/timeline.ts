// What an emulator does by the clock, whatever its client does, and what it expects of the client by then.
import type { Clock } from '../../base/clock.js';
import type { WireTroubles } from './troubled-wire.js';

/** One thing that happens to a socket `atMs` after its start. */
export type TimelineEntry = { readonly atMs: number } & (
  | { readonly send: object | string }
  /** Closes it; 1006 cuts the connection. */
  | { readonly close: number; readonly reason?: string }
  /** It neither reads nor answers any more, and is not closed either. */
  | { readonly freeze: true }
  /** From now on, for all sockets. */
  | { readonly troubles: WireTroubles }
  /** Where it does not hold, the sentence is among the emulator's violations. */
  | { readonly expect: () => boolean; readonly sentence: string }
);

interface TimelinePeer {
  send(message: object | string): void;
  close(code: number, reason: string): void;
  freeze(): void;
}

interface TimelineOwner {
  readonly clock: Clock;
  troubles: WireTroubles;
  complain(sentence: string): void;
}

/** Starts it for one socket. Returns what stops it. */
export function runTimeline(
  entries: readonly TimelineEntry[],
  peer: TimelinePeer,
  owner: TimelineOwner,
): () => void {
  const timers = entries.map((entry) =>
    owner.clock.after(entry.atMs, () => {
      if ('send' in entry) peer.send(entry.send);
      else if ('close' in entry) peer.close(entry.close, entry.reason ?? '');
      else if ('freeze' in entry) peer.freeze();
      else if ('troubles' in entry) owner.troubles = entry.troubles;
      else if (!entry.expect()) owner.complain(entry.sentence);
    }),
  );
  return () => {
    for (const timer of timers) timer.cancel();
  };
}
