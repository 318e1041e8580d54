// What is kept of a leg: its streams, what the phone server did wrong, and the reports of both.
import { reportCall, type HeardStream, type ReportHead } from '../call-report.js';
import type { PhoneLine } from '../phone-line.js';
import type { PlaybackClock } from '../playback.js';
import type { CallAnswerReport, CallReport } from '../report.js';
import type { CarrierBStream } from './stream.js';
import { ViolationList } from './violations.js';

/** A stream that had its `start`. */
export interface StreamPart {
  stream: CarrierBStream;
  playback: PlaybackClock;
  /** Where it began, in the time of the line. */
  offsetMs: number;
  /** Epoch milliseconds. */
  startedAt: number;
  answer: CallAnswerReport;
}

function toHeard({ stream, playback, offsetMs }: StreamPart): HeardStream {
  return {
    offsetMs,
    durationMs: stream.durationMs,
    playback: playback.log,
    framesSent: stream.framesSent,
    framesReceived: stream.framesReceived,
    violations: stream.violations.list,
    end: stream.end ?? null,
  };
}

/** The acknowledgment of the bell may come after the stream has begun. */
function withBell(answer: CallAnswerReport, webhookMs: number | null): CallAnswerReport {
  return { ...answer, webhookMs: webhookMs === null ? null : Math.round(webhookMs) };
}

export class LegRecord {
  /** Of commands and requests; those of a stream are with the stream. */
  readonly violations: ViolationList;
  readonly #line: PhoneLine;
  readonly #head: ReportHead;
  readonly #parts: StreamPart[] = [];

  constructor(line: PhoneLine, head: ReportHead) {
    this.#line = line;
    this.#head = head;
    this.violations = new ViolationList(() => line.nowMs);
  }

  add(part: StreamPart): void {
    this.#parts.push(part);
  }

  /** Everything that was wrong, each kind once. */
  get sentences(): string[] {
    const inStreams = this.#parts.flatMap(({ stream }) => stream.violations.sentences);
    return [...new Set([...this.violations.sentences, ...inStreams])];
  }

  get lastStream(): CarrierBStream | undefined {
    return this.#parts.at(-1)?.stream;
  }

  /** Where the first stream began, in the time of the line; undefined without one. */
  get firstStreamMs(): number | undefined {
    return this.#parts[0]?.offsetMs;
  }

  /** One report for each stream. */
  reports(webhookMs: number | null): CallReport[] {
    return this.#parts.map((part) =>
      reportCall(
        { ...this.#head, startedAt: part.startedAt },
        { streams: [toHeard(part)], speech: this.#line.speech },
        { answer: withBell(part.answer, webhookMs), violations: [], notes: [], recording: null },
      ),
    );
  }

  /** The whole call in one report. `answer` is for one that had no stream. */
  report(rest: {
    answer: CallAnswerReport;
    webhookMs: number | null;
    notes: readonly string[];
    recording: string | null;
  }): CallReport {
    return reportCall(
      this.#head,
      { streams: this.#parts.map(toHeard), speech: this.#line.speech },
      {
        answer: withBell(this.#parts[0]?.answer ?? rest.answer, rest.webhookMs),
        violations: this.violations.list,
        notes: [...this.#line.notes, ...rest.notes],
        recording: rest.recording,
      },
    );
  }
}
