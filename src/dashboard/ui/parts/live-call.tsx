// One call that is up: how long, what is said, where the last answer's time went, what it costs, and what can be done with it.
import { useMemo } from 'preact/hooks';
import type { CallRecord, CurrentPhase } from '../../../contract/call-record.js';
import { toSummary } from '../../../events/summarize.js';
import { formatCount, formatDuration, formatLatency, formatWord } from '../format.js';
import { useSeconds } from '../state/clock.js';
import { linkTo } from '../state/deep-link.js';
import { CallCommands } from './call-commands.js';
import { RunningCost } from './cost-table.js';
import { StageTrack } from './latency-bars.js';
import { Direction, Parties, providersOf } from './parties.js';
import { Transcript } from './transcript.js';

export interface LiveCallProps {
  call: CallRecord;
  controls: boolean;
  masked: boolean;
}

export function LiveCall({ call, controls, masked }: LiveCallProps) {
  // The same call looks the same: only calls with news are compared again.
  return useMemo(() => {
    const last = call.turns.findLast((turn) => turn.latency.totalMs !== null);
    return (
      <article class="call">
        <Top call={call} masked={masked} />
        <p class="meta">{providersOf(call)}</p>
        <Transcript entries={call.transcript} turns={call.turns} isLive />
        {last !== undefined && (
          <div class="measure">
            <span>
              Turn {last.index + 1} answered in <b>{formatLatency(last.latency.totalMs)}</b>
            </span>
            <StageTrack latency={last.latency} longestMs={last.latency.totalMs ?? 1} />
          </div>
        )}
        <RunningCost cost={call.cost} />
        <footer>
          <span class="turns">{formatCount(call.turnCount, 'turn')}</span>
          {controls && <CallCommands callId={call.callId} />}
        </footer>
      </article>
    );
  }, [call, controls, masked]);
}

/** The same in one line and what was said last, for when there are many. */
export function LiveLine({ call, masked }: Omit<LiveCallProps, 'controls'>) {
  return useMemo(() => {
    const said = call.transcript.findLast((entry) => entry.text !== '');
    return (
      <article class="call line">
        <Top call={call} masked={masked} />
        <p class="meta" dir="auto">
          {said?.text ?? providersOf(call)}
        </p>
      </article>
    );
  }, [call, masked]);
}

function Top({ call, masked }: Omit<LiveCallProps, 'controls'>) {
  return (
    <header>
      <Direction direction={call.direction} />
      <a href={linkTo(call.callId)} class="open">
        <Parties call={toSummary(call)} masked={masked} />
      </a>
      <PhaseLabel phase={call.phase} />
      {call.answeredAt === null ? (
        <span class="duration">{formatWord(call.status)}</span>
      ) : (
        <Ticking callId={call.callId} since={call.answeredAt} />
      )}
    </header>
  );
}

/** What the caller experiences now; nothing where there is no conversation. */
export function PhaseLabel({ phase }: { phase: CurrentPhase | null }) {
  return phase === null ? null : <span class={`phase ${phase.name}`}>{formatWord(phase.name)}</span>;
}

/** Counts up from the answer, or from what `label` names. */
export function Ticking(props: { callId: string; since: number; label?: string }) {
  const { callId, since, label = 'Duration' } = props;
  const now = useSeconds(callId);
  return (
    <span class="duration" role="timer" aria-label={label} aria-live="off">
      {formatDuration(now - since)}
    </span>
  );
}
