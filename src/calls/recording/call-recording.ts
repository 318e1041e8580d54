// The recording of one call on this machine: when it begins, pauses and ends, and with it what is heard by who listens in. Who keeps it is
// somebody else's business.
import { RequestError } from '../../base/errors.js';
import type { LineTape } from '../../audio/line-tape.js';
import type { LocalRecording, RecordingPauser } from '../../contract/call-record.js';
import { AFTER_KEY_MS, BEFORE_KEY_MS } from '../keys/secret-keys.js';
import type { CallListening } from '../listening/call-listening.js';
import type { SessionContext } from '../session-context.js';
import type { BegunCall, CallRecordings, LiveCallRecording } from './call-recordings.js';

export interface CallRecordingOptions {
  /** Pauses with the recording, also where there is none. */
  readonly listening: CallListening;
  /** What the process before has recorded, whose record may be older than the field. */
  readonly before?: LocalRecording | null | undefined;
  /** Who has paused it there. @default who has by its record */
  readonly pausedBy?: readonly RecordingPauser[] | undefined;
  /** Hears of what another process needs, and no fact may tell. */
  changed(): void;
}

export class CallRecording {
  readonly #context: SessionContext;
  readonly #listening: CallListening;
  /** Of the process before. */
  readonly #before: LocalRecording | null;
  #keeper: CallRecordings | undefined;
  #live: LiveCallRecording | undefined;
  /** Who has paused it, also before it began. */
  readonly #pausers: Set<RecordingPauser>;
  readonly #changed: () => void;
  /** When the conversation began, on the clock. */
  #beganAt = 0;

  constructor(context: SessionContext, options: CallRecordingOptions) {
    this.#context = context;
    this.#listening = options.listening;
    this.#before = options.before ?? null;
    this.#pausers = new Set(options.pausedBy ?? pausedIn(this.#before));
    this.#changed = () => options.changed();
  }

  /** For another process that takes the call up. */
  get pausedBy(): readonly RecordingPauser[] {
    return [...this.#pausers];
  }

  get tape(): LineTape | undefined {
    return this.#live?.tape;
  }

  /** What tools may do with it. */
  readonly forTools = {
    pauseRecording: (): void => this.pause('tool'),
    resumeRecording: (): void => this.resume('tool'),
  };

  /** The conversation began at `beganAt` on the clock, here or in another process. */
  begin(beganAt: number): void {
    this.#beganAt = beganAt;
    this.#keeper = this.#context.environment.localRecordings?.();
    const { clock } = this.#context.ledger;
    this.#live = this.#keeper?.begin(this.#call(clock.wallNow() - this.#nowMs), this.#nowMs);
    this.#listening.begin(beganAt);
    for (const by of this.#pausers) this.#live?.pause(by, this.#nowMs);
    if (this.#pausers.size > 0) this.#listening.pause(this.#nowMs);
    // Who was to end it was the process before.
    if (this.#pausers.has('keys') || this.#live?.isPausedBy('keys') === true) this.#resumeAfterKeys();
  }

  /** Nothing is recorded, or heard by who listens in, until `resume` by the same. What is paused before the conversation begins begins paused. @throws RequestError where neither can be */
  pause(by: RecordingPauser): void {
    this.#demand();
    this.#pause(by, this.#nowMs);
  }

  /** Goes on, unless somebody else has paused it, too. @throws as `pause` */
  resume(by: RecordingPauser): void {
    this.#demand();
    this.#resume(by);
  }

  /** The caller has pressed a key, which may be one of a secret: its tone began before it was told. */
  keyPressed(): void {
    const isRecorded = this.#live !== undefined && this.#keeper?.pausesForKeys === true;
    if (!isRecorded && !this.#listening.pausesForKeys) return;
    this.#pause('keys', Math.max(0, this.#nowMs - BEFORE_KEY_MS));
    this.#resumeAfterKeys();
  }

  /** The call is over. Idempotent. */
  end(): void {
    const [live, before] = [this.#live, this.#before];
    this.#live = undefined;
    this.#listening.end('call-ended');
    if (live !== undefined) this.#keeper?.end(live, this.#nowMs);
    else if (this.#keeper === undefined && before !== null)
      this.#context.environment.localRecordings?.()?.endLeft(this.#call(before.startedAt));
  }

  /** Another process has the call. Idempotent. */
  letGo(): void {
    const live = this.#live;
    this.#live = undefined;
    this.#listening.end('moved');
    if (live !== undefined) this.#keeper?.leave(live, this.#nowMs);
  }

  #call(beganAt: number): BegunCall {
    const { callId, ledger } = this.#context;
    const tell = (recording: LocalRecording) => ledger.recordedLocally(recording);
    return { callId, beganAt: Math.round(beganAt), before: this.#before, tell };
  }

  #resumeAfterKeys(): void {
    this.#context.timers.set('keys', AFTER_KEY_MS, () => this.#resume('keys'));
  }

  #pause(by: RecordingPauser, atMs: number): void {
    this.#pausers.add(by);
    this.#live?.pause(by, atMs);
    this.#listening.pause(atMs);
    this.#changed();
  }

  #resume(by: RecordingPauser): void {
    this.#pausers.delete(by);
    this.#live?.resume(by, this.#nowMs);
    if (this.#pausers.size === 0) this.#listening.resume(this.#nowMs);
    this.#changed();
  }

  #demand(): void {
    if (this.#listening.isOffered || this.#context.environment.localRecordings?.() !== undefined) return;
    throw new RequestError(
      'REQUEST_CONFLICT',
      'Calls are neither recorded nor listened in to here: set localRecording or listenIn.',
    );
  }

  get #nowMs(): number {
    return this.#context.ledger.clock.now() - this.#beganAt;
  }
}

/** Where the process before has left nothing but the record: a pause in it has one name, whoever else has paused. */
function pausedIn(recording: LocalRecording | null): RecordingPauser[] {
  const last = recording?.pauses.at(-1);
  return last?.endedAt === null ? [last.by] : [];
}
