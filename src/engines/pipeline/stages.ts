// The provider sessions of one call, behind a wall: what they throw, return or reject becomes a failure of the call and nothing else.
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import { describeError } from '../../base/log.js';
import { opened } from '../../base/opened.js';
import type { CallContext } from '../../contract/call-context.js';
import type {
  SpeechToText,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../providers/speech-to-text.js';
import type {
  TextToSpeech,
  TextToSpeechEvents,
  TextToSpeechSession,
} from '../../providers/text-to-speech.js';
import { toPayee } from '../../providers/remedy.js';
import type { AgentWords } from '../languages/agent-words.js';
import type { CallerWait } from './caller-wait.js';
import type { EngineContext } from '../engine.js';
import type { ProviderStage as Stage } from '../../contract/call-record.js';

export interface PipelineStagesOptions {
  readonly context: EngineContext;
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  /** What the call begins with. */
  readonly words: Pick<AgentWords, 'language' | 'tts'>;
  /** Those that a caller may speak, where they are several. */
  readonly tags: readonly string[] | undefined;
  readonly call: CallContext;
  readonly wait: CallerWait;
  /** What else lives for this call, closed with it. */
  readonly owned?: readonly { close(): void }[];
  readonly heard: SpeechToTextEvents;
  readonly spoke: TextToSpeechEvents;
  readonly failed: (stage: Stage, error: unknown) => void;
}

export class PipelineStages {
  readonly #options: PipelineStagesOptions;
  #recognizer: SpeechToTextSession | undefined;
  #voice: TextToSpeechSession | undefined;
  #closed = false;

  constructor(options: PipelineStagesOptions) {
    this.#options = options;
  }

  get recognizer(): SpeechToTextSession | undefined {
    return this.#recognizer;
  }

  get voice(): TextToSpeechSession | undefined {
    return this.#voice;
  }

  /** Opens the voice first, so that a failure of the recognizer can be told. Returns false when one of them has failed, which was told. */
  open(): boolean {
    const { context, stt, words, tags: languages, wait, heard, failed } = this.#options;
    const { clock, logger } = context;
    const { language } = words;
    const common = { clock, logger, language, languages, isLast: () => context.hasFallback !== true };
    let opening: Stage = 'tts';
    try {
      this.#voice = this.#openVoice(words);
      opening = 'stt';
      // What the engine before this one did not hear is played to the recognizer at once, connected or not.
      const keptMs = context.takeover === undefined ? undefined : KEPT_AUDIO_MS;
      const recognizer = stt.open({ ...common, patience: wait.thinking, events: heard, keptMs });
      this.#recognizer = opened(this.#watched('stt', recognizer), {
        provider: stt.name,
        method: 'pushAudio',
      });
      return true;
    } catch (error) {
      failed(opening, error);
      return false;
    }
  }

  /** The voice of another language speaks from now on; the one before it is closed, which says nothing any more. */
  speakIn(words: Pick<AgentWords, 'language' | 'tts'>): void {
    // Whoever heard of the language may have ended the call.
    if (this.#closed) return;
    const before = this.#voice;
    this.attempt('tts', () => {
      this.#voice = this.#openVoice(words);
      this.#close(before);
    });
  }

  #openVoice({ language, tts: own }: Pick<AgentWords, 'language' | 'tts'>): TextToSpeechSession {
    const { context, tts, call, wait, spoke } = this.#options;
    const { clock, logger } = context;
    const voice = own ?? tts;
    const payee = toPayee(voice);
    // What the call was told of need not say who it is.
    const events: TextToSpeechEvents =
      own === undefined
        ? spoke
        : {
            ...spoke,
            usage: (usage) => spoke.usage?.({ payee, ...usage }),
            reconnected: (gap) => spoke.reconnected?.({ provider: voice.name, ...gap }),
          };
    const isLast = () => context.hasFallback !== true;
    const session = voice.open({ clock, logger, language, isLast, call, patience: wait.voice, events });
    return opened(this.#watched('tts', session), { provider: voice.name, method: 'synthesize' });
  }

  /** A frame of the caller. As `attempt`, without a closure for each. */
  hear(frame: Int16Array): void {
    try {
      const result: unknown = this.#recognizer?.pushAudio(frame);
      if (result !== undefined) this.#watched('stt', result);
    } catch (error) {
      this.#options.failed('stt', error);
    }
  }

  /** Runs what may fail. Nothing that it throws leaves the engine. */
  attempt(stage: Stage, task: () => unknown): void {
    if (this.#closed) return;
    try {
      this.#watched(stage, task());
    } catch (error) {
      this.#options.failed(stage, error);
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const session of [this.#recognizer, this.#voice, ...(this.#options.owned ?? [])])
      this.#close(session);
  }

  #close(session: { close(): void } | undefined): void {
    try {
      this.#watched('engine', session?.close());
    } catch (error) {
      const { callId, logger } = this.#options.context;
      logger.warn({ callId, ...describeError(error) }, 'a provider did not close cleanly');
    }
  }

  /** What a provider returns. It may be an unexpected promise, whose rejection must not end the process. */
  #watched<T>(stage: Stage, result: T): T {
    if (result instanceof Promise) result.catch((error: unknown) => this.#options.failed(stage, error));
    return result;
  }
}
