// One context per sentence on ElevenLabs' multi-context socket, and one more that keeps the socket alive.
import type { FindSentence, VoiceDialect } from '../../wire/sentence-voice.js';
import type { VoiceSentence } from '../../wire/voice-sentence.js';
import { AlignedText } from './alignment.js';
import { readElevenLabsMessage } from './messages.js';

/** `voice_settings` of each context, in the vendor's words. */
export type ElevenLabsSettings = Readonly<Record<string, number | boolean>>;

/** A sixth open context is an error and the end of the socket. One of the five is the one that keeps the socket alive. */
const MAX_SENTENCES = 4;
const IDLE_CONTEXT = 'idle';

/** A socket without a message is closed after 20 s, unless it was told to wait longer. */
const KEEP_ALIVE_MS = 15_000;

export class ElevenLabsDialect implements VoiceDialect {
  readonly atOnce = MAX_SENTENCES;
  readonly signOfLife = { everyMs: KEEP_ALIVE_MS, messages: () => this.#signOfLife() };
  readonly #find: FindSentence;
  readonly #settings: ElevenLabsSettings;
  readonly #aligned = new WeakMap<VoiceSentence, AlignedText>();
  #isIdleOpen = false;

  constructor(find: FindSentence, settings: ElevenLabsSettings) {
    this.#find = find;
    this.#settings = settings;
  }

  connected(): readonly object[] {
    this.#isIdleOpen = true;
    return [this.#opening(IDLE_CONTEXT)];
  }

  /** The context is closed with its sentence, since only a closed one says when its audio is complete. */
  speak(sentence: VoiceSentence): readonly object[] {
    const { id, text } = sentence;
    this.#aligned.set(sentence, new AlignedText(text));
    return [
      this.#opening(id),
      { text: `${text} `, context_id: id },
      { context_id: id, flush: true },
      { context_id: id, close_context: true },
    ];
  }

  text(text: string): void {
    const message = readElevenLabsMessage(text);
    if (message === undefined) return;
    const { contextId: id, audio, alignment, normalizedAlignment, isFinal, failure } = message;
    if (id === IDLE_CONTEXT && (isFinal || failure !== undefined)) this.#isIdleOpen = false;
    const sentence = this.#find(id);
    const aligned = sentence === undefined ? undefined : this.#aligned.get(sentence);
    if (sentence === undefined || aligned === undefined) return;
    // Times start again at 0 with each message that has them: at the audio that comes with it.
    const startMs = sentence.audioMs;
    const given = aligned.place(alignment, startMs);
    const pieces = given.length > 0 ? given : aligned.place(normalizedAlignment, startMs);
    if (audio !== undefined) sentence.take(audio);
    const isSpelled = alignment.characters !== '';
    const end = isSpelled ? aligned.follow(alignment) : pieces.at(-1)?.end;
    if (isSpelled || end !== undefined) sentence.takePart({ end, startMs, endMs: sentence.audioMs }, pieces);
    if (failure !== undefined) sentence.refuse(failure);
    else if (isFinal) sentence.end('spoken');
  }

  /** With a context: without one, on the vendor's socket for a single voice, an empty text would be the end of input. */
  #signOfLife(): readonly object[] {
    const message = this.#isIdleOpen ? { text: '', context_id: IDLE_CONTEXT } : this.#opening(IDLE_CONTEXT);
    this.#isIdleOpen = true;
    return [message];
  }

  #opening(id: string): object {
    const isSet = Object.keys(this.#settings).length > 0;
    return { text: ' ', context_id: id, ...(isSet ? { voice_settings: this.#settings } : {}) };
  }
}
