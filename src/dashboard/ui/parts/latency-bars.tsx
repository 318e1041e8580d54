// Where the time of each turn went. The parts of a bar sum to its total, and all bars share one scale.
import type { CallLatency, Turn, TurnLatency } from '../../../contract/call-record.js';
import { formatLatency } from '../format.js';

export const STAGES = [
  ['endpointingMs', 'End of speech'],
  ['sttMs', 'Speech to text'],
  ['llmFirstTokenMs', 'First token'],
  ['sentenceMs', 'First sentence'],
  ['ttsFirstByteMs', 'First audio'],
  ['sendMs', 'Send'],
] as const satisfies readonly (readonly [keyof TurnLatency, string])[];

interface Part {
  key: string;
  label: string;
  ms: number;
}

/** The known stages, and what they leave of the total; a realtime engine has the total only. */
export function partsOf(latency: TurnLatency): Part[] {
  const stages = STAGES.flatMap(([key, label]): Part[] => {
    const ms = latency[key];
    return ms === null ? [] : [{ key, label, ms }];
  });
  const rest = (latency.totalMs ?? 0) - stages.reduce((sum, { ms }) => sum + ms, 0);
  return rest > 0
    ? [...stages, { key: 'rest', label: stages.length > 0 ? 'Other' : 'Answer', ms: rest }]
    : stages;
}

export function LatencyBars(props: { turns: readonly Turn[]; latency: CallLatency; isOver: boolean }) {
  const { turns, latency, isOver } = props;
  const measured = turns.filter((turn) => turn.latency.totalMs !== null);
  const longest = Math.max(1, ...measured.map((turn) => turn.latency.totalMs ?? 0));
  const legend = STAGES.filter(([key]) => latency.stages[key] !== null);
  return (
    <section aria-labelledby="latency-title">
      <h3 id="latency-title">
        Latency
        <small>
          average {formatLatency(latency.avgMs)} · P95 {formatLatency(latency.p95Ms)}
        </small>
      </h3>
      {measured.length === 0 && (
        <p class="quiet">{isOver ? 'No turn was answered.' : 'No turn has been answered yet.'}</p>
      )}
      {legend.length > 0 && (
        <ul class="legend" aria-label="Average of each stage">
          {legend.map(([key, label]) => (
            <li key={key}>
              <i class={key} aria-hidden="true" />
              {label} <b>{formatLatency(latency.stages[key])}</b>
            </li>
          ))}
        </ul>
      )}
      <ol class="bars">
        {measured.map((turn) => (
          <Bar key={turn.index} turn={turn} longest={longest} />
        ))}
      </ol>
    </section>
  );
}

function Bar({ turn, longest }: { turn: Turn; longest: number }) {
  return (
    <li>
      <span class="turn">
        Turn {turn.index + 1}
        {turn.interrupted && <span class="tag">interrupted</span>}
        {turn.fillerMs !== null && <span class="tag">filler {formatLatency(turn.fillerMs)}</span>}
      </span>
      <StageTrack latency={turn.latency} longestMs={longest} />
      <span class="figure">{formatLatency(turn.latency.totalMs)}</span>
    </li>
  );
}

/** The stages of one answer beside each other; `longestMs` is the whole width. */
export function StageTrack({ latency, longestMs }: { latency: TurnLatency; longestMs: number }) {
  const parts = partsOf(latency);
  const spoken = parts.map(({ label, ms }) => `${label} ${formatLatency(ms)}`).join(', ');
  return (
    <span class="track" role="img" aria-label={spoken}>
      {parts.map(({ key, label, ms }) => (
        <i
          key={key}
          class={key}
          style={{ width: `${(ms / longestMs) * 100}%` }}
          title={`${label} ${formatLatency(ms)}`}
        />
      ))}
    </span>
  );
}
