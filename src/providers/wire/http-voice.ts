// A call's voice over HTTP: one request per sentence, over a connection that all calls share. What goes into a request and what comes back as
// audio is the vendor's.
import { PCM_16K } from '../../audio/format.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { describeError } from '../../base/log.js';
import { pause } from '../../base/pause.js';
import type { SynthesisEvents, TextToSpeechContext, TextToSpeechSession } from '../text-to-speech.js';
import type { VendorNames } from './access.js';
import type { AnswerTimes } from './answer-times.js';
import { fatalFailure, toProviderError, transientFailure, WireError } from './failure.js';
import type { HttpAnswer, HttpChannel } from './http-channel.js';
import { RetryPlan } from './retry-plan.js';
import { askTwice, type SentRequest } from './second-request.js';

/** Makes audio of the bytes of one answer, cut anywhere. */
export interface AnswerAudio {
  /** Whole samples at 16 kHz. @throws WireError for bytes that are no audio of ours */
  push(bytes: Uint8Array): Int16Array;
  /** What is left behind the last byte. */
  end(): Int16Array;
  /** Frees what is held. Idempotent; nothing follows. */
  close(): void;
}

export interface HttpVoiceTarget {
  readonly names: VendorNames;
  readonly channel: HttpChannel;
  /** Of the server, over all calls. */
  readonly times: AnswerTimes;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON that asks for `text`. */
  readonly toBody: (text: string) => object;
  readonly createAudio: () => AnswerAudio;
  /** Reads an answer whose status is no success. */
  readonly readRefusal: (answer: HttpAnswer) => Promise<WireError>;
}

/** Longest wait for the head of an answer, and for more of its audio, in milliseconds. */
const ANSWER_MS = 4000;
const NEXT_MS = 2500;

/** A sentence that has no answer by then is asked for once more, of a server that is not known to take longer. Less than callers of `synthesize` wait. */
const SECOND_AFTER_MS = 2000;

/** Who has heard no more than this has heard no word to speak of: the sentence is said again. A text of a few letters takes less. */
const WORD_SAMPLES = PCM_16K.sampleRateHz / 2;
const LETTER_SAMPLES = PCM_16K.sampleRateHz / 50;

const isWord = (samples: number, text: string) =>
  samples >= Math.min(WORD_SAMPLES, text.length * LETTER_SAMPLES);

export class HttpVoice implements TextToSpeechSession {
  readonly #context: TextToSpeechContext;
  readonly #target: HttpVoiceTarget;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** How long a sentence that broke off was waited for; undefined when there was none, or the voice has spoken again. */
  #brokeOffMs: number | undefined;

  constructor(context: TextToSpeechContext, target: HttpVoiceTarget) {
    this.#context = context;
    this.#target = target;
    this.#clock = context.clock ?? systemClock;
  }

  /** Tries again only as long as no word was heard: nobody knows how far a broken answer had come in the text. The next sentence may be whole. */
  async *synthesize(
    text: string,
    signal: AbortSignal,
    events?: SynthesisEvents | undefined,
  ): AsyncGenerator<Int16Array> {
    if (text.trim() === '') return;
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    const plan = new RetryPlan({ clock: this.#clock });
    let samples = 0;
    // The time in which nobody asked for anything was no gap.
    let failedAt = this.#brokeOffMs === undefined ? undefined : this.#clock.now() - this.#brokeOffMs;
    let waitsSince = this.#clock.now();
    while (!stop.aborted) {
      try {
        const { chunks, lateSince } = await this.#ask(text, stop);
        failedAt ??= lateSince;
        for await (const pcm of this.#speak(chunks)) {
          if (stop.aborted) return;
          samples += pcm.length;
          if (failedAt !== undefined)
            this.#context.events?.reconnected?.({ gapMs: this.#clock.now() - failedAt });
          failedAt = undefined;
          this.#brokeOffMs = undefined;
          yield pcm;
          waitsSince = this.#clock.now();
        }
        if (!isWord(samples, text)) throw new WireError(transientFailure('gave no audio'));
        return;
      } catch (error) {
        if (stop.aborted) return;
        const failure =
          error instanceof WireError ? error.failure : fatalFailure('could not be asked', error);
        const told = toProviderError(this.#target.names, failure);
        const heard = isWord(samples, text);
        if (heard && failure.kind !== 'fatal') {
          this.#context.logger.warn(describeError(told), 'the synthesis of a sentence broke off');
          this.#brokeOffMs = this.#clock.now() - waitsSince;
          return events?.brokeOff?.();
        }
        const pauseMs = heard ? null : plan.next(failure);
        if (pauseMs === null) throw told;
        samples = 0;
        failedAt ??= this.#clock.now();
        await pause(this.#clock, pauseMs, stop);
      }
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** The bytes of the answer, and when its text was first sent if that had to be done again. @throws WireError */
  async #ask(
    text: string,
    signal: AbortSignal,
  ): Promise<{ chunks: AsyncIterable<Uint8Array>; lateSince: number | undefined }> {
    const { channel, url, headers, toBody, times } = this.#target;
    const clock = this.#clock;
    const startedAt = clock.now();
    const bill = () => this.#context.events?.usage?.({ characters: [...text].length });
    const request = (sent: SentRequest) => {
      // The first one was answered: the server has this one, too.
      const givenUp = () => {
        if (sent.isSecond && !signal.aborted) bill();
      };
      sent.signal.addEventListener('abort', givenUp, { once: true });
      return channel.request({
        method: 'POST',
        url,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(toBody(text)),
        signal: sent.signal,
        clock,
        answerTimeoutMs: sent.timeoutMs,
      });
    };
    const { answer, isSecond } = await askTwice(request, {
      clock,
      signal,
      withinMs: ANSWER_MS,
      secondAfterMs: SECOND_AFTER_MS,
      times,
    });
    await this.#refuseWrong(answer);
    bill();
    return { chunks: this.#chunks(answer), lateSince: isSecond ? startedAt : undefined };
  }

  async *#speak(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Int16Array> {
    const audio = this.#target.createAudio();
    try {
      for await (const bytes of chunks) {
        const pcm = audio.push(bytes);
        if (pcm.length > 0) yield pcm;
      }
      const rest = audio.end();
      if (rest.length > 0) yield rest;
    } finally {
      audio.close();
    }
  }

  /** The body, given up when it does not go on. */
  async *#chunks(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
    const chunks = answer.chunks[Symbol.asyncIterator]();
    let over = false;
    try {
      while (!over) {
        const timer = this.#clock.after(NEXT_MS, () =>
          answer.discard(new WireError(transientFailure('did not go on in time'))),
        );
        const { done, value } = await chunks.next().finally(() => timer.cancel());
        over = done === true;
        if (!over) yield value;
      }
    } finally {
      if (!over) answer.discard();
    }
  }

  /** @throws WireError for a refusal, and for an answer that is no audio of ours, like an error under a good status. */
  async #refuseWrong(answer: HttpAnswer): Promise<void> {
    const type = answer.header('content-type') ?? '';
    const isGood = answer.status >= 200 && answer.status < 300;
    if (isGood && !/json|text|mpeg|mp3|ogg|opus|aac|flac/.test(type)) return;
    if (isGood) {
      answer.discard();
      throw new WireError(fatalFailure('did not answer with PCM'));
    }
    throw await this.#target.readRefusal(answer);
  }
}
