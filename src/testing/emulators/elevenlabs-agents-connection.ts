// One conversation of the emulated agent: its ear, its words, its tools, and the answer that is under way.
import type { Timer } from '../../base/clock.js';
import { transcoder } from '../../transcoder/select.js';
import { isSound } from '../speech-spans.js';
import {
  type AgentRefusal,
  checkClientEvent,
  checkInitiation,
  invalid,
  toAudioFormat,
} from './elevenlabs-agents-checks.js';
import { AgentReply } from './elevenlabs-agents-reply.js';
import type { AgentsScript, ElevenLabsAgentsConnection } from './elevenlabs-agents-script.js';
import { type Fields, readBase64, readFields, toFields } from './message-fields.js';
import { type EmulatedItem, readQuoted } from './realtime-script.js';
import { createHearing } from './hearing.js';
import type { HeardSpeech, Hearing } from './scripted-hearing.js';
import type { VendorPeer } from './vendor-peer.js';
import type { PeerHandler, VendorServer } from './vendor-server.js';

/** Silence after which the caller has finished. */
const PAUSE_MS = 600;
const ALL_OVERRIDES = ['prompt', 'firstMessage', 'language', 'voice'] as const;

export class AgentsConnection implements PeerHandler, ElevenLabsAgentsConnection {
  readonly url: URL;
  readonly messages: Fields[] = [];
  readonly context: string[] = [];
  readonly formats: { readonly input: string; readonly output: string };
  initiation: Fields = {};
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #script: AgentsScript;
  readonly #timers = new Set<Timer>();
  readonly #openCalls = new Set<string>();
  readonly #pings = new Map<number, Timer>();
  #items: EmulatedItem[] = [];
  #hearing: Hearing | undefined;
  #reply: AgentReply | undefined;
  /** The last answer, while it is heard. */
  #audible: { readonly reply: AgentReply; readonly itemId: string } | undefined;
  #heard = '';
  #events = 0;
  #isOver = false;

  constructor(peer: VendorPeer, server: VendorServer, script: AgentsScript) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#script = script;
    const { inputFormat: input = 'ulaw_8000', outputFormat: output = 'ulaw_8000' } = script;
    this.formats = { input, output };
  }

  get items(): readonly EmulatedItem[] {
    return this.#items;
  }

  get audioMs(): number {
    return this.#hearing?.atMs ?? 0;
  }

  binary(): void {
    this.#refuse(invalid('Binary messages are not supported.'));
  }

  text(text: string): void {
    if (this.#isOver) return;
    const message = readFields(text);
    if (message === undefined) this.#refuse(invalid('Could not parse the message as JSON.'));
    else if ('user_audio_chunk' in message) this.#listen(message);
    else {
      this.messages.push(message);
      if (message.type === 'conversation_initiation_client_data') this.#begin(message);
      else this.#take(message);
    }
  }

  closed(): void {
    this.#isOver = true;
    this.#reply?.stop();
    for (const timer of [...this.#timers, ...this.#pings.values()]) timer.cancel();
  }

  get #hasBegun(): boolean {
    return Object.keys(this.initiation).length > 0;
  }

  #begin(message: Fields): void {
    const { allowedOverrides = ALL_OVERRIDES, variables = [], firstMessage = '', number } = this.#script;
    const refusal = this.#hasBegun
      ? invalid('The conversation has begun already.')
      : checkInitiation(message, { allowed: allowedOverrides, variables });
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    this.initiation = message;
    this.#send('conversation_initiation_metadata', 'conversation_initiation_metadata_event', {
      conversation_id: `conv_${number}`,
      agent_output_audio_format: this.formats.output,
      user_input_audio_format: this.formats.input,
    });
    this.#ping();
    const { first_message: greeting = firstMessage } = toFields(
      toFields(message.conversation_config_override).agent,
    );
    if (typeof greeting === 'string' && greeting !== '') this.#answer({ heard: '', say: greeting });
  }

  #take(message: Fields): void {
    const refusal = this.#hasBegun ? checkClientEvent(message) : invalid('The conversation has not begun.');
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    const text = String(message.text);
    switch (message.type) {
      case 'pong':
        this.#ponged(Number(message.event_id));
        return;
      case 'contextual_update':
        this.context.push(text);
        return;
      case 'client_tool_result':
        this.#result(String(message.tool_call_id), String(message.result));
        return;
      case 'user_message': {
        this.#interrupt();
        this.#add({ role: 'user', text });
        this.#answer({ heard: text, say: readQuoted(text) });
      }
    }
  }

  #listen({ user_audio_chunk: audio }: Fields): void {
    const bytes = readBase64(audio);
    const format = toAudioFormat(this.formats.input);
    const isPcm = format.encoding === 'pcm';
    if (!this.#hasBegun) this.#refuse(invalid('Audio before the conversation has begun.'));
    else if (bytes === undefined || bytes.length === 0 || (isPcm && bytes.length % 2 !== 0))
      this.#refuse(invalid('Audio cannot be read.'));
    else {
      const pcm = isPcm ? new Int16Array(new Uint8Array(bytes).buffer) : transcoder.mulawDecode(bytes);
      if (this.#script.vadScores === true)
        this.#send('vad_score', 'vad_score_event', { vad_score: isSound(pcm) ? 0.93 : 0.04 });
      this.#hearing ??= this.#createHearing(format.sampleRateHz);
      this.#hearing.push(pcm);
    }
  }

  #createHearing(sampleRateHz: number): Hearing {
    const events = {
      started: () => this.#interrupt(),
      grew: ({ words }: HeardSpeech) => {
        if (this.#script.tentative !== false)
          this.#tellNumbered('tentative_user_transcript', 'tentative_user_transcription_event', {
            user_transcript: words.join(' '),
          });
      },
      ended: (speech: HeardSpeech) => this.#turnEnded(speech.words.join(' ')),
      silent() {},
    };
    return createHearing({ sampleRateHz, pauseMs: PAUSE_MS, events }, this.#script.hear);
  }

  #turnEnded(text: string): void {
    this.#tellNumbered('user_transcript', 'user_transcription_event', { user_transcript: text || '...' });
    this.#add({ role: 'user', text });
    this.#heard = `${this.#heard} ${text}`.trim();
    if (this.#openCalls.size === 0) this.#answer({ heard: this.#heard, say: undefined });
  }

  /** Somebody else has the floor. What the caller has heard the vendor reckons by its own clock. */
  #interrupt(): void {
    const audible = this.#audible;
    this.#audible = undefined;
    const reply = this.#reply;
    this.#reply = undefined;
    if (audible === undefined || !audible.reply.isHeard) return;
    const { heardText: corrected, text: original } = audible.reply;
    // Two pieces more are on their way, and do not count either.
    this.#send('interruption', 'interruption_event', { event_id: this.#events + 2 });
    reply?.interrupt();
    this.#events += 2;
    this.#tellNumbered('agent_response_correction', 'agent_response_correction_event', {
      original_agent_response: original,
      corrected_agent_response: corrected,
    });
    this.#items = this.#items.map((item) =>
      item.id === audible.itemId ? { ...item, text: corrected, isTruncated: true } : item,
    );
  }

  #answer({ heard, say }: { heard: string; say: string | undefined }): void {
    const { msPerCharacter = 60, chunkBytes = 4800, number, end = 'event' } = this.#script;
    this.#heard = '';
    const itemId = `item_${number}_${this.#items.length + 1}`;
    const script = this.#script.answer({ heard, say, items: this.items });
    const text = script.text ?? '';
    const reply = new AgentReply({
      reply: script,
      format: toAudioFormat(this.formats.output),
      msPerCharacter,
      chunkBytes,
      clock: this.#server.clock,
      piece: (audio, { isFirst, isLast }) => {
        if (isFirst) {
          this.#tellNumbered('agent_response', 'agent_response_event', { agent_response: text });
          this.#add({ id: itemId, role: 'assistant', text, audioMs: reply.durationMs });
        }
        this.#tellNumbered('audio', 'audio_event', {
          audio_base_64: audio.toString('base64'),
          ...(end === 'mark' && isLast ? { is_final: true } : {}),
        });
      },
      cut: () => this.#peer.close(1006, ''),
      failed: () => this.#failed(reply),
      finished: () => this.#finished(reply),
    });
    this.#reply = reply;
    this.#audible = { reply, itemId };
    reply.start();
  }

  #failed({ script }: AgentReply): void {
    this.#end({ code: 1002, type: script.errorCode ?? 'llm_error', sentence: 'The LLM failed.' });
  }

  #finished({ script }: AgentReply): void {
    this.#reply = undefined;
    const { end = 'event', expectsResults = true, number } = this.#script;
    for (const [index, call] of (script.toolCalls ?? []).entries()) {
      const id = call.id ?? `call_${number}_${this.#events}_${index}`;
      if (expectsResults) this.#openCalls.add(id);
      this.#add({ id: `item_${id}`, kind: 'function_call', role: 'assistant', text: call.name });
      this.#tellNumbered('client_tool_call', 'client_tool_call', {
        tool_name: call.name,
        tool_call_id: id,
        parameters: toParameters(call.arguments),
        expects_response: expectsResults,
      });
    }
    if (end === 'event') this.#tellNumbered('agent_response_complete', 'agent_response_complete_event', {});
  }

  #result(id: string, text: string): void {
    if (!this.#openCalls.delete(id)) {
      this.#server.complain(`a result of ${id}, which the agent does not wait for`);
      return;
    }
    this.#add({ kind: 'function_call_output', role: 'tool', text });
    if (this.#openCalls.size === 0 && this.#reply === undefined)
      this.#answer({ heard: this.#heard, say: undefined });
  }

  #ping(): void {
    const { pingEveryMs = 2000, pongWithinMs = 10_000 } = this.#script;
    const { clock } = this.#server;
    this.#events += 1;
    const eventId = this.#events;
    const late = {
      code: 1002,
      type: 'transport_receive_timeout',
      sentence: 'A ping was not answered in time.',
    };
    const deadline = clock.after(pongWithinMs, () => {
      this.#server.complain(late.sentence);
      this.#end(late);
    });
    this.#pings.set(eventId, deadline);
    this.#send('ping', 'ping_event', { event_id: eventId, ping_ms: 40 });
    const next = clock.after(pingEveryMs, () => {
      this.#timers.delete(next);
      this.#ping();
    });
    this.#timers.add(next);
  }

  #ponged(eventId: number): void {
    const deadline = this.#pings.get(eventId);
    if (deadline === undefined) this.#server.complain(`a pong to ${eventId}, which was no ping`);
    deadline?.cancel();
    this.#pings.delete(eventId);
  }

  #add(item: Partial<EmulatedItem> & { readonly role: string; readonly text: string }): void {
    const id = `item_${this.#script.number}_${this.#items.length + 1}`;
    this.#items.push({ id, kind: 'message', audioMs: 0, isTruncated: false, ...item });
  }

  /** The client did what it must not. */
  #refuse(refusal: AgentRefusal): void {
    this.#server.complain(refusal.sentence);
    this.#end(refusal);
  }

  #end({ code, type, sentence }: AgentRefusal): void {
    this.#isOver = true;
    this.#reply?.stop();
    this.#send('error', 'error_event', { code, message: sentence, error_type: type });
    this.#peer.close(code, sentence);
  }

  #tellNumbered(type: string, name: string, event: Fields): void {
    this.#events += 1;
    this.#send(type, name, { ...event, event_id: this.#events });
  }

  #send(type: string, name: string, event: Fields): void {
    this.#peer.send({ type, [name]: event });
  }
}

/** What is not a JSON object goes out as it was written. */
function toParameters(args: unknown): unknown {
  return typeof args === 'string' ? (readFields(args) ?? args) : args;
}
