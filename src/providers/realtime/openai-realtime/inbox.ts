// What comes of the service, each thing once: a message that comes twice, and what comes of a response or a turn of the caller that is
// over, is told to nobody.
import { SeenIds } from '../../wire/seen-ids.js';
import { readServerEvent, type ServerMessage } from './messages.js';

/** One connection's. */
export class OpenAIRealtimeInbox {
  readonly #events = new SeenIds();
  /** Responses whose end has come. */
  readonly #ended = new SeenIds();
  /** Turns of the caller whose end has come. */
  readonly #committed = new SeenIds();
  /** Turns of the caller whose text has come. */
  readonly #written = new SeenIds();

  /** Undefined for what has no effect any more. */
  read(text: string): ServerMessage | undefined {
    const { id, message } = readServerEvent(text);
    return this.#events.add(id) && this.#isNew(message) ? message : undefined;
  }

  #isNew(message: ServerMessage): boolean {
    switch (message.type) {
      case 'speech-started':
      case 'speech-stopped':
        return !this.#committed.has(message.itemId);
      case 'committed':
        return this.#committed.add(message.itemId);
      case 'user-delta':
        return !this.#written.has(message.itemId);
      case 'user-text':
        return this.#written.add(message.itemId);
      case 'response-created':
      case 'audio':
      case 'text':
      case 'tool-call':
        return !this.#ended.has(message.responseId);
      case 'response-done':
        return this.#ended.add(message.responseId);
      default:
        return true;
    }
  }
}
