// The calls that are up now: whole while they are few, a line each when they are many.
import type { CallRecord } from '../../../contract/call-record.js';
import { LiveCall } from './live-call.js';

/** More than these do not fit beside the history. */
const MAX_WHOLE = 4;

export function LiveCalls(props: {
  calls: ReadonlyMap<string, CallRecord>;
  controls: boolean;
  masked: boolean;
}) {
  // The longest first: a new call joins at the end and moves none of the others. Of those that began together a snapshot has another order.
  const calls = [...props.calls.values()].sort(
    (a, b) => a.startedAt - b.startedAt || (a.callId < b.callId ? -1 : 1),
  );
  const areMany = calls.length > MAX_WHOLE;
  return (
    <section class="rail" aria-labelledby="live-title">
      <div class="bar">
        <h2 id="live-title">Live</h2>
        {calls.length > 0 && <span class="count">{calls.length}</span>}
      </div>
      {calls.length === 0 && <p class="quiet">No call right now. The next one appears here.</p>}
      {calls.map((call) => (
        <LiveCall
          key={call.callId}
          call={call}
          controls={props.controls}
          masked={props.masked}
          isLine={areMany}
        />
      ))}
    </section>
  );
}
