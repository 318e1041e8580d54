// One call's conversation with the service: what it says becomes the contract's events, in order and without what is late.
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import type { Timer } from '../../base/clock.js';
import type { RealtimeContext, RealtimeSession } from '../realtime-model.js';
import type { VendorNames } from '../wire/access.js';
import { CallerOutbox } from '../wire/caller-outbox.js';
import { codedFailure, fatalFailure, toProviderError, type WireFailure } from '../wire/failure.js';
import type { Json } from '../wire/json.js';
import { LastingSocket, type VendorTarget } from '../wire/lasting-socket.js';
import { SessionRenewal } from '../wire/session-renewal.js';
import { createUnknownLog } from '../wire/unknown-messages.js';
import type { OpenVendorSocket } from '../wire/vendor-socket.js';
import { tellEngine } from '../wire/tell-engine.js';
import { OpenAIRealtimeAnswers } from './openai-realtime-answers.js';
import { kindOfError, shownCode } from './openai-realtime-errors.js';
import { OpenAIRealtimeHearing } from './openai-realtime-hearing.js';
import { readServerMessage, readTranscriptionUsage, type ServerMessage } from './openai-realtime-messages.js';
import {
  type SessionSettings,
  toItems,
  toMessage,
  toResult,
  toSaying,
  toSession,
  toTurnDetection,
} from './openai-realtime-settings.js';
import { OpenAIRealtimeSpeech } from './openai-realtime-speech.js';

export interface OpenAIRealtimeSessionOptions {
  readonly target: VendorTarget;
  readonly settings: SessionSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** Some services of this wire never echo the settings. Shorter than anybody gives a model to be ready. */
const SETTINGS_WAIT_MS = 1200;

/** Above this the network does not take what we send, and audio waits in the outbox. */
const MAX_BUFFERED_BYTES = 64 * 1024;

export class OpenAIRealtimeSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #names: VendorNames;
  readonly #settings: SessionSettings;
  readonly #socket: LastingSocket;
  readonly #speech: OpenAIRealtimeSpeech;
  readonly #outbox: CallerOutbox;
  readonly #answers: OpenAIRealtimeAnswers;
  readonly #hearing = new OpenAIRealtimeHearing();
  readonly #note: (name: string) => void;
  readonly #renewal: SessionRenewal;
  #interruptible: boolean;
  #isPlanned = false;
  #settingsId = '';
  #settingsTimer: Timer | undefined;
  #events = 0;
  #isReady = false;
  #wasReady = false;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: OpenAIRealtimeSessionOptions) {
    this.#context = context;
    this.#names = target.names;
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    const { clock, logger, formats } = context;
    this.#note = createUnknownLog(context);
    this.#renewal = new SessionRenewal({
      clock,
      isQuiet: () => this.#isReady && this.#isQuiet,
      renew: () => {
        this.#isPlanned = true;
        this.#outbox.settle(this.#outbox.sentMs);
        this.#socket.renew('wants a new session soon', { isPlanned: true });
      },
    });
    this.#speech = new OpenAIRealtimeSpeech(formats.output);
    this.#outbox = new CallerOutbox({
      format: formats.input,
      keptMs: KEPT_AUDIO_MS,
      send: (chunk) => this.#sendAudio(chunk),
    });
    this.#answers = new OpenAIRealtimeAnswers({
      ask: (response) => this.#send('response.create', Object.keys(response).length > 0 ? { response } : {}),
    });
    this.#socket = new LastingSocket({
      target,
      clock,
      logger,
      open,
      events: {
        connected: () => this.#connected(),
        text: (text) => this.#received(readServerMessage(text)),
        lost: (agoMs) => this.#lost(agoMs),
        troubled: () => {
          this.#isPlanned = false;
        },
        failed: (error) => this.#fail(error),
      },
    });
  }

  pushAudio(audio: Uint8Array): void {
    if (!this.#closed) this.#outbox.push(audio);
  }

  say(text: string): void {
    this.#answers.want(toSaying(text));
  }

  addText({ role, text }: { role: 'user' | 'system'; text: string }): void {
    this.#addItem(toMessage(role, text));
  }

  respond(): void {
    this.#answers.want({});
  }

  giveResults(results: readonly { toolCallId: string; result: string }[]): void {
    for (const { toolCallId, result } of results) this.#addItem(toResult(toolCallId, result));
  }

  cancel(): void {
    this.#answers.forget();
    const id = this.#answers.runningId;
    if (id !== undefined && this.#speech.isWanted(id)) this.#stop(id);
  }

  truncate({ itemId, heardMs }: { itemId: string; heardMs: number }): void {
    const cut = this.#speech.cutAt(itemId, heardMs);
    if (cut === undefined) return;
    // An item that is cut at 0 would stay, with words that nobody has heard.
    if (cut.audioEndMs === 0) this.#send('conversation.item.delete', { item_id: itemId });
    else
      this.#send('conversation.item.truncate', {
        item_id: itemId,
        content_index: cut.contentIndex,
        audio_end_ms: cut.audioEndMs,
      });
  }

  update({ interruptible }: { interruptible: boolean }): void {
    if (this.#interruptible === interruptible) return;
    this.#interruptible = interruptible;
    if (!this.#isReady) return;
    const detection = toTurnDetection(this.#settings.turnDetection, { interruptible });
    this.#send('session.update', {
      session: { type: 'realtime', audio: { input: { turn_detection: detection } } },
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#settingsTimer?.cancel();
    this.#renewal.close();
    this.#socket.close();
    this.#outbox.reportLoss(this.#context);
  }

  get #isQuiet(): boolean {
    const isHeard = this.#hearing.isSpeaking || this.#outbox.unheard.length > 0;
    return !isHeard && this.#answers.runningId === undefined;
  }

  #connected(): void {
    this.#outbox.restart();
    const session = toSession(this.#settings, { ...this.#context, interruptible: this.#interruptible });
    this.#settingsId = this.#send('session.update', { session });
    this.#settingsTimer = this.#context.clock.after(SETTINGS_WAIT_MS, () => this.#ready());
  }

  #ready(): void {
    if (this.#isReady || this.#closed) return;
    this.#settingsTimer?.cancel();
    this.#isReady = true;
    const { events, formats, history } = this.#context;
    for (const item of toItems(history())) this.#send('conversation.item.create', { item });
    const gapMs = this.#socket.serves() ?? 0;
    const hearsAgain = this.#outbox.unheard.length > 0;
    this.#tell(() => {
      if (this.#wasReady) events.reconnected({ gapMs, isPlanned: this.#isPlanned, hearsAgain });
      else events.ready(formats);
    });
    this.#wasReady = true;
    this.#isPlanned = false;
    this.#answers.open();
    this.#outbox.flush();
  }

  #lost(agoMs: number): void {
    this.#settingsTimer?.cancel();
    this.#renewal.close();
    const wasUsed = this.#isReady;
    this.#isReady = false;
    this.#answers.lost();
    this.#speech.reset();
    this.#hearing.reset();
    if (wasUsed) this.#tell(() => this.#context.events.lost?.({ agoMs }));
  }

  #received(message: ServerMessage): void {
    if (this.#closed) return;
    const { events } = this.#context;
    switch (message.type) {
      case 'session-created':
        this.#renewal.planBefore(message.expiresAt);
        return;
      case 'session-updated':
        this.#ready();
        return;
      case 'speech-started':
        this.#speechStarted();
        return;
      case 'speech-stopped':
        this.#hearing.stopped(message.endMs);
        return;
      case 'committed':
        this.#speechEnded(message.itemId);
        return;
      case 'user-delta': {
        const { itemId } = message;
        const text = this.#hearing.grew(itemId, message.delta);
        this.#tell(() => events.userText({ itemId, text, final: false }));
        return;
      }
      case 'user-text': {
        const { itemId, text, usage } = message;
        this.#hearing.settled(itemId);
        if (text !== '') this.#outbox.worded(itemId);
        const model = this.#settings.transcription;
        if (usage !== undefined && model !== undefined)
          this.#tell(() => events.usage(readTranscriptionUsage(usage, model)));
        this.#tell(() => events.userText({ itemId, text, final: true }));
        return;
      }
      case 'response-created':
        this.#answers.announced();
        this.#started(message.responseId);
        return;
      case 'audio': {
        const { responseId, itemId, contentIndex, audio } = message;
        if (!this.#isWanted(responseId)) return;
        this.#answered();
        this.#speech.audio(itemId, contentIndex, audio.length);
        this.#tell(() => events.audio({ responseId, itemId, audio }));
        return;
      }
      case 'text': {
        const { responseId, itemId } = message;
        if (!this.#isWanted(responseId)) return;
        const delta = this.#speech.words(itemId, message.text, message);
        if (delta !== '') this.#tell(() => events.text({ responseId, itemId, delta }));
        return;
      }
      case 'tool-call':
        if (this.#isWanted(message.responseId)) this.#answers.called(message.call);
        return;
      case 'response-done':
        this.#done(message);
        return;
      case 'error':
        this.#refused(message);
        return;
      case 'other':
        this.#note(message.name);
    }
  }

  #speechStarted(): void {
    this.#hearing.started();
    this.#tell(() => this.#context.events.speechStarted());
    if (!this.#interruptible) return;
    // The service ends its answer by itself; what is on the way of it is late from now on.
    const id = this.#answers.runningId;
    if (id !== undefined) this.#speech.drop(id);
    this.#answers.forget();
    this.#tell(() => this.#context.events.interrupted());
  }

  #speechEnded(itemId: string): void {
    const { turnDetection } = this.#settings;
    const silenceMs = turnDetection.type === 'server_vad' ? turnDetection.silence_duration_ms : 0;
    this.#outbox.ended(itemId, this.#hearing.endMs ?? this.#outbox.sentMs);
    const agoMs = this.#hearing.ended({ sentMs: this.#outbox.sentMs, silenceMs });
    this.#answers.turnEnded();
    this.#tell(() => this.#context.events.speechEnded({ itemId, agoMs }));
  }

  #started(responseId: string): void {
    if (this.#answers.runningId === responseId) return;
    if (!this.#answers.started(responseId)) {
      this.#stop(responseId);
      return;
    }
    // An answer is also how some services say that the caller has finished.
    if (this.#hearing.isSpeaking && this.#interruptible) this.#speechEnded(`before-${responseId}`);
    this.#outbox.answers();
    this.#tell(() => this.#context.events.responseStarted(responseId));
  }

  #stop(responseId: string): void {
    this.#speech.drop(responseId);
    this.#send('response.cancel', responseId === '' ? {} : { response_id: responseId });
  }

  /** Not every service tells the start of a response. What comes of one that was stopped is late, of one that is not under way another call's. */
  #isWanted(responseId: string): boolean {
    if (!this.#isReady || !this.#speech.isWanted(responseId) || !this.#answers.isOurs(responseId))
      return false;
    this.#started(responseId);
    return this.#speech.isWanted(responseId);
  }

  /** There is of an answer what is not asked for again. What is said into one that goes on is answered by the next one. */
  #answered(): void {
    this.#outbox.answered({ withLater: this.#interruptible });
  }

  #done(message: Extract<ServerMessage, { type: 'response-done' }>): void {
    const { end, errorCode, usage } = message;
    const { events } = this.#context;
    if (usage !== undefined) this.#tell(() => events.usage(usage));
    const responseId = this.#answers.runningId;
    if (responseId === undefined || !this.#answers.isOurs(message.responseId)) return;
    const isStopped = !this.#speech.isWanted(responseId);
    if (end === 'failed' && !isStopped) {
      this.#broke(responseId, errorCode);
      return;
    }
    if (!isStopped) this.#answered();
    for (const call of message.calls) this.#answers.called(call);
    const toolCalls = this.#answers.takeCalls();
    const finished = toolCalls.length > 0 && end === 'complete' ? 'tool-calls' : end;
    const reason = finished === 'failed' || isStopped ? 'interrupted' : finished;
    this.#tell(() => events.responseEnded({ responseId, reason, toolCalls }));
    this.#answers.ended();
  }

  /** The service has broken its answer off. One that nothing was heard of is asked for once more. */
  #broke(responseId: string, code: string): void {
    this.#speech.drop(responseId);
    const failure = codedFailure(`broke off its answer${shownCode(code)}`, code);
    const { events } = this.#context;
    this.#tell(() => events.responseEnded({ responseId, reason: 'interrupted', toolCalls: [] }));
    if (kindOfError(code) === 'fatal' || !this.#answers.failed()) this.#failWith(failure);
  }

  /** An error is rarely the end: it says that one message of ours changed nothing. */
  #refused({ code, message, eventId }: Extract<ServerMessage, { type: 'error' }>): void {
    const kind = kindOfError(code, message);
    const isSettings = eventId === this.#settingsId && !this.#isReady;
    if (kind === 'fatal') this.#failWith(codedFailure(`refused to go on${shownCode(code)}`, code));
    else if (isSettings)
      this.#failWith(fatalFailure(`refused the settings of the session${shownCode(code)}`));
    else if (kind === 'renew') this.#socket.renew(`wants a new session${shownCode(code)}`);
    else if (kind === 'busy') this.#answers.refused(eventId);
    else if (kind === 'refused') {
      const { callId, logger } = this.#context;
      logger.warn({ callId, code: shownCode(code).trim() }, 'a provider refused a message');
      if (this.#answers.refused(eventId)) this.#failWith(fatalFailure(`refused to answer${shownCode(code)}`));
    }
  }

  #addItem(item: Json): void {
    if (this.#isReady) this.#send('conversation.item.create', { item });
  }

  #sendAudio(chunk: Uint8Array): boolean {
    if (!this.#isReady || this.#socket.bufferedBytes > MAX_BUFFERED_BYTES) return false;
    const audio = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
    this.#socket.send(`{"type":"input_audio_buffer.append","audio":"${audio}"}`);
    return true;
  }

  /** Returns the id that an error would quote. */
  #send(type: string, fields: Json): string {
    this.#events += 1;
    const eventId = `evt_${this.#events}`;
    this.#socket.send(JSON.stringify({ type, event_id: eventId, ...fields }));
    return eventId;
  }

  #failWith(failure: WireFailure): void {
    this.#socket.close();
    this.#fail(toProviderError(this.#names, failure));
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    this.close();
    this.#context.events.failed(error);
  }

  #tell(event: () => void): void {
    const failure = this.#closed ? undefined : tellEngine(this.#context, event);
    if (failure !== undefined) this.#fail(failure);
  }
}
