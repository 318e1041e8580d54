// One context per sentence on Cartesia's socket. A context that has said its audio is gone a second later, so none is continued.
import type { Logger } from '../../../base/log.js';
import type { FindSentence, VoiceDialect } from '../../wire/sentence-voice.js';
import { createUnknownLog } from '../../wire/unknown-messages.js';
import type { VoiceSentence } from '../../wire/voice-sentence.js';
import { readCartesiaMessage } from './messages.js';

/** What every sentence is asked for with, in the vendor's words. */
export type CartesiaRequest = Readonly<Record<string, unknown>>;

export class CartesiaDialect implements VoiceDialect {
  readonly #find: FindSentence;
  readonly #request: CartesiaRequest;
  readonly #noteUnknown: (name: string) => void;

  constructor(find: FindSentence, options: { request: CartesiaRequest; logger: Logger }) {
    this.#find = find;
    this.#request = options.request;
    this.#noteUnknown = createUnknownLog({ logger: options.logger, known: ['flush_done'] });
  }

  speak({ id, text }: VoiceSentence): readonly object[] {
    return [{ ...this.#request, context_id: id, transcript: text, continue: false }];
  }

  cancel({ id }: VoiceSentence): readonly object[] {
    return [{ context_id: id, cancel: true }];
  }

  text(text: string): void {
    const message = readCartesiaMessage(text);
    // Undefined also for what was under way when its sentence was cut off.
    const sentence = this.#find(message.contextId);
    switch (message.type) {
      case 'chunk':
        sentence?.take(message.audio);
        return;
      case 'timestamps':
        sentence?.takeWords(message.words);
        return;
      case 'done':
        sentence?.end('spoken');
        return;
      case 'error':
        // One without a context is about what was said last.
        (message.contextId === '' ? this.#find() : sentence)?.refuse(message.failure);
        return;
      case 'other':
        this.#noteUnknown(message.name);
    }
  }
}
