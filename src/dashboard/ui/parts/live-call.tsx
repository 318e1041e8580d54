// One call that is up: how long, what is said, where the last answer's time went, what it costs, and what can be done with it.
import type { CallRecord, CurrentPhase } from '../../../contract/call-record.js';
import { toSummary } from '../../../events/summarize.js';
import { formatCount, formatDuration, formatLanguage, formatLatency, formatWord } from '../format.js';
import { useSeconds } from '../state/clock.js';
import { linkTo } from '../state/deep-link.js';
import { nameIncident } from '../state/timeline.js';
import { CallCommands } from './call-commands.js';
import { RunningCost } from './cost-table.js';
import { StageTrack } from './latency-bars.js';
import { memo } from './memo.js';
import { Direction, Parties, providersOf } from './parties.js';
import { Transcript } from './transcript.js';

export interface LiveCallProps {
  call: CallRecord;
  controls: boolean;
  masked: boolean;
  /** In one line and what was said last, for when there are many. */
  isLine: boolean;
  /** Opens one call in full, and the others are lines; null closes it. Null where all are whole. */
  toggle: ((callId: string | null) => void) | null;
}

/** Only calls with news are drawn again. Whole or in a line it is the same part, so that a form that is open stays. */
export const LiveCall = memo(({ call, controls, masked, isLine, toggle }: LiveCallProps) => {
  const last = isLine ? undefined : call.turns.findLast((turn) => turn.latency.totalMs !== null);
  const said = isLine
    ? call.transcript.findLast(({ role, text }) => role !== 'tool' && text !== '')?.text
    : undefined;
  return (
    <article class={isLine ? 'call line' : 'call'}>
      <header>
        <Top call={call} masked={masked} />
        {toggle !== null && (
          <button
            type="button"
            class="toggle"
            aria-expanded={!isLine}
            aria-label="In full"
            onClick={() => toggle(isLine ? call.callId : null)}
          >
            <span aria-hidden="true">{isLine ? '▾' : '▴'}</span>
          </button>
        )}
      </header>
      <p class="meta" dir="auto">
        <Trouble call={call} />
        {isLine && <FailedTransfer call={call} />}
        {said ?? [...languageOf(call), providersOf(call)].join(' · ')}
      </p>
      {!isLine && <Transcript call={call} isLive />}
      {last !== undefined && (
        <div class="measure">
          <span>
            Turn {last.index + 1} answered in <b>{formatLatency(last.latency.totalMs)}</b>
          </span>
          <StageTrack latency={last.latency} longestMs={last.latency.totalMs ?? 1} />
        </div>
      )}
      {!isLine && <RunningCost cost={call.cost} />}
      {(controls || !isLine) && (
        <footer>
          {!isLine && <span class="turns">{formatCount(call.turnCount, 'turn')}</span>}
          {controls && <CallCommands call={call} masked={masked} />}
        </footer>
      )}
    </article>
  );
});

/** A record may be older than the field. */
function languageOf({ language }: CallRecord): string[] {
  return language == null ? [] : [formatLanguage(language)];
}

function Top({ call, masked }: Pick<LiveCallProps, 'call' | 'masked'>) {
  return (
    <>
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
    </>
  );
}

/** What went wrong last. */
function Trouble({ call }: { call: CallRecord }) {
  const last = call.incidents.at(-1);
  return last === undefined ? null : <span class="trouble">{`${nameIncident(last.code)} · `}</span>;
}

/** A line has no room for it beside the buttons, and whoever has sent the caller there looks at them. */
function FailedTransfer({ call: { transfer } }: { call: CallRecord }) {
  if (transfer?.result == null || transfer.result === 'connected') return null;
  return <span class="trouble">{`Transfer: ${formatWord(transfer.result)} · `}</span>;
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
      {formatDuration(Math.floor((now - since) / 1000) * 1000)}
    </span>
  );
}
