// The recording of one call while it is up: its tape, and what its record says of it.
import type { LocalRecording, LocalRecordingTrouble, RecordingPauser } from '../contract/call-record.js';
import { MAX_RECORDING_PAUSES } from '../contract/call-record.js';
import type { Tape } from './tape.js';

export interface LiveRecordingOptions {
  readonly callId: string;
  /** Epoch milliseconds at which the conversation began, and its time is 0. */
  readonly beganAt: number;
  /** What another process has recorded of it. */
  readonly before: LocalRecording | null;
  /** As in `LocalRecording`. @default there is no cluster */
  readonly server?: string | undefined;
  /** The record is to say this. */
  tell(recording: LocalRecording): void;
}

/** Keys are over by themselves, a tool ends with its call of it, and an application knows what it wants. */
const LASTING: readonly RecordingPauser[] = ['application', 'tool', 'keys'];

/** Times are milliseconds since the conversation began. */
export class LiveRecording {
  readonly callId: string;
  readonly #options: LiveRecordingOptions;
  readonly #pausers = new Set<RecordingPauser>();
  /** As the record says it. */
  #pauser: RecordingPauser | undefined;
  #record: LocalRecording;
  #tape: Tape | undefined;
  #hasBegun = false;
  #isOver = false;
  #isDiscarded = false;

  constructor(options: LiveRecordingOptions) {
    const { callId, beganAt, before, server } = options;
    this.callId = callId;
    this.#options = options;
    const at = server === undefined ? {} : { server };
    this.#record = before ?? {
      status: 'recording',
      file: null,
      startedAt: beganAt,
      durationMs: null,
      bytes: null,
      pauses: [],
      trouble: null,
      ...at,
    };
    if (!isOf(server, this.#record))
      this.#record = { ...this.#record, ...at, status: 'recording', trouble: 'moved' };
    const last = this.#record.pauses.at(-1);
    if (last?.endedAt !== null) return;
    this.#pauser = last.by;
    this.#pausers.add(last.by);
  }

  /** Takes what the line carries; undefined where nothing is recorded any more. One that was given up takes nothing. */
  get tape(): Tape | undefined {
    return this.#tape;
  }

  get record(): LocalRecording {
    return this.#record;
  }

  /** Nothing more is recorded, not even by another process. */
  get hasGivenUp(): boolean {
    const { trouble } = this.#record;
    return trouble !== null && trouble !== 'moved';
  }

  /** It is not to be kept. */
  get isDiscarded(): boolean {
    return this.#isDiscarded;
  }

  /** Nothing was recorded of the call before. */
  get isFromStart(): boolean {
    return this.#hasBegun && this.#options.before === null;
  }

  get isPaused(): boolean {
    return this.#pausers.size > 0;
  }

  isPausedBy(by: RecordingPauser): boolean {
    return this.#pausers.has(by);
  }

  /** `nowMs`: of the conversation. */
  begin(tape: Tape, nowMs: number): void {
    this.#tape = tape;
    this.#hasBegun = true;
    if (this.isPaused) tape.pause(nowMs);
    this.#tell({});
  }

  /** Nothing is recorded from `atMs` on, which may be a moment ago. Does nothing where it was paused by `by` already. */
  pause(by: RecordingPauser, atMs: number): void {
    if (this.#isOver) return;
    this.#pausers.add(by);
    this.#follow(atMs);
  }

  /** Goes on, unless somebody else has paused it, too. */
  resume(by: RecordingPauser, atMs: number): void {
    if (this.#isOver) return;
    this.#pausers.delete(by);
    this.#follow(atMs);
  }

  /** Nothing is written any more, and the record says why. What is on the tape stays. */
  gaveUp(trouble: LocalRecordingTrouble): void {
    this.#tape = undefined;
    if (!this.#isOver) this.#tell({ trouble });
    else this.#record = { ...this.#record, trouble };
  }

  discard(): void {
    this.#isDiscarded = true;
  }

  /** The call is over, or another process has it. */
  end(): void {
    this.#isOver = true;
  }

  /** What became of it. */
  settled(outcome: Partial<LocalRecording>): void {
    this.#tell(outcome);
  }

  /** A pause has the name of one of several pausers: the one whose pause ends last. */
  #follow(atMs: number): void {
    const by = LASTING.find((each) => this.#pausers.has(each));
    if (by === this.#pauser) return;
    if (by === undefined) this.#tape?.resume(atMs);
    else if (this.#pauser === undefined) this.#tape?.pause(atMs);
    this.#pauser = by;
    const { pauses } = this.#record;
    const last = pauses.at(-1);
    const at = Math.max(this.#toEpoch(atMs), last?.endedAt ?? last?.startedAt ?? 0);
    const ended = last?.endedAt === null ? pauses.with(-1, { ...last, endedAt: at }) : pauses;
    const isNamed = by !== undefined && ended.length < MAX_RECORDING_PAUSES;
    const next = isNamed ? [...ended, { startedAt: at, endedAt: null, by }] : ended;
    if (next !== pauses) this.#tell({ pauses: next });
  }

  #tell(change: Partial<LocalRecording>): void {
    this.#record = { ...this.#record, ...change };
    this.#options.tell(this.#record);
  }

  #toEpoch(atMs: number): number {
    return Math.round(this.#options.beganAt + atMs);
  }
}

/** Whether what the record says is of this server, or of its process before. One from before the cluster is. */
export function isOf(server: string | undefined, recording: Pick<LocalRecording, 'server'>): boolean {
  return recording.server === undefined || recording.server === server;
}
