// A short phrase while the caller waits for an answer that is slow to come. Synthesized beforehand, no part of what the model is told.
import { FRAME_MS, PCM_16K } from '../../../audio/format.js';
import type { Playout } from '../../../audio/playout.js';
import type { Clock, Timer } from '../../../base/clock.js';
import { describeError, type Logger } from '../../../base/log.js';
import type { TranscriptEntry } from '../../../contract/call-record.js';
import type { TextToSpeechSession } from '../../../providers/text-to-speech.js';
import { LIMITS } from '../../../conversation/limits.js';
import type { CallerWait } from '../caller-wait.js';
import { guardedStream } from '../../guarded-stream.js';
import type { Guardrails } from './guardrails.js';
import { heardPart } from '../../heard-text.js';
import { toSpeakable } from '../../../base/speakable.js';
import { SpokenTiming } from '../../spoken-timing.js';

export interface FillersOptions {
  /** They change with the language of the call. */
  readonly phrases: () => readonly string[];
  readonly guardrails: Guardrails | undefined;
  readonly voice: () => TextToSpeechSession | undefined;
  readonly playout: Playout;
  readonly wait: CallerWait;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Tells the transcript entry of a filler. Its id begins with `filler-`. */
  readonly tell: (entry: TranscriptEntry) => void;
  /** A filler is heard, or has been. */
  readonly sounds: () => void;
}

/** A turn whose answer is waited for. */
export interface AwaitedAnswer {
  readonly turnIndex: number;
  readonly delayMs: number;
  /** Asked when the time has come: false when the answer sounds, or will never. */
  readonly isAwaited: () => boolean;
  /** The first frame of the filler was sent. */
  readonly sent?: (at: number) => void;
}

interface Phrase {
  readonly pcm: Int16Array;
  readonly timing: SpokenTiming;
}

interface Playing {
  readonly entry: TranscriptEntry;
  readonly timing: SpokenTiming;
  readonly startMs: number;
  readonly endMs: number;
}

const SAMPLES_PER_MS = PCM_16K.sampleRateHz / 1000;

/** A filler is a few words. What is longer is no filler. */
const MAX_SAMPLES = 16_000 * 5;

/** Phrases that are kept synthesized: what guardrails make of one may be another text each time. */
const MAX_KEPT = 16;

/** The fillers of one call: one in a turn at most, one phrase after the other. */
export class Fillers {
  readonly #options: FillersOptions;
  readonly #abort = new AbortController();
  /** Spoken by `#voice`. */
  #audio = new Map<string, Phrase>();
  #voice: TextToSpeechSession | undefined;
  #loading: Promise<void> | undefined;
  #next = 0;
  #lastTurn = -1;
  #playing: Playing | undefined;
  #timer: Timer | undefined;
  #awaited: AwaitedAnswer | undefined;

  constructor(options: FillersOptions) {
    this.#options = options;
  }

  /** Synthesizes the next phrase, unless it is there. A voice that fails here only costs the filler. */
  prepare(): void {
    const phrase = this.#phrase;
    this.#follow();
    if (phrase === undefined || this.#loading !== undefined) return;
    const loading: Promise<void> = this.#load(phrase).finally(() => {
      // Another voice may have begun meanwhile.
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
  }

  /** Says a phrase after a while, if the answer is then still awaited. */
  arm(answer: AwaitedAnswer): void {
    this.disarm();
    if (this.#phrase === undefined || answer.turnIndex === this.#lastTurn) return;
    this.#awaited = answer;
    this.#timer = this.#options.clock.after(answer.delayMs, () => void this.#sayAllowed(answer));
  }

  disarm(): void {
    this.#awaited = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** The text of the filler that the caller is hearing. */
  get sounding(): string | undefined {
    const { playout } = this.#options;
    return this.#playing !== undefined && playout.playedMs < this.#playing.endMs
      ? this.#playing.entry.text
      : undefined;
  }

  /** The playout was cut off at `playedMs`: the transcript keeps what was heard. */
  cut(playedMs: number): void {
    this.disarm();
    const playing = this.#playing;
    this.#playing = undefined;
    if (playing === undefined || playedMs >= playing.endMs) return;
    const { entry, timing, startMs, endMs } = playing;
    const audio = { producedMs: endMs - startMs, complete: true, timing };
    const text = heardPart(entry.text, playedMs - startMs, audio);
    this.#options.tell({ ...entry, text, ...(text === '' ? {} : { interrupted: true }) });
  }

  close(): void {
    this.disarm();
    this.#abort.abort();
  }

  get #phrase(): string | undefined {
    const phrases = this.#options
      .phrases()
      .map(toSpeakable)
      .filter((phrase) => phrase !== '');
    return phrases[this.#next % phrases.length];
  }

  /** Guardrails see the phrase now, and may have another one said. */
  async #sayAllowed(answer: AwaitedAnswer): Promise<void> {
    const { guardrails } = this.#options;
    const phrase = this.#phrase;
    if (phrase === undefined || !answer.isAwaited()) return;
    // Nobody has spoken before it, where another voice mode has left the wait, or a key has begun it.
    this.prepare();
    if (!this.#audio.has(phrase)) await this.#loading;
    const text = await (guardrails?.checkText(phrase, this.#abort.signal) ?? phrase);
    if (text !== phrase && text !== '') await this.#load(text);
    if (this.#awaited === answer && answer.isAwaited()) this.#say(text, answer);
  }

  #say(text: string, { turnIndex, sent }: AwaitedAnswer): void {
    const { playout, wait, clock, tell } = this.#options;
    const audio = this.#audio.get(text);
    if (audio === undefined) return;
    const startMs = playout.pushedMs;
    const endMs = startMs + audio.pcm.length / SAMPLES_PER_MS;
    const entry: TranscriptEntry = {
      id: `filler-${turnIndex}`,
      turnIndex,
      role: 'agent',
      text,
      at: clock.wallNow(),
      final: true,
    };
    this.#playing = { entry, timing: audio.timing, startMs, endMs };
    playout.onNextFrameSent((at) => {
      sent?.(at);
      this.#look();
    });
    playout.push(audio.pcm);
    wait.sounds(clock.now() + (playout.pushedMs - playout.playedMs));
    this.#lastTurn = turnIndex;
    this.#next += 1;
    tell(entry);
    this.prepare();
  }

  /** Until it is over: who pauses the playout lengthens it. */
  #look(): void {
    const { playout, clock, sounds } = this.#options;
    sounds();
    const leftMs = (this.#playing?.endMs ?? 0) - playout.playedMs;
    if (leftMs > 0) this.#timer = clock.after(Math.max(FRAME_MS, leftMs), () => this.#look());
  }

  /** Another voice says nothing that this one has synthesized. */
  #follow(): void {
    const voice = this.#options.voice();
    if (voice === this.#voice) return;
    this.#voice = voice;
    this.#audio = new Map();
    this.#loading = undefined;
  }

  async #load(text: string): Promise<void> {
    const voice = this.#options.voice();
    if (voice === undefined || this.#audio.has(text)) return;
    try {
      await this.#synthesize(voice, text);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#options.logger.warn(describeError(error), 'a filler could not be synthesized');
    }
  }

  async #synthesize(voice: TextToSpeechSession, phrase: string): Promise<void> {
    const { signal } = this.#abort;
    const kept = this.#audio;
    const timing = new SpokenTiming(phrase);
    const chunks: Int16Array[] = [];
    let length = 0;
    const stream = guardedStream(voice.synthesize(phrase, signal, timing), {
      clock: this.#options.clock,
      signal,
      source: 'text-to-speech',
      firstMs: LIMITS.filler.voiceMs,
      nextMs: LIMITS.filler.voiceMs,
    });
    for await (const chunk of stream) {
      if (!(chunk instanceof Int16Array) || length + chunk.length > MAX_SAMPLES) return;
      chunks.push(chunk);
      length += chunk.length;
    }
    if (signal.aborted || length === 0 || timing.isBrokenOff) return;
    const pcm = new Int16Array(length);
    let at = 0;
    for (const chunk of chunks) {
      pcm.set(chunk, at);
      at += chunk.length;
    }
    kept.set(phrase, { pcm, timing });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  }
}
