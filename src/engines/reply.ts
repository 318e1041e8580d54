// One answer of the agent: text as the language stage streams it, cut into sentences, spoken. It can be stopped at any moment.
import type { Playout } from '../audio/playout.js';
import type { Clock, Timer } from '../base/clock.js';
import type { LanguageModelEvent, TokenUsage } from '../providers/language-model.js';
import type { TextToSpeechSession } from '../providers/text-to-speech.js';
import { guardedStream } from './guarded-stream.js';
import { SentenceSplitter } from './sentence-splitter.js';
import { type CutSplit, Speaker, type SpokenSplit } from './speaker.js';
import type { TurnLatencyMeter } from './turn-latency.js';

export interface ReplyOutcome extends SpokenSplit {
  /** The language stage wants the call to end now. */
  readonly endCall: boolean;
}

export interface ReplyEvents {
  /** What has been heard or is being spoken now. */
  spoken(text: string): void;
  /** All of it was heard. */
  finished(outcome: ReplyOutcome): void;
  /** A stage failed. After `llm` what was said goes on and `conclude` must follow; after `tts` nothing more is spoken. */
  failed(stage: 'llm' | 'tts', error: unknown): void;
  /** What the language stage has used. Comes after `stop`, too. */
  usage?(usage: TokenUsage): void;
}

export interface ReplyOptions {
  readonly id: string;
  readonly source: (signal: AbortSignal) => AsyncIterable<LanguageModelEvent>;
  readonly timeouts: { readonly firstMs: number; readonly nextMs: number };
  readonly voice: TextToSpeechSession;
  readonly playout: Playout;
  readonly clock: Clock;
  readonly latency: TurnLatencyMeter;
  readonly events: ReplyEvents;
}

/** A model that does not stop talking is stopped: about ten minutes of speech. */
const MAX_CHARS = 8000;

/** When no sentence has ended by then, the first piece that is spoken is a shorter one. */
const HURRY_MS = 250;

/** One per generation. After `stop` none of its events and none of its audio comes any more: what is late is late for a dead object. */
export class Reply {
  readonly #options: ReplyOptions;
  readonly #abort = new AbortController();
  readonly #splitter = new SentenceSplitter();
  readonly #speaker: Speaker;
  #hurry: Timer | undefined;
  #endCall = false;
  #stopped = false;

  constructor(options: ReplyOptions) {
    this.#options = options;
    const { id, voice, playout, clock, latency, events } = options;
    this.#speaker = new Speaker({
      id,
      voice,
      playout,
      clock,
      events: {
        firstAudio: (at) => latency.reached('firstAudio', at),
        firstFrameSent: (at) => latency.reached('firstFrameSent', at),
        firstFrameHeard: (at) => latency.heard(at),
        spoken: (text) => events.spoken(text),
        finished: () => this.#finish(),
        failed: (error) => this.#fail('tts', error),
      },
    });
  }

  /** True once the caller can have heard something. */
  get audible(): boolean {
    return this.#speaker.audible;
  }

  /** When the caller could hear the first of it; undefined before that. */
  get audibleAt(): number | undefined {
    return this.#speaker.audibleAt;
  }

  /** True when the last of its audio is with the playout. */
  get isGivenOut(): boolean {
    return this.#speaker.isGivenOut;
  }

  /** The words that were said between two positions of the playout. */
  saidBetween(fromMs: number, toMs: number): string {
    return this.#speaker.saidBetween(fromMs, toMs);
  }

  start(): void {
    void this.#generate();
  }

  markPlayed(name: string): void {
    this.#speaker.markPlayed(name);
  }

  /** Says `text` as the last sentence, in the place of whatever the language stage has not yet given. */
  conclude(text: string): void {
    if (this.#stopped) return;
    this.#hurry?.cancel();
    this.#abort.abort();
    this.#speaker.say(text);
    this.#speaker.complete();
  }

  /** Stops generating and speaking in this tick and says what was heard up to `playedMs`. Idempotent. */
  stop(playedMs: number): CutSplit {
    this.#stopped = true;
    this.#hurry?.cancel();
    this.#abort.abort();
    const split = this.#speaker.stop(playedMs);
    const unspoken = this.#splitter.flush().join(' ');
    return {
      heard: split.heard,
      unheard: `${split.unheard} ${unspoken}`.trim(),
      rest: `${split.rest} ${unspoken}`.trim(),
    };
  }

  async #generate(): Promise<void> {
    const { source, timeouts, clock, latency } = this.#options;
    const { signal } = this.#abort;
    const late = (event: LanguageModelEvent) => this.#count(event);
    let length = 0;
    try {
      const guard = { clock, signal, source: 'language model', ...timeouts, late };
      for await (const event of guardedStream(source(signal), guard)) {
        this.#count(event);
        if (signal.aborted) return;
        if (event.type === 'end-call') this.#endCall = true;
        if (event.type !== 'text' || event.delta === '') continue;
        latency.reached('firstToken', clock.now());
        this.#hurry ??= clock.after(HURRY_MS, () => this.#say(this.#splitter.hurry()));
        const delta = event.delta.slice(0, MAX_CHARS - length);
        this.#say(this.#splitter.push(delta));
        length += delta.length;
        if (length >= MAX_CHARS) break;
      }
      if (signal.aborted) return;
      this.#abort.abort();
      this.#say(this.#splitter.flush());
      this.#speaker.complete();
    } catch (error) {
      if (!signal.aborted) this.#fail('llm', error);
    } finally {
      this.#hurry?.cancel();
    }
  }

  /** Events that a model sends are not ours: one of no known type is none. */
  #count(event: LanguageModelEvent): void {
    if (event?.type === 'usage') this.#options.events.usage?.(event.usage);
  }

  #say(sentences: readonly string[]): void {
    for (const sentence of sentences) {
      this.#options.latency.reached('firstSentence', this.#options.clock.now());
      this.#speaker.say(sentence);
    }
  }

  #finish(): void {
    if (this.#stopped) return;
    const { playout, events } = this.#options;
    events.finished({ ...this.stop(playout.playedMs), endCall: this.#endCall });
  }

  #fail(stage: 'llm' | 'tts', error: unknown): void {
    if (!this.#stopped) this.#options.events.failed(stage, error);
  }
}

/** A language stage that says `text` and nothing else. */
export async function* onlyText(text: string): AsyncGenerator<LanguageModelEvent> {
  yield { type: 'text', delta: text };
}
