// One socket of the emulated Realtime service: its session, its ear, its conversation, and the response that is under way.
import type { Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import {
  type Complaint,
  checkClientEvent,
  checkResponse,
  checkSession,
  encodingOf,
  invalid,
} from './openai-realtime-checks.js';
import { RealtimeItems } from './openai-realtime-items.js';
import { RealtimeReply } from './openai-realtime-reply.js';
import type { OpenAIRealtimeConnection, RealtimeScript } from './openai-realtime-script.js';
import { type Fields, isFields, readBase64, readFields, toFields } from './message-fields.js';
import { type EmulatedItem, readQuoted } from './realtime-script.js';
import { createHearing } from './hearing.js';
import type { HeardSpeech, Hearing } from './scripted-hearing.js';
import type { VendorPeer } from './vendor-peer.js';
import type { PeerHandler, VendorServer } from './vendor-server.js';

const SESSION_MS = 3_600_000;
/** Events that some servers of this wire never send. */
const OPTIONAL =
  /^(conversation\.item\.added|response\.(created|output_item\..*)|.*(speech_stopped|committed)|rate_limits\.updated)$/;
/** Tokens of audio: one for 100 ms of the caller, one for 50 ms of the agent. */
const IN_MS_PER_TOKEN = 100;
const OUT_MS_PER_TOKEN = 50;

export class RealtimeConnection implements PeerHandler, OpenAIRealtimeConnection {
  readonly url: URL;
  readonly events: Fields[] = [];
  readonly errors: string[] = [];
  session: Fields = {};
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #script: RealtimeScript;
  readonly #items: RealtimeItems;
  readonly #number: number;
  readonly #timers = new Set<Timer>();
  #hearing: Hearing | undefined;
  #reply: RealtimeReply | undefined;
  #heard = '';
  #utterance = '';
  #count = 0;
  #hasSpoken = false;

  /** `number` tells the connections of a server apart: ids are never given twice. */
  constructor(peer: VendorPeer, server: VendorServer, script: RealtimeScript & { readonly number: number }) {
    this.#number = script.number;
    this.#items = new RealtimeItems(`item_c${script.number}_`);
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#script = script;
    const sessionMs = script.sessionMs ?? SESSION_MS;
    const expiresAt = Math.floor((server.clock.wallNow() + sessionMs) / 1000);
    this.#send({ type: 'session.created', session: { type: 'realtime', expires_at: expiresAt } });
    this.#after(sessionMs, () => {
      this.#complain(invalid('Your session hit the maximum duration.', 'session_expired'));
      peer.close(1001, 'session expired');
    });
  }

  get items(): readonly EmulatedItem[] {
    return this.#items.all;
  }

  get audioMs(): number {
    return this.#hearing?.atMs ?? 0;
  }

  binary(): void {
    this.#complain(invalid('Binary messages are not supported.', 'invalid_message'));
  }

  text(text: string): void {
    const event = readFields(text);
    if (event === undefined) {
      this.#complain(invalid('Could not parse the message as JSON.', 'invalid_json'));
      return;
    }
    if (event.type !== 'input_audio_buffer.append') this.events.push(event);
    const complaint = checkClientEvent(event) ?? this.#take(event);
    if (complaint !== undefined) this.#complain(complaint, event.event_id);
  }

  closed(): void {
    this.#reply?.stop();
    for (const timer of this.#timers) timer.cancel();
  }

  #take(event: Fields): Complaint | undefined {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session);
      case 'input_audio_buffer.append':
        return this.#append(event.audio);
      case 'conversation.item.create':
        return this.#items.create(event.item);
      case 'conversation.item.truncate':
        return this.#items.truncate(event) ?? this.#confirm('conversation.item.truncated', event);
      case 'conversation.item.delete':
        return this.#items.delete(event.item_id) ?? this.#confirm('conversation.item.deleted', event);
      case 'response.create':
        return this.#create(event.response);
      case 'response.cancel':
        if (this.#reply === undefined)
          return invalid('Cancellation failed: no active response found.', 'response_cancel_not_active');
        this.#cancel('client_cancelled');
        return undefined;
      default:
        return undefined;
    }
  }

  #update(session: unknown): Complaint | undefined {
    const complaint = checkSession(session);
    if (complaint !== undefined) return complaint;
    const voice = (value: unknown) => toFields(toFields(toFields(value).audio).output).voice;
    const wanted = voice(session);
    if (this.#hasSpoken && wanted !== undefined && wanted !== voice(this.session))
      return invalid('The voice cannot change after the first audio.', 'cannot_update_voice');
    this.session = merge(this.session, toFields(session));
    this.#send({ type: 'session.updated', session: this.session });
    return undefined;
  }

  #append(audio: unknown): Complaint | undefined {
    if (Object.keys(this.session).length === 0) this.#server.complain('audio before the session was set up');
    const bytes = readBase64(audio);
    const encoding = encodingOf(this.#input.format);
    if (bytes === undefined || bytes.length === 0 || (encoding === 'pcm' && bytes.length % 2 !== 0))
      return invalid("Invalid 'audio'.", 'invalid_value');
    this.#hearing ??= this.#listen(encoding);
    if (encoding === 'pcm') this.#hearing.push(new Int16Array(new Uint8Array(bytes).buffer));
    else
      this.#hearing.push(encoding === 'mulaw' ? transcoder.mulawDecode(bytes) : transcoder.alawDecode(bytes));
    return undefined;
  }

  get #input(): Fields {
    return toFields(toFields(this.session.audio).input);
  }

  get #detection(): Fields {
    return toFields(this.#input.turn_detection);
  }

  #listen(encoding: 'pcm' | 'mulaw' | 'alaw'): Hearing {
    return createHearing(
      {
        sampleRateHz: encoding === 'pcm' ? 24_000 : 8000,
        pauseMs: Number(this.#detection.silence_duration_ms ?? 500),
        events: {
          started: (atMs) => {
            this.#utterance = this.#nextId('item_u');
            const padding = Number(this.#detection.prefix_padding_ms ?? 300);
            this.#send({
              type: 'input_audio_buffer.speech_started',
              audio_start_ms: Math.max(0, atMs - padding),
              item_id: this.#utterance,
            });
            if (this.#detection.interrupt_response !== false && this.#reply !== undefined)
              this.#cancel('turn_detected');
          },
          grew() {},
          ended: (speech) => this.#turnEnded(speech),
          silent() {},
        },
      },
      this.#script.hear,
    );
  }

  #turnEnded({ words, toMs }: HeardSpeech): void {
    const id = this.#utterance;
    const text = words.join(' ');
    this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: toMs, item_id: id });
    this.#send({ type: 'input_audio_buffer.committed', previous_item_id: null, item_id: id });
    this.#items.add({ id, kind: 'message', role: 'user', text });
    this.#send({ type: 'conversation.item.added', item: { id, type: 'message', role: 'user' } });
    this.#heard = `${this.#heard} ${text}`.trim();
    const { transcriptAfterMs = 0 } = this.#script;
    const tell = () => this.#tellTranscript(id, text);
    if (transcriptAfterMs === 0) tell();
    else if (transcriptAfterMs !== null) this.#after(transcriptAfterMs, tell);
    if (this.#detection.create_response !== false && this.#reply === undefined) this.#respond(undefined);
  }

  #tellTranscript(id: string, transcript: string): void {
    if (!isFields(this.#input.transcription)) return;
    const type = 'conversation.item.input_audio_transcription';
    const ids = { item_id: id, content_index: 0 };
    const half = transcript.slice(0, Math.ceil(transcript.length / 2));
    if (half !== '') this.#send({ type: `${type}.delta`, ...ids, delta: half });
    const usage = { type: 'duration', seconds: 1 };
    this.#send({ type: `${type}.completed`, ...ids, transcript, usage });
  }

  #create(response: unknown): Complaint | undefined {
    const complaint = checkResponse(response);
    if (complaint !== undefined) return complaint;
    if (this.#reply !== undefined)
      return invalid(
        'Conversation already has an active response in progress.',
        'conversation_already_has_active_response',
      );
    const { instructions } = toFields(response);
    // One that the vendor begins itself, for the caller speaks while a tool runs, is nobody's mistake.
    for (const call of this.#items.openCalls) this.#server.complain(`the call ${call} has no output`);
    this.#respond(typeof instructions === 'string' ? readQuoted(instructions) : undefined);
    return undefined;
  }

  #respond(say: string | undefined): void {
    const { msPerCharacter = 60, chunkBytes = 4800, withoutPadding = false } = this.#script;
    const heard = this.#heard;
    if (say === undefined) this.#heard = '';
    const reply = new RealtimeReply({
      id: this.#nextId('resp_'),
      itemId: this.#nextId('item_a'),
      reply: this.#script.answer({ heard, say, items: this.items }),
      encoding: encodingOf(toFields(toFields(this.session.audio).output).format),
      msPerCharacter,
      chunkBytes,
      withoutPadding,
      clock: this.#server.clock,
      send: (event) => this.#speak(reply, event),
      cut: () => this.#peer.close(1006, ''),
      done: (status) => this.#done(reply, status, {}),
    });
    this.#reply = reply;
    this.#send({ type: 'response.created', response: { id: reply.options.id, status: 'in_progress' } });
    reply.start();
  }

  #speak(reply: RealtimeReply, event: object): void {
    const { itemId, reply: said } = reply.options;
    this.#send(event);
    if (reply.sentMs === 0) return;
    this.#hasSpoken = true;
    const known = this.items.find(({ id }) => id === itemId);
    if (known?.isTruncated === true) return;
    this.#items.add({
      id: itemId,
      kind: 'message',
      role: 'assistant',
      text: said.text ?? '',
      audioMs: reply.sentMs,
    });
  }

  #cancel(reason: string): void {
    const reply = this.#reply;
    if (reply === undefined) return;
    this.#done(reply, 'cancelled', { type: 'cancelled', reason });
    reply.cancel();
  }

  #done(reply: RealtimeReply, status: string, details: Fields): void {
    if (this.#reply !== reply) return;
    this.#reply = undefined;
    reply.stop();
    const { id, reply: script } = reply.options;
    const isWhole = status === 'completed' || status === 'incomplete';
    const calls = isWhole ? reply.calls : [];
    for (const call of calls) this.#items.called(call.id, call.name);
    const error = { type: 'failed', error: { code: script.errorCode ?? 'server_error' } };
    const incomplete = { type: 'incomplete', reason: 'max_output_tokens' };
    const audioIn = Math.round(this.audioMs / IN_MS_PER_TOKEN);
    const audioOut = Math.round(reply.sentMs / OUT_MS_PER_TOKEN);
    const textOut = Math.ceil((script.text ?? '').length / 4);
    this.#send({
      type: 'response.done',
      response: {
        id,
        status,
        status_details: status === 'failed' ? error : status === 'incomplete' ? incomplete : details,
        output: calls.map((call) => ({
          type: 'function_call',
          call_id: call.id,
          name: call.name,
          arguments: call.arguments,
        })),
        usage: {
          total_tokens: 100 + audioIn + audioOut + textOut,
          input_tokens: 100 + audioIn,
          output_tokens: audioOut + textOut,
          input_token_details: {
            text_tokens: 100,
            audio_tokens: audioIn,
            cached_tokens: 64,
            cached_tokens_details: { text_tokens: 64, audio_tokens: 0 },
          },
          output_token_details: { text_tokens: textOut, audio_tokens: audioOut },
        },
      },
    });
    this.#send({ type: 'rate_limits.updated', rate_limits: [] });
  }

  #confirm(type: string, { item_id: id }: Fields): undefined {
    this.#send({ type, item_id: id });
    return undefined;
  }

  #complain({ type = 'invalid_request_error', code, message }: Complaint, eventId?: unknown): void {
    this.errors.push(code);
    if (!/^(response_cancel_not_active|session_expired|conversation_already)/.test(code))
      this.#server.complain(message);
    this.#send({ type: 'error', error: { type, code, message, param: null, event_id: eventId ?? null } });
  }

  #send(event: object): void {
    const type = String(Reflect.get(event, 'type'));
    if (this.#script.dialect === 'subset' && OPTIONAL.test(type)) return;
    this.#peer.send({ event_id: this.#nextId('event_'), ...event });
  }

  #nextId(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#number}_${this.#count}`;
  }

  #after(delayMs: number, task: () => void): void {
    const timer = this.#server.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      task();
    });
    this.#timers.add(timer);
  }
}

function merge(before: Fields, change: Fields): Fields {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change))
    merged[name] = isFields(value) && isFields(merged[name]) ? merge(toFields(merged[name]), value) : value;
  return merged;
}
