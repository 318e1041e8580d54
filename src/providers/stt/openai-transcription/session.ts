// One call's recognition by a server that takes whole recordings: what was said goes there utterance by utterance, and the texts come
// back in the order in which they were spoken.
import { FRAME_MS } from '../../../audio/format.js';
import type { SpeechToTextContext, SpeechToTextSession } from '../../speech-to-text.js';
import { toSeconds } from '../../wire/audio-backlog.js';
import type { AnswerTimes } from '../../wire/answer-times.js';
import { fatalFailure, toProviderError, WireError, type WireFailure } from '../../wire/failure.js';
import { pause } from '../../../base/pause.js';
import { RetryPlan } from '../../wire/retry-plan.js';
import { askTwice, type SentRequest } from '../../wire/second-request.js';
import { type TranscriptionTarget, transcribe } from './request.js';
import { UtteranceRecorder } from '../utterance-recorder.js';

export interface OpenAITranscriptionSessionOptions {
  readonly target: TranscriptionTarget;
  /** Of the server, over all calls. */
  readonly times: AnswerTimes;
  /** Time between two looks at an utterance that goes on, in milliseconds; null: none. */
  readonly partialEveryMs: number | null;
}

/** An utterance that was sent. */
interface Piece {
  /** Undefined as long as it is not known. */
  text: string | undefined;
}

/** After this time a recording is sent once more to a server that is not known to take longer: the caller is waiting. */
const SECOND_AFTER_MS = 1500;

export class OpenAITranscriptionSession implements SpeechToTextSession {
  readonly #context: SpeechToTextContext;
  readonly #options: OpenAITranscriptionSessionOptions;
  readonly #recorder = new UtteranceRecorder();
  readonly #closing = new AbortController();
  /** What tells the audio of a request as used, of those whose answer has not begun. */
  readonly #unbilled = new Set<() => void>();
  /** Oldest first. */
  readonly #pieces: Piece[] = [];
  /** The look at the open utterance that is under way. */
  #look: AbortController | undefined;
  #lookedMsAgo = 0;
  #everHeard = false;
  #closed = false;

  constructor(context: SpeechToTextContext, options: OpenAITranscriptionSessionOptions) {
    this.#context = context;
    this.#options = options;
  }

  pushAudio(frame: Int16Array): void {
    if (this.#closed) return;
    if (this.#recorder.hear(frame)) this.#send();
    else this.#lookIfDue();
  }

  finishUtterance(): void {
    if (this.#closed) return;
    if (this.#recorder.isOpen) this.#send();
    else if (this.#pieces.length === 0) this.#context.events.final('');
  }

  close(): void {
    if (this.#closed) return;
    for (const bill of [...this.#unbilled]) bill();
    this.#end();
  }

  #send(): void {
    this.#look?.abort();
    this.#lookedMsAgo = 0;
    const piece: Piece = { text: undefined };
    this.#pieces.push(piece);
    void this.#transcribe(this.#recorder.take(), piece);
  }

  async #transcribe(pcm: Int16Array, piece: Piece): Promise<void> {
    const { clock, events } = this.#context;
    const { target, times } = this.#options;
    const startedAt = clock.now();
    const plan = new RetryPlan({ clock, ...(this.#everHeard ? { throttledTries: 1 } : {}) });
    const leftMs = () => startedAt + target.timeoutMs - clock.now();
    for (let isRetry = false; !this.#closed; isRetry = true) {
      try {
        const {
          answer: text,
          sentAt,
          isSecond,
        } = await askTwice(
          (request) => this.#ask(pcm, { ...request, grew: (text) => this.#grew(piece, text) }),
          { clock, signal: this.#closing.signal, withinMs: leftMs(), secondAfterMs: SECOND_AFTER_MS, times },
        );
        if (this.#closed) return;
        piece.text = text;
        this.#everHeard = true;
        if (isRetry || isSecond) events.reconnected?.({ gapMs: sentAt - startedAt, lostMs: 0 });
        this.#tellFinals();
        return;
      } catch (error) {
        if (this.#closed) return;
        const failure = toFailure(error);
        const pauseMs = plan.next(failure);
        if (pauseMs === null || pauseMs >= leftMs()) this.#failed(failure);
        else {
          events.troubled?.(toProviderError(target.names, failure));
          await pause(clock, pauseMs, this.#closing.signal);
        }
      }
    }
  }

  /** One request, and what it costs: nothing when it was refused, or stopped as the first of two. @throws WireError */
  async #ask(
    pcm: Int16Array,
    { signal, timeoutMs, isSecond, grew }: SentRequest & { grew: (text: string) => void },
  ): Promise<string> {
    const { clock, events } = this.#context;
    const target = { ...this.#options.target, timeoutMs };
    const bill = () => {
      if (this.#unbilled.delete(bill)) events.usage?.({ seconds: toSeconds(pcm.length) });
    };
    this.#unbilled.add(bill);
    const givenUp = () => {
      // The first one was answered: the server has this one, too.
      if (isSecond && !this.#closed) bill();
      this.#unbilled.delete(bill);
    };
    signal.addEventListener('abort', givenUp, { once: true });
    try {
      return await transcribe(pcm, target, { clock, signal, grew, accepted: bill });
    } finally {
      signal.removeEventListener('abort', givenUp);
      this.#unbilled.delete(bill);
    }
  }

  /** Texts come in the order of what was said, whichever answer is first. */
  #tellFinals(): void {
    let text = this.#pieces[0]?.text;
    while (text !== undefined && !this.#closed) {
      this.#pieces.shift();
      const isNothingOpen = this.#pieces.length === 0 && !this.#recorder.isOpen;
      if (text !== '' || isNothingOpen) this.#context.events.final(text);
      text = this.#pieces[0]?.text;
    }
  }

  #grew(piece: Piece, text: string): void {
    if (!this.#closed && this.#pieces[0] === piece) this.#context.events.partial(text);
  }

  /** Shows how an utterance begins that has not ended, where that is wanted. */
  #lookIfDue(): void {
    const { partialEveryMs } = this.#options;
    if (partialEveryMs === null || !this.#recorder.isOpen) return;
    this.#lookedMsAgo += FRAME_MS;
    if (this.#lookedMsAgo < partialEveryMs || this.#look !== undefined || this.#pieces.length > 0) return;
    this.#lookedMsAgo = 0;
    const look = new AbortController();
    this.#look = look;
    const signal = AbortSignal.any([look.signal, this.#closing.signal]);
    const { timeoutMs } = this.#options.target;
    this.#ask(this.#recorder.peek(), { signal, timeoutMs, isSecond: false, grew: () => {} })
      .then(
        (text) => {
          if (!signal.aborted && text !== '') this.#context.events.partial(text);
        },
        (error: unknown) => {
          // The end of the utterance is asked for all the same, and says what is wrong.
          const { reason } = toFailure(error);
          if (!signal.aborted) this.#context.logger.debug({ reason }, 'interim transcription failed');
        },
      )
      .finally(() => {
        if (this.#look === look) this.#look = undefined;
      });
  }

  #failed(failure: WireFailure): void {
    this.#end();
    this.#context.events.failed(toProviderError(this.#options.target.names, failure));
  }

  #end(): void {
    this.#closed = true;
    this.#closing.abort();
  }
}

function toFailure(error: unknown): WireFailure {
  return error instanceof WireError ? error.failure : fatalFailure('could not be asked', error);
}
