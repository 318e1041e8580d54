// No call yet: the two ways to the first one.
import type { CallEntry } from '../../../contract/dashboard-api.js';
import { simulateCommand } from '../state/first-call.js';

export function EmptyState({ entry }: { entry: CallEntry | null }) {
  return (
    <section class="empty" aria-labelledby="empty-title">
      <h2 id="empty-title" class="headline">
        No calls yet
      </h2>
      {entry === null ? (
        <p class="hint">Calls are shown here as soon as a server sends them to this dashboard.</p>
      ) : (
        <Ways entry={entry} />
      )}
    </section>
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
