// Whoever listens in to one call: what the line carries, mixed and given out a moment later. Without a listener nothing is done, and what
// fails here ends the listening, never the call.
import { LiveMix } from '../../audio/live-mix.js';
import type { AudioFormat } from '../../audio/format.js';
import { PCM_16K } from '../../audio/format.js';
import type { LineTap, LineTape } from '../../audio/line-tape.js';
import { wavHeader } from '../../audio/wav-header.js';
import type { Timer } from '../../base/clock.js';
import { RequestError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import type { LiveListening, SoundEnd, SoundSink } from '../../contract/live-sound.js';
import { BEFORE_KEY_MS } from '../keys/secret-keys.js';
import type { SessionContext } from '../session-context.js';

/** Audio that comes in bunches, or late, finds its place within this time. */
const PATIENCE_MS = 300;
/** Audio that comes late is heard before it came, and so is a tone in it: the later it may be, the earlier a pause has to begin. */
const SECRET_PATIENCE_MS = 200;
const WRITE_EVERY_MS = 40;

/** As much as the header can name without an end: 18 hours. Source: RIFF, whose sizes are of 32 bits. */
const OPEN_END_BYTES = 0xffff_ffd8;
const HEADER = wavHeader({ sampleRateHz: PCM_16K.sampleRateHz, channels: 2 }, OPEN_END_BYTES);

interface Listener {
  readonly sink: SoundSink;
  /** It has the header. */
  hasBegun: boolean;
}

export class CallListening implements LineTap {
  readonly #context: SessionContext;
  readonly #listeners = new Set<Listener>();
  /** When the conversation began, on the clock; undefined before that. */
  #beganAt: number | undefined;
  #line: { readonly inbound: AudioFormat; readonly outbound: AudioFormat } | undefined;
  #isPaused = false;
  #isOver = false;
  #mix: LiveMix | undefined;
  #timer: Timer | undefined;
  /** Takes what the line carries; undefined while nobody listens. */
  tape: LineTape | undefined;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** True where calls can be listened in to. */
  get isOffered(): boolean {
    return this.#context.environment.listenIn !== undefined;
  }

  /** Keys that the caller presses are a secret. */
  get pausesForKeys(): boolean {
    return this.#context.environment.listenIn?.pausesForKeys === true;
  }

  /** @throws RequestError, TranscoderError */
  listen(sink: SoundSink): LiveListening {
    if (!this.isOffered)
      throw new RequestError('REQUEST_CONFLICT', 'Nobody can listen in to calls here: set listenIn.');
    if (this.#beganAt === undefined || this.#isOver)
      throw new RequestError(
        'REQUEST_CONFLICT',
        'The call has no sound: caller and agent are not connected.',
      );
    if (this.#mix === undefined) this.#open();
    const listener = { sink, hasBegun: false };
    this.#listeners.add(listener);
    return { delayMs: this.#delayMs, leave: () => this.#leave(listener) };
  }

  /** The conversation began at `beganAt` on the clock, here or in another process. */
  begin(beganAt: number): void {
    this.#beganAt = beganAt;
  }

  line(inbound: AudioFormat, outbound: AudioFormat, atMs: number): void {
    this.#line = { inbound, outbound };
    this.tape?.line(inbound, outbound, atMs);
  }

  /** Nobody hears anything from `atMs` on, which may be as long ago as a key is told late. */
  pause(atMs: number): void {
    this.#isPaused = true;
    const earlierMs = this.pausesForKeys ? SECRET_PATIENCE_MS : 0;
    this.#try(() => this.#mix?.pause(Math.max(0, atMs - earlierMs)));
  }

  resume(atMs: number): void {
    this.#isPaused = false;
    this.#try(() => this.#mix?.resume(atMs));
  }

  /** Nothing more is heard. Idempotent. */
  end(reason: SoundEnd): void {
    this.#isOver = true;
    this.#close(reason);
  }

  #open(): void {
    const { backend } = this.#context.environment;
    const nowMs = this.#nowMs;
    const mix = new LiveMix({ backend, delayMs: this.#delayMs, patienceMs: this.#patienceMs, nowMs });
    if (this.#line !== undefined) mix.line(this.#line.inbound, this.#line.outbound);
    if (this.#isPaused) mix.pause(nowMs);
    this.#mix = mix;
    this.tape = {
      line: (inbound, outbound) => this.#try(() => mix.line(inbound, outbound)),
      caller: (bytes, atMs) => this.#try(() => mix.caller(bytes, atMs)),
      agent: (bytes, atMs) => this.#try(() => mix.agent(bytes, atMs)),
      cut: (atMs) => this.#try(() => mix.cut(atMs)),
      lag: (atMs, lagMs) => this.#try(() => mix.lag(atMs, lagMs)),
    };
    this.#writeLater();
  }

  #writeLater(): void {
    this.#timer = this.#context.ledger.clock.after(WRITE_EVERY_MS, () => {
      this.#try(() => this.#write());
      if (this.#mix !== undefined) this.#writeLater();
    });
  }

  #write(): void {
    const bytes = this.#mix?.take(this.#nowMs) ?? new Uint8Array(0);
    for (const listener of [...this.#listeners]) {
      if (!listener.hasBegun) listener.sink.write(HEADER);
      listener.hasBegun = true;
      if (bytes.length > 0 && this.#listeners.has(listener)) listener.sink.write(bytes);
    }
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#close('call-ended');
  }

  /** What is held back is given out no more: whether it was a secret is not known yet. */
  #close(reason: SoundEnd): void {
    const mix = this.#mix;
    this.#timer?.cancel();
    this.#mix = undefined;
    this.tape = undefined;
    mix?.close();
    const left = [...this.#listeners];
    this.#listeners.clear();
    for (const { sink } of left) sink.end(reason);
  }

  #try(task: () => void): void {
    try {
      task();
    } catch (error) {
      const { callId, environment } = this.#context;
      environment.logger.error({ callId, ...describeError(error) }, 'listening in failed');
      this.#close('failed');
    }
  }

  get #patienceMs(): number {
    return this.pausesForKeys ? SECRET_PATIENCE_MS : PATIENCE_MS;
  }

  /** A tone that turns out to be a secret has been given out to nobody then. */
  get #delayMs(): number {
    return this.pausesForKeys ? BEFORE_KEY_MS + SECRET_PATIENCE_MS : PATIENCE_MS;
  }

  get #nowMs(): number {
    return this.#context.ledger.clock.now() - (this.#beganAt ?? 0);
  }
}
