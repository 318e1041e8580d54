// Name, and how far the page may be believed.
import { formatTime } from '../format.js';
import type { AlertWay, Connection } from '../state/app-store.js';
import { leave } from '../state/connection.js';
import { useBrowserSeconds } from '../state/clock.js';
import { Alerts } from './alerts.js';

/** A short gap is a hiccup, a long one makes the page stale. */
const STALE_MS = 8000;

export interface HeaderProps {
  connection: Connection;
  isDraining: boolean;
  isBrokerThere: boolean;
  isSignedIn: boolean;
  alertWays: ReadonlySet<AlertWay>;
}

export function Header({ connection, isDraining, isBrokerThere, isSignedIn, alertWays }: HeaderProps) {
  return (
    <header class="top">
      <span class="name">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" />
          <path d="M4 6.5a5.6 5.6 0 0 1 8 0M4 6.5v2M12 6.5v2M6.4 11.5h3.2" />
        </svg>
        offhook
      </span>
      {(isDraining || !isBrokerThere) && (
        <p class="connection draining" role="status">
          {isDraining ? 'Server is shutting down' : 'Broker is away: news is missing'}
        </p>
      )}
      {connection.phase === 'reconnecting' ? (
        <Lost since={connection.since} />
      ) : (
        <p class={`connection ${connection.phase}`} role="status">
          <i aria-hidden="true" />
          {connection.phase === 'live' ? 'Live' : 'Connecting…'}
        </p>
      )}
      <Alerts ways={alertWays} />
      {isSignedIn && (
        <button type="button" onClick={() => void leave().catch(() => {})}>
          Sign out
        </button>
      )}
    </header>
  );
}

function Lost({ since }: { since: number }) {
  const now = useBrowserSeconds();
  const isStale = now - since > STALE_MS;
  return (
    <p class={`connection ${isStale ? 'lost' : 'reconnecting'}`} role="status">
      <i aria-hidden="true" />
      {isStale ? `Stale since ${formatTime(since, now)}` : 'Reconnecting…'}
    </p>
  );
}
