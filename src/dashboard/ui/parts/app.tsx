// The page as a whole: counters, live calls, history, and the call that is open.
import { useEffect } from 'preact/hooks';
import { useAppState } from '../state/app-store.js';
import { useOpenCall } from '../state/deep-link.js';
import { useShownCalls } from '../state/found.js';
import { CallDetail } from './call-detail.js';
import { Counters } from './counters.js';
import { EmptyState } from './empty-state.js';
import { Header } from './header.js';
import { History } from './history.js';
import { LiveCalls } from './live-calls.js';
import { SignIn } from './sign-in.js';

export function App() {
  const { page, connection, view, masked, announcement, isDraining, isBrokerThere, alertWays, missedAlerts } =
    useAppState();
  const openCall = useOpenCall();
  const shown = useShownCalls(page, view);
  const activeCount = page.active.size;
  useEffect(() => {
    const alerts = missedAlerts > 0 ? `⚠ ${missedAlerts} · ` : '';
    document.title = `${alerts}${activeCount > 0 ? `(${activeCount}) ` : ''}offhook`;
  }, [activeCount, missedAlerts]);

  if (connection.phase === 'signed-out') return <SignIn />;
  const isEmpty = page.aggregates !== null && activeCount === 0 && page.history.length === 0;
  return (
    <>
      <Header
        connection={connection}
        isDraining={isDraining}
        isBrokerThere={isBrokerThere}
        isSignedIn={page.isSignedIn}
        alertWays={alertWays}
      />
      <main class={connection.phase === 'reconnecting' ? 'stale' : ''}>
        <h1 class="unseen">Calls</h1>
        <Counters page={page} view={view} calls={shown.known} />
        {isEmpty ? (
          <EmptyState entry={page.entry} />
        ) : (
          <div class="board">
            <LiveCalls calls={page.active} view={view.live} controls={page.controls} masked={masked} />
            <History page={page} view={view} shown={shown} masked={masked} />
          </div>
        )}
      </main>
      {openCall !== null && (
        <CallDetail open={openCall} page={page} shown={shown.calls} live={view.live} masked={masked} />
      )}
      <p class="unseen" role="status">
        {announcement}
      </p>
    </>
  );
}
