// The messages of Deepgram's speak socket (v1). Audio comes in binary frames without a name, everything else in text.
// Source: Deepgram, text-to-speech WebSocket reference.
import type { Clock } from '../../../base/clock.js';
import type { Logger } from '../../../base/log.js';
import { toShownCode, transientFailure } from '../../wire/failure.js';
import { type Json, parseObject, toText } from '../../wire/json.js';
import type { FindSentence, VoiceDialect } from '../../wire/sentence-voice.js';
import { createUnknownLog } from '../../wire/unknown-messages.js';
import type { VoiceSentence } from '../../wire/voice-sentence.js';

/** The longest text of one message, in characters. */
const MAX_CHARACTERS = 2000;

/** A connection that was told to flush so often in so short a time refuses to. */
const MAX_FLUSHES = 20;
const FLUSHES_MS = 60_000;

/** What the vendor says beside the audio. */
const TYPES = new Set(['Metadata', 'Flushed', 'Cleared', 'Warning', 'Error', 'Close']);

export class AuraDialect implements VoiceDialect {
  readonly #find: FindSentence;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #flushes: number[] = [];
  /** `Clear` messages without an answer: until it comes, all audio is of sentences that were cut off. */
  #clearing = 0;
  /** The end of a sentence that was cut off may still be told. */
  #owesEnd = false;
  readonly #noteUnknown: (name: string) => void;

  constructor(find: FindSentence, context: { clock: Clock; logger: Logger }) {
    this.#find = find;
    this.#clock = context.clock;
    this.#logger = context.logger;
    this.#noteUnknown = createUnknownLog({ logger: context.logger, known: ['Metadata'] });
  }

  connected(): readonly object[] {
    this.#flushes = [];
    this.#clearing = 0;
    this.#owesEnd = false;
    return [];
  }

  isStopping(): boolean {
    return this.#clearing > 0;
  }

  isSpent(): boolean {
    const now = this.#clock.now();
    this.#flushes = this.#flushes.filter((at) => now - at < FLUSHES_MS);
    return this.#flushes.length >= MAX_FLUSHES;
  }

  speak({ text }: VoiceSentence): readonly object[] {
    this.#flushes.push(this.#clock.now());
    return [...splitText(text).map((part) => ({ type: 'Speak', text: part })), { type: 'Flush' }];
  }

  cancel(): readonly object[] {
    this.#clearing += 1;
    this.#owesEnd = true;
    return [{ type: 'Clear' }];
  }

  binary(bytes: Uint8Array): void {
    const message = bytes[0] === BRACE ? parseObject(Buffer.from(bytes).toString('utf8')) : undefined;
    if (message !== undefined && TYPES.has(toText(message.type))) {
      this.#message(message);
      return;
    }
    if (this.#clearing > 0) return;
    this.#owesEnd = false;
    this.#find()?.take(bytes);
  }

  text(text: string): void {
    this.#message(parseObject(text) ?? {});
  }

  #message(message: Json): void {
    const type = toText(message.type);
    switch (type) {
      case 'Cleared':
        this.#clearing = Math.max(0, this.#clearing - 1);
        return;
      case 'Flushed':
        this.#flushed();
        return;
      case 'Warning':
      case 'Error': {
        const code = toShownCode(message.code ?? message.err_code);
        this.#logger.warn({ type, code: code[0] }, 'the voice reported a problem');
        // The close that follows an error tells more than it, but need not come.
        if (type === 'Error' && this.#clearing === 0) {
          const shown = code.map((each) => ` (${each})`).join('');
          this.#find()?.refuse(transientFailure(`could not speak a sentence${shown}`));
        }
        return;
      }
      default:
        this.#noteUnknown(type.slice(0, 40));
    }
  }

  #flushed(): void {
    if (this.#clearing > 0) return;
    const isOfLast = this.#owesEnd && this.#find()?.audible !== true;
    this.#owesEnd = false;
    if (!isOfLast) this.#find()?.end('spoken');
  }
}

const BRACE = 0x7b;

/** Parts that fit into one message, cut between words where there are any. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > MAX_CHARACTERS) {
    const blank = rest.lastIndexOf(' ', MAX_CHARACTERS - 1);
    let at = blank > 0 ? blank + 1 : MAX_CHARACTERS;
    if (/[\uD800-\uDBFF]/.test(rest.charAt(at - 1))) at -= 1;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}
