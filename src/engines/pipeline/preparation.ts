// What a pipeline call needs before it has a stream: connections, a warm language stage, and the first sentence of the greeting.
//
// When what is opened: a voice costs nothing while it waits, and the greeting a few characters, so both are ready before a phone rings
// for half a minute. Recognizers wait for the answer: they would be kept alive through a ring that often ends in nothing, and gain
// little, since they play what was said before they were connected. One that is paid by the clock waits for the stream.
import type { CallContext } from '../../contract/call-context.js';
import type { LanguageModel } from '../../providers/language-model.js';
import type { SpeechToText } from '../../providers/speech-to-text.js';
import type { TextToSpeech } from '../../providers/text-to-speech.js';
import { attemptAhead } from '../attempt-ahead.js';
import type { CallerWait } from './caller-wait.js';
import type { Preparation, PreparationContext } from '../engine.js';
import type { Guardrails } from './speaking/guardrails.js';
import { PreparedRecognizer } from './prepared-recognizer.js';
import { PreparedVoice } from './prepared-voice.js';
import { singleSentences, splitSentences } from './speaking/sentence-splitter.js';
import { SpokenPieces } from './speaking/spoken-pieces.js';
import { type UsageContext, UsageMeter } from '../usage-meter.js';

/** Parts of one call that need no stream. */
export interface PipelineParts {
  readonly call: CallContext;
  readonly model: LanguageModel;
  readonly wait: CallerWait;
  /** True for the application in the place of a language model. */
  readonly isResponder: boolean;
  readonly guardrails: Guardrails | undefined;
  /** Idempotent. */
  close(): void;
}

export interface PipelinePreparationOptions {
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  readonly language: string | undefined;
  readonly languages: readonly string[] | undefined;
  readonly firstMessage: string | undefined;
  readonly parts: PipelineParts;
}

export class PipelinePreparation implements Preparation {
  /** In the place of the providers that they were made of. */
  readonly stt: PreparedRecognizer;
  readonly tts: PreparedVoice;
  readonly parts: PipelineParts;
  readonly #context: PreparationContext;
  readonly #abort = new AbortController();
  #isTaken = false;

  constructor(context: PreparationContext, options: PipelinePreparationOptions) {
    const { stt, tts, language, languages, firstMessage = '', parts } = options;
    this.#context = context;
    this.parts = parts;
    this.tts = new PreparedVoice({
      context,
      provider: tts,
      language,
      call: parts.call,
      patience: parts.wait.voice,
    });
    this.stt = new PreparedRecognizer({
      context,
      provider: stt,
      language,
      languages,
      patience: parts.wait.thinking,
    });
    attemptAhead(context, () => parts.model.warmUp?.());
    void this.#greet(firstMessage);
  }

  answered(): void {
    if (!this.#isTaken && !this.#abort.signal.aborted) this.stt.connect();
  }

  close(): void {
    if (!this.#isTaken) this.#end({ fact: (fact) => this.#context.spent?.(fact) });
  }

  /** An engine is made of it, which calls `release` when it closes. */
  handOver(): void {
    this.#isTaken = true;
  }

  /** Closes what the engine has not opened. Idempotent. */
  release(engine: UsageContext): void {
    this.#end(engine);
  }

  /** The first sentence that may be spoken. While it is heard there is time for the next. */
  async #greet(message: string): Promise<void> {
    const { guardrails } = this.parts;
    const { signal } = this.#abort;
    const [first] =
      guardrails === undefined ? splitSentences(message) : await this.#firstAllowed(guardrails, message);
    if (first !== undefined && !signal.aborted) this.tts.say(first);
  }

  /** What guardrails let through of a greeting, up to the first piece for the voice. */
  async #firstAllowed(guardrails: Guardrails, message: string): Promise<string[]> {
    const { signal } = this.#abort;
    const pieces = new SpokenPieces();
    for (const sentence of singleSentences(message)) {
      const allowed = await guardrails.checkAhead(sentence, signal);
      if (signal.aborted) return [];
      const [first] = allowed.flatMap((each) => pieces.add(each));
      if (first !== undefined) return [first.text];
    }
    return pieces.flush().map(({ text }) => text);
  }

  #end(context: UsageContext): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort();
    for (const part of [this.tts, this.stt, this.parts]) attemptAhead(this.#context, () => part.close());
    const meter = new UsageMeter(context, () => null);
    for (const usage of this.tts.takeUsage()) meter.spoke(usage);
    for (const usage of this.stt.takeUsage()) meter.heard(usage);
  }
}
