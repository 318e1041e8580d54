// The recording of one call on this machine: when it begins, pauses and ends. Who keeps it is somebody else's business.
import { RequestError } from '../../base/errors.js';
import type { LineTape } from '../../audio/line-tape.js';
import type { LocalRecording, RecordingPauser } from '../../contract/call-record.js';
import type { SessionContext } from '../session-context.js';
import type { BegunCall, CallRecordings, LiveCallRecording } from './call-recordings.js';

/** Carriers tell of a key while its tone sounds, or behind it. */
const BEFORE_KEY_MS = 1000;
/** No further key belongs to the secret then. */
const AFTER_KEY_MS = 3000;

export class CallRecording {
  readonly #context: SessionContext;
  /** Of the process before. */
  readonly #before: LocalRecording | null;
  #keeper: CallRecordings | undefined;
  #live: LiveCallRecording | undefined;
  /** Who has paused it, also before it began. */
  readonly #pausers: Set<RecordingPauser>;
  readonly #changed: () => void;
  /** When the conversation began, on the clock. */
  #beganAt = 0;

  /** `left`: by the process before, whose record may be older than the field. `changed`: hears of what another process needs, and no fact may tell. */
  constructor(
    context: SessionContext,
    left: { before?: LocalRecording | null; pausedBy?: readonly RecordingPauser[] | undefined } = {},
    changed: () => void = () => {},
  ) {
    this.#context = context;
    this.#before = left.before ?? null;
    this.#pausers = new Set(left.pausedBy);
    this.#changed = changed;
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
    for (const by of this.#pausers) this.#live?.pause(by, this.#nowMs);
    // Who was to end it was the process before.
    if (this.#live?.isPausedBy('keys') === true) this.#resumeAfterKeys();
  }

  /** Records nothing until `resume` by the same. What is paused before the conversation begins begins paused. @throws RequestError where no call is recorded */
  pause(by: RecordingPauser): void {
    this.#demand();
    this.#pause(by, this.#nowMs);
  }

  /** Goes on, unless somebody else has paused it, too. @throws RequestError where no call is recorded */
  resume(by: RecordingPauser): void {
    this.#demand();
    this.#resume(by);
  }

  /** The caller has pressed a key, which may be one of a secret: its tone began before it was told. */
  keyPressed(): void {
    if (this.#live === undefined || this.#keeper?.pausesForKeys !== true) return;
    this.#pause('keys', Math.max(0, this.#nowMs - BEFORE_KEY_MS));
    this.#resumeAfterKeys();
  }

  /** The call is over. Idempotent. */
  end(): void {
    const [live, before] = [this.#live, this.#before];
    this.#live = undefined;
    if (live !== undefined) this.#keeper?.end(live, this.#nowMs);
    else if (this.#keeper === undefined && before !== null)
      this.#context.environment.localRecordings?.()?.endLeft(this.#call(before.startedAt));
  }

  /** Another process has the call. Idempotent. */
  letGo(): void {
    const live = this.#live;
    this.#live = undefined;
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
    this.#changed();
  }

  #resume(by: RecordingPauser): void {
    this.#pausers.delete(by);
    this.#live?.resume(by, this.#nowMs);
    this.#changed();
  }

  #demand(): void {
    if (this.#context.environment.localRecordings?.() !== undefined) return;
    throw new RequestError('REQUEST_CONFLICT', 'Calls are not recorded here: set localRecording.');
  }

  get #nowMs(): number {
    return this.#context.ledger.clock.now() - this.#beganAt;
  }
}
