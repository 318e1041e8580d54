// When the stages of a turn began and ended, from what its facts say.
import type { HrTime } from '@opentelemetry/api';
import type { Turn, TurnLatency } from '../contract/call-record.js';

export type StageName = 'endpointing' | 'stt' | 'llm' | 'tts' | 'send';

export interface StageTimes {
  readonly name: StageName;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** Stages in their order, with the parts of the latency that each is made of. */
const STAGES: readonly { readonly name: StageName; readonly parts: readonly (keyof TurnLatency)[] }[] = [
  { name: 'endpointing', parts: ['endpointingMs'] },
  { name: 'stt', parts: ['sttMs'] },
  { name: 'llm', parts: ['llmFirstTokenMs', 'sentenceMs'] },
  { name: 'tts', parts: ['ttsFirstByteMs'] },
  { name: 'send', parts: ['sendMs'] },
];

/** What the facts around a turn tell of its times, as epoch milliseconds: for a turn that does not say when the caller's speech ended. */
export interface TurnAnchors {
  /** The caller's text was complete. */
  readonly textFinalAt: number | null;
  /** The first frame of the answer was sent. */
  readonly agentAt: number | null;
}

/**
 * The stages of a turn. They are contiguous: durations come from the latency, and their place in time from the end of the caller's speech,
 * where it is unknown from the first frame, or from the caller's complete text when nothing was said. None without an end of speech.
 */
export function stagesOf(
  { latency, speechEndedAt: toldAt }: Pick<Turn, 'latency' | 'speechEndedAt'>,
  anchors: TurnAnchors,
): StageTimes[] {
  // Another process, or a log, may be older than the field.
  const speechEndedAt = toldAt ?? endOfSpeech(latency, anchors);
  if (speechEndedAt === null) return [];
  let at = speechEndedAt;
  const stages: StageTimes[] = [];
  for (const { name, parts } of STAGES) {
    const durations = parts.map((part) => latency[part]).filter((duration) => duration !== null);
    // What was not reached is unknown, and so is everything behind it.
    if (durations.length === 0) break;
    const from = at;
    at += durations.reduce((sum, duration) => sum + duration, 0);
    stages.push({ name, from, to: at });
  }
  return stages;
}

function endOfSpeech({ endpointingMs, sttMs, totalMs }: TurnLatency, anchors: TurnAnchors): number | null {
  const { agentAt, textFinalAt } = anchors;
  if (agentAt !== null && totalMs !== null) return agentAt - totalMs;
  if (textFinalAt === null || endpointingMs === null || sttMs === null) return null;
  return textFinalAt - endpointingMs - sttMs;
}

/** Epoch milliseconds as OpenTelemetry takes them without doubt: a bare number may also mean another clock. */
export function toHrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}
