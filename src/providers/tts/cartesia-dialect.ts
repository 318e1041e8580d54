// One context per sentence on Cartesia's socket. A context that has said its audio is gone a second later, so none is continued.
import type { Logger } from '../../base/log.js';
import type { VoiceDialect, VoiceFloor } from '../wire/sentence-voice.js';
import type { VoiceSentence } from '../wire/voice-sentence.js';
import { readCartesiaMessage } from './cartesia-messages.js';

/** What every sentence is asked for with, in the vendor's words. */
export type CartesiaRequest = Readonly<Record<string, unknown>>;

export class CartesiaDialect implements VoiceDialect {
  readonly #floor: VoiceFloor;
  readonly #request: CartesiaRequest;
  readonly #logger: Logger;
  readonly #noted = new Set<string>();

  constructor(floor: VoiceFloor, options: { request: CartesiaRequest; logger: Logger }) {
    this.#floor = floor;
    this.#request = options.request;
    this.#logger = options.logger;
  }

  speak({ id, text }: VoiceSentence): readonly object[] {
    return [{ ...this.#request, context_id: id, transcript: text, continue: false }];
  }

  cancel({ id }: VoiceSentence): readonly object[] {
    return [{ context_id: id, cancel: true }];
  }

  text(text: string): void {
    const message = readCartesiaMessage(text);
    const { current } = this.#floor;
    // Chunks that were under way still come for a sentence that was cut off.
    const isCurrent = current !== undefined && message.contextId === current.id;
    switch (message.type) {
      case 'chunk':
        if (!isCurrent) return;
        current.take(message.audio);
        this.#floor.alive();
        return;
      case 'timestamps':
        if (isCurrent) current.takeWords(message.words);
        return;
      case 'done':
        if (isCurrent) this.#floor.spoken();
        return;
      case 'error':
        // One without a context is about what was said last.
        if (isCurrent || message.contextId === '') this.#floor.refused(message.failure);
        return;
      case 'other':
        this.#noteUnknown(message.name);
    }
  }

  #noteUnknown(name: string): void {
    if (name === 'flush_done' || this.#noted.size >= 20 || this.#noted.has(name)) return;
    this.#noted.add(name);
    this.#logger.debug({ name }, 'message of the voice left aside');
  }
}
