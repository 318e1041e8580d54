// One response of the emulated Realtime service, as its events.
import { withoutTrailing } from '../../base/trailing.js';
import type { Clock } from '../../base/clock.js';
import type { EmulatedRealtimeReply } from './realtime-script.js';
import { SpokenReply } from './spoken-reply.js';

export interface RealtimeReplyOptions {
  readonly id: string;
  readonly itemId: string;
  readonly reply: EmulatedRealtimeReply;
  readonly encoding: 'pcm' | 'mulaw' | 'alaw';
  readonly msPerCharacter: number;
  /** Bytes of a piece. An odd number cuts samples in half. */
  readonly chunkBytes: number;
  readonly withoutPadding: boolean;
  readonly clock: Clock;
  readonly send: (event: object) => void;
  readonly cut: () => void;
  readonly done: (status: 'completed' | 'failed' | 'incomplete') => void;
}

export class RealtimeReply {
  readonly options: RealtimeReplyOptions;
  readonly #speech: SpokenReply;

  constructor(options: RealtimeReplyOptions) {
    this.options = options;
    this.#speech = new SpokenReply({
      ...options,
      piece: (audio, words) => this.#sendPiece(audio, words),
      failed: () => options.done('failed'),
      finished: () => this.#finish(),
    });
  }

  /** Audio that was sent, in milliseconds. */
  get sentMs(): number {
    return this.#speech.sentMs;
  }

  get calls(): { id: string; name: string; arguments: unknown }[] {
    const { reply, id } = this.options;
    return (reply.toolCalls ?? []).map((call, index) => ({
      id: call.id ?? `call_${id}_${index}`,
      name: call.name,
      arguments: call.arguments,
    }));
  }

  start(): void {
    const { id, itemId, send } = this.options;
    if (this.#speech.hasAudio) {
      const item = { id: itemId, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
      send({ type: 'response.output_item.added', response_id: id, output_index: 0, item });
      send({ type: 'conversation.item.added', previous_item_id: null, item });
    }
    this.#speech.start();
  }

  /** What is on the way comes late; nothing else does. */
  cancel(): void {
    this.#speech.cancel();
  }

  stop(): void {
    this.#speech.stop();
  }

  get #ids() {
    const { id, itemId } = this.options;
    return { response_id: id, item_id: itemId, output_index: 0, content_index: 0 };
  }

  #sendPiece(audio: Buffer, words: string): void {
    const { withoutPadding, send } = this.options;
    if (words !== '') send({ type: 'response.output_audio_transcript.delta', ...this.#ids, delta: words });
    const base64 = audio.toString('base64');
    const delta = withoutPadding ? withoutTrailing(base64, '=') : base64;
    send({ type: 'response.output_audio.delta', ...this.#ids, delta });
  }

  #finish(): void {
    const { id, reply, send, done } = this.options;
    if (this.#speech.hasAudio) {
      send({ type: 'response.output_audio.done', ...this.#ids });
      send({ type: 'response.output_audio_transcript.done', ...this.#ids, transcript: reply.text ?? '' });
    }
    for (const { id: callId, name, arguments: args } of this.calls) {
      const fields = { response_id: id, item_id: `item_${callId}`, call_id: callId, name };
      send({ type: 'response.function_call_arguments.done', ...fields, output_index: 1, arguments: args });
    }
    done(reply.isIncomplete === true ? 'incomplete' : 'completed');
  }
}
