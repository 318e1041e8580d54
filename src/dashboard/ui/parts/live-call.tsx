// One call that is up: how long, what is said, what it costs, and the way to end it.
import { useMemo } from 'preact/hooks';
import type { CallRecord } from '../../../contract/call-record.js';
import { toSummary } from '../../../events/summarize.js';
import { formatDuration, formatLatency, formatTotal, formatWord } from '../format.js';
import { useSeconds } from '../state/clock.js';
import { linkTo } from '../state/deep-link.js';
import { HangUp } from './hang-up.js';
import { Direction, Parties, providersOf } from './parties.js';
import { Transcript } from './transcript.js';

export function LiveCall({
  call,
  controls,
  masked,
}: {
  call: CallRecord;
  controls: boolean;
  masked: boolean;
}) {
  // The same call looks the same: only calls with news are compared again.
  return useMemo(() => {
    const last = call.turns.findLast((turn) => turn.latency.totalMs !== null);
    return (
      <article class="call">
        <header>
          <Direction direction={call.direction} />
          <a href={linkTo(call.callId)} class="open">
            <Parties call={toSummary(call)} masked={masked} />
          </a>
          {call.answeredAt === null ? (
            <span class="duration">{formatWord(call.status)}</span>
          ) : (
            <Ticking since={call.answeredAt} />
          )}
        </header>
        <p class="meta">{providersOf(call)}</p>
        <Transcript entries={call.transcript} turns={call.turns} isLive />
        <footer>
          <dl class="facts">
            <div>
              <dt>Turns</dt>
              <dd>{call.turnCount}</dd>
            </div>
            <div>
              <dt>Last answer</dt>
              <dd>{formatLatency(last?.latency.totalMs ?? null)}</dd>
            </div>
            <div>
              <dt>Cost</dt>
              <dd>{formatTotal(call.cost)}</dd>
            </div>
          </dl>
          {controls && <HangUp callId={call.callId} />}
        </footer>
      </article>
    );
  }, [call, controls, masked]);
}

/** Counts up from the answer. */
export function Ticking({ since }: { since: number }) {
  const now = useSeconds();
  return (
    <span class="duration" role="timer" aria-label="Duration" aria-live="off">
      {formatDuration(now - since)}
    </span>
  );
}
