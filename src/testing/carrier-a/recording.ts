// One recording of a call: its state, its callbacks and its audio.
import { pause } from '../../base/pause.js';
import type { PhoneLine } from '../phone-line.js';
import { writeWav } from '../wav.js';
import { createId } from './ids.js';
import type { EventCallback } from './markup-verbs.js';
import { formatDate, type Parameters } from './parameters.js';
import type { Switchboard } from './switchboard.js';

/** How long after its end a recording is there. */
const READY_MS = 200;
/** A shorter one is no recording. */
const MIN_DURATION_MS = 500;
const CODE_TOO_SHORT = '16101';
const RATE_HZ = 8000;

export interface RecordingSettings {
  readonly channels: 1 | 2;
  readonly track: 'inbound' | 'outbound' | 'both';
  readonly source: 'OutboundAPI' | 'StartCallRecordingAPI';
  readonly callback: EventCallback | undefined;
}

export type RecordingStatus = 'in-progress' | 'paused' | 'stopped' | 'processing' | 'completed' | 'absent';

export interface RecordedCall {
  readonly callSid: string;
  readonly line: PhoneLine;
  /** Told when a callback goes out; the call is the queue. */
  readonly queue: object;
}

export class CallRecording {
  readonly sid = createId('RE');
  readonly callSid: string;
  readonly settings: RecordingSettings;
  readonly startedAt: number;
  status: RecordingStatus = 'in-progress';
  isDeleted = false;
  readonly #call: RecordedCall;
  readonly #switchboard: Switchboard;
  readonly #startMs: number;
  #endMs: number | undefined;

  constructor(call: RecordedCall, settings: RecordingSettings, switchboard: Switchboard) {
    this.#call = call;
    this.callSid = call.callSid;
    this.settings = settings;
    this.#switchboard = switchboard;
    this.startedAt = switchboard.wallNow();
    this.#startMs = call.line.nowMs;
    call.line.keepAudio();
    switchboard.webhooks.watch(this.#report('in-progress'));
  }

  get durationMs(): number {
    return (this.#endMs ?? this.#call.line.nowMs) - this.#startMs;
  }

  get isRunning(): boolean {
    return this.status === 'in-progress' || this.status === 'paused';
  }

  /** Without a suffix for the format, as the carrier names it. */
  get url(): string {
    const { apiUrl, accountSid } = this.#switchboard;
    return `${apiUrl}/2010-04-01/Accounts/${accountSid}/Recordings/${this.sid}`;
  }

  /** Ends it; the report of what became of it follows. Idempotent. */
  stop(): void {
    if (!this.isRunning) return;
    this.#endMs = this.#call.line.nowMs;
    this.status = 'processing';
    this.#switchboard.webhooks.watch(this.#finish());
  }

  /** The audio as a WAV file: mixed, or the agent's side and the other one on two channels. */
  toWav(): Uint8Array {
    const { person, agent } = this.#call.line.render(this.#startMs);
    const length = Math.round((this.durationMs * RATE_HZ) / 1000);
    const [left, right] = [person.subarray(0, length), agent.subarray(0, length)];
    const mixed = left.map((sample, index) =>
      Math.max(-32_768, Math.min(32_767, sample + (right[index] ?? 0))),
    );
    return writeWav({
      sampleRateHz: RATE_HZ,
      channels: this.settings.channels === 2 ? [left, right] : [mixed],
    });
  }

  async #finish(): Promise<void> {
    const { clock } = this.#switchboard;
    await pause(clock, READY_MS);
    this.status = this.durationMs < MIN_DURATION_MS ? 'absent' : 'completed';
    await this.#report(this.status);
  }

  async #report(status: 'in-progress' | 'completed' | 'absent'): Promise<void> {
    const { callback, channels, source, track } = this.settings;
    if (callback === undefined || !callback.events.includes(status)) return;
    const { accountSid, webhooks } = this.#switchboard;
    const parameters: Parameters = [
      ['AccountSid', accountSid],
      ['CallSid', this.callSid],
      ['RecordingSid', this.sid],
      ...(status === 'absent'
        ? [['ErrorCode', CODE_TOO_SHORT] as const]
        : [['RecordingUrl', this.url] as const]),
      ['RecordingStatus', status],
      ...(status === 'completed' ? [['RecordingDuration', this.durationSeconds] as const] : []),
      ['RecordingChannels', String(channels)],
      ['RecordingStartTime', formatDate(this.startedAt)],
      ['RecordingSource', source],
      ['RecordingTrack', track],
    ];
    await webhooks.report(this.#call.queue, { ...callback, parameters });
  }

  /** Whole seconds, as resources and callbacks write them. */
  get durationSeconds(): string {
    return String(Math.round(this.durationMs / 1000));
  }
}
