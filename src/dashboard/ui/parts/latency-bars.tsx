// Where the time of each turn went. The parts of a bar sum to its total, and all bars share one scale.
import { useState } from 'preact/hooks';
import type {
  CallLatency,
  ToolCall,
  TranscriptEntry,
  Turn,
  TurnLatency,
  TurnTokens,
} from '../../../contract/call-record.js';
import { formatLatency, formatMoney } from '../format.js';
import type { Playhead } from '../state/playhead.js';

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

export interface LatencyBarsProps {
  turns: readonly Turn[];
  /** The agent's entry of a turn says when it began to speak. */
  transcript: readonly TranscriptEntry[];
  latency: CallLatency;
  isOver: boolean;
  /** Second 0 of the call, epoch milliseconds. */
  zero: number;
  head: Playhead;
  /** The turn that is pointed at, here or elsewhere. */
  turn: number | null;
  pointAt: (turn: number | null) => void;
}

export function LatencyBars(props: LatencyBarsProps) {
  const { turns, transcript, latency, isOver } = props;
  const [isSlowestFirst, setSlowestFirst] = useState(false);
  const answered = turns.filter(({ latency: { totalMs } }) => totalMs !== null);
  const totalOf = (turn: Turn) => turn.latency.totalMs ?? 0;
  const measured = isSlowestFirst ? answered.toSorted((a, b) => totalOf(b) - totalOf(a)) : answered;
  const longest = Math.max(1, ...answered.map(totalOf));
  const legend = STAGES.filter(([key]) => latency.stages[key] !== null);
  const spokenAt = new Map(
    transcript.flatMap((entry) => (entry.role === 'agent' ? [[entry.turnIndex, entry.at]] : [])),
  );
  const { avgMs, p50Ms, p95Ms, p99Ms } = latency;
  return (
    <section aria-labelledby="latency-title">
      <h3 id="latency-title">
        Latency
        <small>
          average {formatLatency(avgMs)} · P50 {formatLatency(p50Ms)} · P95 {formatLatency(p95Ms)} · P99{' '}
          {formatLatency(p99Ms)}
        </small>
      </h3>
      {measured.length === 0 && (
        <p class="quiet">{isOver ? 'No turn was answered.' : 'No turn has been answered yet.'}</p>
      )}
      {measured.length > 1 && (
        <button
          type="button"
          class="slowest"
          aria-pressed={isSlowestFirst}
          onClick={() => setSlowestFirst(!isSlowestFirst)}
        >
          Slowest first
        </button>
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
          <Bar
            key={turn.index}
            turn={turn}
            spokenAt={spokenAt.get(turn.index)}
            longest={longest}
            at={props}
          />
        ))}
      </ol>
    </section>
  );
}

interface BarProps {
  turn: Turn;
  /** When the agent began to speak, epoch milliseconds. */
  spokenAt: number | undefined;
  longest: number;
  at: LatencyBarsProps;
}

function Bar({ turn, spokenAt, longest, at }: BarProps) {
  const { index, startedAt, latency, fillerMs, cost, tokens, interrupted, toolCalls } = turn;
  const { zero, head, pointAt } = at;
  const facts = [
    ...(latency.heardMs === null ? [] : [`heard after ${formatLatency(latency.heardMs)}`]),
    ...(fillerMs === null ? [] : [`filler after ${formatLatency(fillerMs)}`]),
    ...(cost === null ? [] : [formatMoney(cost)]),
    ...tokenWords(tokens),
  ];
  return (
    <li
      class={at.turn === index ? 'pointed-at' : ''}
      onMouseEnter={() => pointAt(index)}
      onMouseLeave={() => pointAt(null)}
    >
      <span class="turn">
        <button
          type="button"
          class="jump"
          aria-label={`Go to turn ${index + 1}`}
          onFocus={() => pointAt(index)}
          onBlur={() => pointAt(null)}
          onClick={() => head.jump(startedAt - zero)}
        >
          Turn {index + 1}
        </button>
        {interrupted && <span class="tag">interrupted</span>}
      </span>
      <span class="spans">
        <StageTrack latency={latency} longestMs={longest} />
        {fillerMs !== null && (
          <i
            class="filler-mark"
            title={`Filler ${formatLatency(fillerMs)}`}
            style={{ insetInlineStart: `${Math.min(100, (fillerMs / longest) * 100)}%` }}
          />
        )}
        {toolCalls.map((tool, place) => (
          <ToolSpan key={place} tool={tool} endedAt={endOfSpeech(turn, spokenAt)} longest={longest} />
        ))}
        {facts.length > 0 && <small class="span-note">{facts.join(' · ')}</small>}
      </span>
      <span class="figure">{formatLatency(latency.totalMs)}</span>
    </li>
  );
}

/**
 * When the caller had finished, epoch milliseconds. A record of before does not say: there the agent's first words, a filler before all others,
 * came so much later.
 */
function endOfSpeech(turn: Turn, spokenAt: number | undefined): number {
  const { startedAt, speechEndedAt, fillerMs, latency } = turn;
  const guess = spokenAt === undefined ? startedAt : spokenAt - (fillerMs ?? latency.totalMs ?? 0);
  return speechEndedAt ?? guess;
}

/** A store of an application's may have records of before tokens were told. */
function tokenWords(tokens: TurnTokens | null | undefined): string[] {
  if (tokens === null || tokens === undefined) return [];
  const { inputTokens, cachedTokens, outputTokens } = tokens;
  const cached = cachedTokens > 0 ? ` (${cachedTokens.toLocaleString()} cached)` : '';
  return [`${inputTokens.toLocaleString()} tokens in${cached}`, `${outputTokens.toLocaleString()} out`];
}

interface ToolSpanProps {
  tool: ToolCall;
  /** When the caller had finished, epoch milliseconds. */
  endedAt: number;
  longest: number;
}

function ToolSpan({ tool, endedAt, longest }: ToolSpanProps) {
  const { name, startedAt, durationMs, error } = tool;
  const percent = (ms: number) => Math.max(0, Math.min(100, (ms / longest) * 100));
  const from = percent(startedAt - endedAt);
  const to = percent(startedAt - endedAt + (durationMs ?? 0));
  const time = durationMs === null ? 'went on after its turn' : formatLatency(durationMs);
  return (
    <span class={error === null ? 'tool-span' : 'tool-span trouble'}>
      <i
        class="tool-bar"
        style={{ marginInlineStart: `${Math.min(from, 99)}%`, width: `${Math.max(1, to - from)}%` }}
      />
      <small class="span-note" dir="auto">
        {name} {error ?? time}
      </small>
    </span>
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
