// One response of the emulated model: a script, sent as events bit by bit, faster than it is heard.
import type { Clock, Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { makeEmulatedSpeech } from './emulated-speech.js';
import type { EmulatedRealtimeReply } from './realtime-script.js';

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

/** Pieces that are on the way when a response is cancelled arrive all the same. */
const LATE_PIECES = 2;

export class RealtimeReply {
  readonly options: RealtimeReplyOptions;
  /** Audio that was sent, in milliseconds. */
  sentMs = 0;
  readonly #audio: Buffer;
  readonly #bytesPerMs: number;
  #timer: Timer | undefined;
  #count = 0;
  #at = 0;
  #isOver = false;

  constructor(options: RealtimeReplyOptions) {
    this.options = options;
    const { reply, encoding, msPerCharacter } = options;
    const sampleRateHz = encoding === 'pcm' ? 24_000 : 8000;
    this.#bytesPerMs = encoding === 'pcm' ? 48 : 8;
    const pcm = makeEmulatedSpeech({ durationMs: (reply.text ?? '').length * msPerCharacter, sampleRateHz });
    if (encoding === 'pcm') this.#audio = Buffer.from(pcm.buffer);
    else
      this.#audio = Buffer.from(
        encoding === 'mulaw' ? transcoder.mulawEncode(pcm) : transcoder.alawEncode(pcm),
      );
  }

  get calls(): { id: string; name: string; arguments: string }[] {
    const { reply, id } = this.options;
    return (reply.toolCalls ?? []).map((call, index) => ({
      id: call.id ?? `call_${id}_${index}`,
      name: call.name,
      arguments: call.arguments,
    }));
  }

  start(): void {
    const { id, itemId, reply, send } = this.options;
    if (this.#audio.length > 0) {
      const item = { id: itemId, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
      send({ type: 'response.output_item.added', response_id: id, output_index: 0, item });
      send({ type: 'conversation.item.added', previous_item_id: null, item });
    }
    this.#later(reply.firstAudioMs ?? 0);
  }

  /** What is on the way comes late; nothing else does. */
  cancel(): void {
    this.stop();
    for (let piece = 0; piece < LATE_PIECES; piece += 1) this.#sendPiece();
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #later(delayMs: number): void {
    this.#timer = this.options.clock.after(delayMs, () => this.#step());
  }

  #step(): void {
    const { reply, cut, done } = this.options;
    if (this.#isOver) return;
    if (reply.hangAfter === this.#count) return;
    if (reply.cutAfter === this.#count) cut();
    else if (reply.failAfter === this.#count) done('failed');
    else if (this.#at >= this.#audio.length) this.#finish();
    else {
      this.#count += 1;
      this.#sendPiece();
      this.#later(reply.chunkEveryMs ?? 10);
    }
  }

  #sendPiece(): void {
    const { id, itemId, chunkBytes, withoutPadding, send, reply } = this.options;
    const piece = this.#audio.subarray(this.#at, this.#at + chunkBytes);
    if (piece.length === 0) return;
    const ids = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 };
    const text = reply.text ?? '';
    const share = (at: number) => Math.round((text.length * at) / this.#audio.length);
    const said = text.slice(share(this.#at), share(this.#at + piece.length));
    this.#at += piece.length;
    this.sentMs = Math.floor(this.#at / this.#bytesPerMs);
    if (said !== '') send({ type: 'response.output_audio_transcript.delta', ...ids, delta: said });
    const base64 = piece.toString('base64');
    const delta = withoutPadding ? base64.replace(/=+$/, '') : base64;
    send({ type: 'response.output_audio.delta', ...ids, delta });
  }

  #finish(): void {
    const { id, itemId, reply, send, done } = this.options;
    this.#isOver = true;
    const ids = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 };
    if (this.#audio.length > 0) {
      send({ type: 'response.output_audio.done', ...ids });
      send({ type: 'response.output_audio_transcript.done', ...ids, transcript: reply.text ?? '' });
    }
    for (const { id: callId, name, arguments: args } of this.calls) {
      const fields = { response_id: id, item_id: `item_${callId}`, call_id: callId, name };
      send({ type: 'response.function_call_arguments.done', ...fields, output_index: 1, arguments: args });
    }
    done(reply.isIncomplete === true ? 'incomplete' : 'completed');
  }
}
