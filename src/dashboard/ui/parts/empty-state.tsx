// No call yet: the two ways to the first one.
import type { CallEntry } from '../../../contract/dashboard-api.js';
import { simulateCommand } from '../state/first-call.js';

export function EmptyState({ entry }: { entry: CallEntry | null }) {
  return (
    <section class="empty" aria-labelledby="empty-title">
      <h2 id="empty-title" class="headline">
        No calls yet
      </h2>
      {entry === null ? <Sources /> : <Ways entry={entry} />}
    </section>
  );
}

/** How the servers of a standalone dashboard find it. */
function Sources() {
  return (
    <ol>
      <li>
        <b>Servers of the same user on this machine</b>
        <span class="hint">They find this dashboard by themselves. Start one, and call it.</span>
      </li>
      <li>
        <b>Other servers</b>
        <code>{`dashboardUrl: '${location.origin}'`}</code>
        <span class="hint">
          Pass it to serve(), with this dashboard’s token as dashboardIngestToken. Elsewhere than on this
          machine it must be an https address.
        </span>
      </li>
    </ol>
  );
}

function Ways({ entry }: { entry: CallEntry }) {
  const command = simulateCommand(entry, location.origin);
  return (
    <ol>
      {command !== null && (
        <li>
          <b>Without a phone</b>
          <code>{command}</code>
          <span class="hint">
            {entry.isSigned
              ? 'Calls this server, and signs with the secret that it finds.'
              : 'Calls this server.'}
          </span>
        </li>
      )}
      <li>
        <b>With a number</b>
        {entry.voiceUrl !== null && <code>{entry.voiceUrl}</code>}
        <span class="hint">
          {entry.voiceUrl === null
            ? 'Set webhookUrl, or tunnel: true: the carrier must reach this server.'
            : 'Make this the voice URL of your number, then call it.'}
        </span>
      </li>
    </ol>
  );
}
