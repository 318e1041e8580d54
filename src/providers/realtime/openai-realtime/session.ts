// One call's conversation with the service: what it says becomes the contract's events, in order and without what is late.
import { bytesPerMs } from '../../../audio/format.js';
import type { RealtimeContext, RealtimeEvents, RealtimeSession } from '../../realtime-model.js';
import { codedFailure, fatalFailure } from '../../wire/failure.js';
import type { Json } from '../../wire/json.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import { ResponseBill } from '../../wire/response-bill.js';
import { SeenIds } from '../../wire/seen-ids.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { OpenAIRealtimeAnswers } from './answers.js';
import { kindOfError, shownCode } from './errors.js';
import { OpenAIRealtimeHearing } from './hearing.js';
import { OpenAIRealtimeInbox } from './inbox.js';
import { readTranscriptionUsage, type ServerMessage } from './messages.js';
import type { ToldFormats } from './formats.js';
import {
  type SessionSettings,
  toItems,
  toLateResult,
  toMessage,
  toResult,
  toSaying,
  toSession,
  toTurnDetection,
} from './settings.js';
import { OpenAIRealtimeSpeech } from './speech.js';
import { createSessionEvents } from '../session-events.js';
import { SessionLink } from '../session-link.js';

export interface OpenAIRealtimeSessionOptions {
  readonly target: VendorTarget;
  readonly settings: SessionSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** Some services of this wire never echo the settings. Shorter than anybody gives a model to be ready. */
const SETTINGS_WAIT_MS = 1200;

/** Of the agent's speech. Source: OpenAI, Realtime costs. */
const AUDIO_TOKENS_PER_SECOND = 20;

export class OpenAIRealtimeSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #events: Required<RealtimeEvents>;
  readonly #settings: SessionSettings;
  readonly #link: SessionLink;
  #inbox = new OpenAIRealtimeInbox();
  /** Messages that were sent, and which of them carried the settings. */
  #sent = 0;
  #settingsId = '';
  readonly #speech = new OpenAIRealtimeSpeech();
  readonly #answers: OpenAIRealtimeAnswers;
  readonly #hearing = new OpenAIRealtimeHearing();
  readonly #bill: ResponseBill;
  /** Calls that have a result. */
  readonly #given = new SeenIds();
  #interruptible: boolean;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: OpenAIRealtimeSessionOptions) {
    this.#context = context;
    this.#events = createSessionEvents(context, {
      isClosed: () => this.#closed,
      close: () => this.close(),
      failing: () => this.#bill.guess(),
    });
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    this.#bill = new ResponseBill(context, { audioTokensPerSecond: AUDIO_TOKENS_PER_SECOND });
    this.#answers = new OpenAIRealtimeAnswers({
      ask: (response) => {
        this.#bill.begins();
        return this.#send('response.create', Object.keys(response).length > 0 ? { response } : {});
      },
    });
    this.#link = new SessionLink({
      context,
      events: this.#events,
      target,
      open,
      isQuiet: () => this.#isQuiet,
      toAudio: (base64) => `{"type":"input_audio_buffer.append","audio":"${base64}"}`,
      unanswered: { waitMs: SETTINGS_WAIT_MS, act: () => this.#link.ready() },
      protocol: {
        connected: () => this.#connected(),
        text: (text) => this.#received(this.#inbox.read(text)),
        ready: () => {
          for (const item of toItems(context.history())) this.#addItem(item);
        },
        opened: () => this.#answers.open(),
        lost: () => this.#lost(),
      },
    });
  }

  pushAudio(audio: Uint8Array): void {
    if (!this.#closed) this.#link.outbox.push(audio);
  }

  say(text: string): void {
    this.#answers.want(toSaying(text));
  }

  fill(text: string): void {
    this.#answers.want(toSaying(text));
  }

  addText({ role, text }: { role: 'user' | 'system'; text: string }): void {
    this.#addItem(toMessage(role, text));
  }

  respond(): void {
    this.#answers.want({});
  }

  giveResults(results: readonly { toolCallId: string; result: string }[]): void {
    for (const { toolCallId, result } of results)
      this.#addItem(
        this.#given.add(toolCallId) ? toResult(toolCallId, result) : toLateResult(toolCallId, result),
      );
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
    if (!this.#link.isReady) return;
    const detection = toTurnDetection(this.#settings.turnDetection, { interruptible });
    this.#send('session.update', {
      session: { type: 'realtime', audio: { input: { turn_detection: detection } } },
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { runningId } = this.#answers;
    if (runningId !== undefined && this.#speech.isWanted(runningId)) this.#stop(runningId);
    this.#bill.close(() => this.#link.close());
  }

  get #isQuiet(): boolean {
    const isHeard = this.#hearing.isSpeaking || this.#link.outbox.unheard.length > 0;
    return !isHeard && this.#answers.runningId === undefined;
  }

  /** Returns the id that an error would quote. */
  #send(type: string, fields: Json): string {
    this.#sent += 1;
    const eventId = `evt_${this.#sent}`;
    this.#link.send({ type, event_id: eventId, ...fields });
    return eventId;
  }

  #connected(): void {
    const session = toSession(this.#settings, { ...this.#context, interruptible: this.#interruptible });
    this.#settingsId = this.#send('session.update', { session });
  }

  /** The settings as the service has taken them, which may be later than it is used. */
  #updated({ input, output }: ToldFormats): void {
    if (input === 'unknown' || output === 'unknown') {
      const which = output === 'unknown' ? 'speaks' : 'listens';
      this.#link.fail(fatalFailure(`${which} in an audio format that no telephone takes`));
      return;
    }
    const before = this.#link.formats;
    this.#link.setFormats({ input: input ?? before.input, output: output ?? before.output });
    this.#link.ready();
  }

  #lost(): void {
    this.#inbox = new OpenAIRealtimeInbox();
    this.#bill.guess();
    this.#answers.lost();
    this.#speech.reset();
    this.#hearing.reset();
  }

  #received(message: ServerMessage | undefined): void {
    if (message === undefined) return;
    if (this.#closed) {
      if (message.type === 'response-done') this.#bill.paid(message.usage);
      return;
    }
    switch (message.type) {
      case 'session-created':
        this.#link.renewal.planBefore(message.expiresAt);
        return;
      case 'session-updated':
        this.#updated(message);
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
        this.#events.userText({ itemId, text, final: false });
        return;
      }
      case 'user-text': {
        const { itemId, text, usage } = message;
        this.#hearing.settled(itemId);
        if (text !== '') this.#link.outbox.worded(itemId);
        const model = this.#settings.transcription;
        if (usage !== undefined && model !== undefined)
          this.#events.usage(readTranscriptionUsage(usage, model));
        this.#events.userText({ itemId, text, final: true });
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
        const lengthMs = audio.length / bytesPerMs(this.#link.formats.output);
        this.#speech.audio(itemId, contentIndex, lengthMs);
        this.#bill.spoke(lengthMs);
        this.#events.audio({ responseId, itemId, audio });
        return;
      }
      case 'text': {
        const { responseId, itemId } = message;
        if (!this.#isWanted(responseId)) return;
        const delta = this.#speech.words(itemId, message.text, message);
        this.#bill.wrote(delta.length);
        if (delta !== '') this.#events.text({ responseId, itemId, delta });
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
        this.#link.note(message.name);
    }
  }

  #speechStarted(): void {
    this.#hearing.started();
    this.#events.speechStarted();
    if (!this.#interruptible) return;
    // The service ends its answer by itself; what is on the way of it is late from now on.
    const id = this.#answers.runningId;
    if (id !== undefined) this.#speech.drop(id);
    this.#answers.forget();
    this.#events.interrupted();
  }

  #speechEnded(itemId: string): void {
    const { turnDetection } = this.#settings;
    const silenceMs = turnDetection.type === 'server_vad' ? turnDetection.silence_duration_ms : 0;
    this.#link.outbox.ended(itemId, this.#hearing.endMs ?? this.#link.outbox.sentMs);
    const agoMs = this.#hearing.ended({ sentMs: this.#link.outbox.sentMs, silenceMs });
    this.#answers.turnEnded();
    this.#events.speechEnded({ itemId, agoMs });
  }

  #started(responseId: string): void {
    if (this.#answers.runningId === responseId) return;
    this.#bill.begins();
    if (!this.#answers.started(responseId)) {
      this.#stop(responseId);
      return;
    }
    // An answer is also how some services say that the caller has finished.
    if (this.#hearing.isSpeaking && this.#interruptible) this.#speechEnded(`before-${responseId}`);
    this.#link.outbox.answers();
    this.#events.responseStarted(responseId);
  }

  #stop(responseId: string): void {
    this.#speech.drop(responseId);
    this.#send('response.cancel', responseId === '' ? {} : { response_id: responseId });
  }

  /** Not every service tells the start of a response. What comes of one that was stopped is late, of one that is not under way another call's. */
  #isWanted(responseId: string): boolean {
    if (!this.#link.isReady || !this.#speech.isWanted(responseId)) return false;
    if (this.#answers.runningId === responseId) return true;
    if (!this.#answers.isOurs(responseId)) return false;
    this.#started(responseId);
    return this.#speech.isWanted(responseId);
  }

  /** There is of an answer what is not asked for again. What is said into one that goes on is answered by the next one. */
  #answered(): void {
    this.#link.outbox.answered({ withLater: this.#interruptible });
  }

  #done(message: Extract<ServerMessage, { type: 'response-done' }>): void {
    const { end, errorCode, usage } = message;
    const responseId = this.#answers.runningId;
    // Without an id it is that of the answer under way, or one that was told before.
    if (message.responseId === '' && responseId === undefined) return;
    this.#bill.paid(usage);
    if (responseId === undefined) this.#answers.otherEnded();
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
    this.#events.responseEnded({ responseId, reason, toolCalls });
    this.#answers.ended();
  }

  /** The service has broken its answer off. One that nothing was heard of is asked for once more. */
  #broke(responseId: string, code: string): void {
    this.#speech.drop(responseId);
    const failure = codedFailure(`broke off its answer${shownCode(code)}`, code);
    this.#events.responseEnded({ responseId, reason: 'interrupted', toolCalls: [] });
    if (kindOfError(code) === 'fatal' || !this.#answers.failed()) this.#link.fail(failure);
  }

  /** An error is rarely the end: it says that one message of ours changed nothing. */
  #refused({ code, message, eventId }: Extract<ServerMessage, { type: 'error' }>): void {
    const kind = kindOfError(code, message);
    if (kind === 'fatal') this.#link.fail(codedFailure(`refused to go on${shownCode(code)}`, code));
    else if (!this.#link.isReady && eventId === this.#settingsId)
      this.#link.fail(fatalFailure(`refused the settings of the session${shownCode(code)}`));
    else if (kind === 'renew') this.#link.renew(`wants a new session${shownCode(code)}`);
    else if (kind === 'busy' || kind === 'refused') {
      const { callId, logger } = this.#context;
      const outcome = this.#answers.refused(eventId);
      if (outcome !== 'other') this.#bill.paid(undefined);
      if (kind === 'busy' && outcome !== 'given-up') return;
      logger.warn({ callId, code: shownCode(code).trim() }, 'a provider refused a message');
      if (kind === 'refused' && outcome !== 'other')
        this.#link.fail(fatalFailure(`refused to answer${shownCode(code)}`));
    }
  }

  #addItem(item: Json): void {
    if (this.#link.isReady) this.#send('conversation.item.create', { item });
  }
}
