// One leg of a call at the carrier: its status and who hears of it, the person on it, its streams, and its end.
import type { Timer } from '../../base/clock.js';
import { maskPhone } from '../../base/redact.js';
import { reportCall, type HeardStream, type ReportHead } from '../call-report.js';
import type { PreparedStep } from '../caller-script.js';
import { PhoneLine } from '../phone-line.js';
import type { CallAnswerReport, CallReport } from '../report.js';
import type { SimulatedLeg } from '../simulator.js';
import type { Violation } from '../stream-end.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import type { StatusEvent } from './callback-events.js';
import type { Callback, EventCallback } from './markup-verbs.js';
import { statusParameters, type CallFacts, type WireStatus } from './parameters.js';
import { CallRecording, type RecordingSettings } from './recording.js';
import type { CarrierAStream, StopReason } from './stream.js';
import type { Switchboard } from './switchboard.js';

/** How a leg ends. */
export interface LegEnding {
  by: 'caller' | 'agent';
  how: StopReason;
  /** Cuts the socket without a word. */
  abrupt?: boolean;
  /** @default what follows from the state of the leg */
  status?: WireStatus;
}

interface StreamPart {
  readonly stream: CarrierAStream;
  readonly offsetMs: number;
  readonly startedAt: number;
  readonly answer: CallAnswerReport;
}

const EVENTS: Readonly<Record<WireStatus, StatusEvent | undefined>> = {
  queued: undefined,
  initiated: 'initiated',
  ringing: 'ringing',
  'in-progress': 'answered',
  completed: 'completed',
  busy: 'completed',
  'no-answer': 'completed',
  failed: 'completed',
  canceled: 'completed',
};

/** Source: the wire reference of the carrier; what is not answered and not busy was given up. */
const SIP_CODES: Partial<Record<WireStatus, number>> = { completed: 200, busy: 486, failed: 404 };
const SIP_GIVEN_UP = 487;

/** Why a call without a stream was not answered, when nobody has said so. */
const UNANSWERED: CallAnswerReport = {
  outcome: 'failed',
  status: null,
  webhookMs: null,
  upgradeMs: null,
  answeredAfterMs: null,
  reason: 'the call ended before it was answered',
};

export class Leg implements SimulatedLeg {
  readonly facts: CallFacts;
  readonly line: PhoneLine;
  readonly spoken: string[] = [];
  readonly sentDigits: string[] = [];
  readonly recordings: CallRecording[] = [];
  readonly notes: string[] = [];
  readonly createdAt: number;
  /** Resolves when the leg is over. */
  readonly over: Promise<void>;
  status: WireStatus;
  answeredBy: string | null = null;
  statusCallback: EventCallback | undefined;
  fallback: Callback | undefined;
  /** What the person does once the leg is answered. */
  steps: readonly PreparedStep[] = [];
  /** How the server took the call; set once. */
  answerReport: CallAnswerReport | undefined;
  answeredAt: number | undefined;
  endedAt: number | undefined;
  /** On the clock of durations. */
  answeredMs: number | undefined;
  endedMs: number | undefined;
  readonly #switchboard: Switchboard;
  readonly #violations: Violation[] = [];
  readonly #streams: StreamPart[] = [];
  readonly #reports: Promise<void>[] = [];
  readonly #end = createSharedAbort();
  #run = new AbortController();
  #resolveOver: () => void = () => {};
  #timeLimit: Timer | undefined;
  #sequence = 0;

  constructor(switchboard: Switchboard, facts: CallFacts, status: 'queued' | 'ringing') {
    this.#switchboard = switchboard;
    this.facts = facts;
    this.status = status;
    this.createdAt = switchboard.wallNow();
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.line = new PhoneLine({
      clock: switchboard.clock,
      onHangUp: ({ abrupt }) => this.end({ by: 'caller', how: 'hang-up', abrupt }),
    });
  }

  get carrierCallId(): string {
    return this.facts.callSid;
  }

  get direction(): 'inbound' | 'outbound' {
    return this.facts.direction === 'inbound' ? 'inbound' : 'outbound';
  }

  get isOver(): boolean {
    return this.endedMs !== undefined;
  }

  get isAnswered(): boolean {
    return this.answeredMs !== undefined;
  }

  get isRecorded(): boolean {
    return this.recordings.length > 0;
  }

  /** From the answer to the end, or to now; 0 without an answer. */
  get durationMs(): number {
    if (this.answeredMs === undefined) return 0;
    return (this.endedMs ?? this.#switchboard.clock.now()) - this.answeredMs;
  }

  /** Aborted when the leg is over. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get violations(): readonly string[] {
    const inStreams = this.#streams.flatMap(({ stream }) => stream.violations);
    return [...new Set([...this.#violations, ...inStreams].map(({ sentence }) => sentence))];
  }

  get reports(): readonly CallReport[] {
    return this.#streams.map(({ answer, startedAt, ...part }) =>
      reportCall(
        { ...this.#head, startedAt },
        { streams: [toHeard(part)], speech: this.line.speech },
        { answer, violations: [], notes: [], recording: null },
      ),
    );
  }

  /** The whole call in one report. */
  report(rest: { notes: readonly string[]; recording: string | null }): CallReport {
    return reportCall(
      this.#head,
      { streams: this.#streams.map(toHeard), speech: this.line.speech },
      {
        answer: this.answerReport ?? UNANSWERED,
        violations: this.#violations,
        notes: [...this.line.notes, ...this.notes, ...rest.notes],
        recording: rest.recording,
      },
    );
  }

  /** Where the first stream begins, in the time of the line; undefined without one. */
  get firstStreamMs(): number | undefined {
    return this.#streams[0]?.offsetMs;
  }

  /** Resolves when every socket is closed. */
  async streamsClosed(): Promise<void> {
    await Promise.all(this.#streams.map(({ stream }) => stream.ended));
  }

  /** Resolves when every status report so far has been delivered. */
  async reported(): Promise<void> {
    await Promise.all(this.#reports);
  }

  /** The stream that is open. */
  get stream(): CarrierAStream | undefined {
    const last = this.#streams.at(-1)?.stream;
    return last?.end === undefined ? last : undefined;
  }

  dropStream(): void {
    this.stream?.drop();
  }

  violate(sentence: string): void {
    const known = this.#violations.find((violation) => violation.sentence === sentence);
    if (known !== undefined) known.count += 1;
    else this.#violations.push({ atMs: Math.round(this.line.nowMs), sentence, count: 1 });
  }

  /** Moves on, and tells who wants to know. */
  setStatus(status: WireStatus): void {
    if (this.isOver) return;
    this.status = status;
    this.#report(status);
  }

  /** Somebody has answered. Only the first time counts. */
  answer(options: { timeLimitSeconds?: number | undefined } = {}): void {
    if (this.isOver || this.isAnswered) return;
    this.answeredMs = this.#switchboard.clock.now();
    this.answeredAt = this.#switchboard.wallNow();
    this.setStatus('in-progress');
    if (options.timeLimitSeconds !== undefined) this.limitTo(options.timeLimitSeconds);
  }

  /** The carrier ends the call after this time. */
  limitTo(seconds: number): void {
    this.#timeLimit?.cancel();
    this.#timeLimit = this.#switchboard.clock.after(seconds * 1000 - this.durationMs, () =>
      this.end({ by: 'agent', how: 'time-limit' }),
    );
  }

  /** New instructions take over from the ones before. The signal is aborted when they in turn are replaced, and at the end. */
  beginRun(): AbortSignal {
    this.#run.abort();
    this.#run = new AbortController();
    if (this.isOver) this.#run.abort();
    return this.#run.signal;
  }

  /** Connects the person with a stream. */
  addStream(stream: CarrierAStream, answer: CallAnswerReport): void {
    this.answerReport ??= answer;
    this.line.start(this.steps);
    const offsetMs = this.line.hear(stream.playback);
    this.#streams.push({ stream, offsetMs, startedAt: this.#switchboard.wallNow(), answer });
    this.line.connect(stream);
  }

  startRecording(settings: RecordingSettings): CallRecording {
    const { line } = this;
    const recording = new CallRecording(
      { callSid: this.carrierCallId, line, queue: this },
      settings,
      this.#switchboard,
    );
    this.recordings.push(recording);
    return recording;
  }

  /** Ends the leg: the stream is stopped, everybody is told. Idempotent. */
  end(ending: LegEnding): void {
    if (this.isOver) return;
    const wasQueued = this.status === 'queued';
    const unanswered = this.direction === 'inbound' ? 'no-answer' : 'canceled';
    this.endedMs = this.#switchboard.clock.now();
    this.endedAt = this.#switchboard.wallNow();
    this.status = ending.status ?? (this.isAnswered ? 'completed' : unanswered);
    this.#timeLimit?.cancel();
    this.stream?.stop(ending.how, {
      by: ending.by,
      ...(ending.abrupt === undefined ? {} : { abrupt: ending.abrupt }),
    });
    this.line.close();
    for (const recording of this.recordings) recording.stop();
    this.#run.abort();
    this.#end.abort();
    // A call that is called off in the queue is not reported. Source: status callbacks of the carrier.
    if (!wasQueued) this.#report(this.status);
    this.#resolveOver();
  }

  get #head(): ReportHead {
    return {
      carrier: 'carrier-a',
      carrierCallId: this.carrierCallId,
      caller: maskPhone(this.facts.from),
      callee: maskPhone(this.facts.to),
      startedAt: this.createdAt,
    };
  }

  #report(status: WireStatus): void {
    const callback = this.statusCallback;
    const event = EVENTS[status];
    if (callback === undefined || event === undefined || !callback.events.includes(event)) return;
    const sequence = this.#sequence;
    this.#sequence += 1;
    const parameters = statusParameters(this.facts, {
      status,
      sequence,
      at: this.#switchboard.wallNow(),
      ...(event === 'completed'
        ? { ended: { durationMs: this.durationMs, sipResponseCode: SIP_CODES[status] ?? SIP_GIVEN_UP } }
        : {}),
    });
    this.#reports.push(this.#deliver(callback, parameters));
  }

  async #deliver(callback: EventCallback, parameters: ReturnType<typeof statusParameters>): Promise<void> {
    const { url, method } = callback;
    const answered = await this.#switchboard.webhooks.report(this, { url, method, parameters });
    if (answered === null) this.notes.push('The status callback could not be delivered.');
    else if (answered < 200 || answered > 299) {
      this.notes.push(`The status callback was answered with ${answered}.`);
    }
  }
}

function toHeard({ stream, offsetMs }: Pick<StreamPart, 'stream' | 'offsetMs'>): HeardStream {
  return {
    offsetMs,
    durationMs: stream.durationMs,
    playback: stream.playback.log,
    framesSent: stream.framesSent,
    framesReceived: stream.framesReceived,
    violations: stream.violations,
    end: stream.end ?? null,
  };
}
