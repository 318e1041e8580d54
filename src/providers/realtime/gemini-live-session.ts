// One call's conversation with the service: what it says becomes the contract's events, in order and without what is late.
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import type { Timer } from '../../base/clock.js';
import type { ModelToolCall, ReplyEnd } from '../language-model.js';
import type { RealtimeContext, RealtimeSession } from '../realtime-model.js';
import { CallerOutbox } from '../wire/caller-outbox.js';
import type { Json } from '../wire/json.js';
import { createUnknownLog } from '../wire/unknown-messages.js';
import type { VendorTarget } from '../wire/lasting-socket.js';
import type { OpenVendorSocket } from '../wire/vendor-socket.js';
import { tellEngine } from '../wire/tell-engine.js';
import { GeminiLiveAnswers } from './gemini-live-answers.js';
import { GeminiLiveHearing } from './gemini-live-hearing.js';
import { GeminiLiveLink, type GeminiLiveLinkEvents, type ReadyLink } from './gemini-live-link.js';
import type { ServerPiece } from './gemini-live-messages.js';
import { type LiveSettings, toAudio, toContent, toTurn, toTurns } from './gemini-live-settings.js';
import { GeminiLiveSpeech, type Response } from './gemini-live-speech.js';

export interface GeminiLiveSessionOptions {
  readonly target: VendorTarget;
  readonly settings: LiveSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** Above this the network does not take what we send, and audio waits in the outbox. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** How far words may be behind their audio when all of that is there. */
const LATE_WORDS_MS = 500;

const NOT_DONE = JSON.stringify({ error: 'Not done: the answer was given up.' });

export class GeminiLiveSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #settings: LiveSettings;
  readonly #link: GeminiLiveLink;
  readonly #speech: GeminiLiveSpeech;
  readonly #outbox: CallerOutbox;
  readonly #answers: GeminiLiveAnswers;
  readonly #hearing: GeminiLiveHearing;
  readonly #note: (name: string) => void;
  #interruptible: boolean;
  #wordsTimer: Timer | undefined;
  /** We have broken the turn off ourselves, by what we sent. */
  #breaksTurn = false;
  /** The caller has finished, and the answer has not begun. */
  #owesCaller = false;
  #isBeginning = false;
  /** What sounds like the caller is taken for speech: not behind a silence that another connection keeps as well. */
  #trustsEars = true;
  #wasReady = false;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: GeminiLiveSessionOptions) {
    this.#context = context;
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    const { clock, formats, events } = context;
    this.#note = createUnknownLog(context);
    this.#speech = new GeminiLiveSpeech(clock);
    this.#hearing = new GeminiLiveHearing({
      clock,
      silenceMs: settings.silenceMs,
      transcribes: settings.transcription,
      started: () => this.#tell(() => events.speechStarted()),
      text: (text) => {
        if (text.final && text.text !== '') this.#outbox.worded(text.itemId);
        this.#tell(() => events.userText(text));
      },
      // What is said into an answer and does not interrupt it needs none.
      stopped: () => {
        if (this.#speech.phase === 'idle' && !this.#answers.isAsked) this.#callerFinished();
      },
    });
    this.#answers = new GeminiLiveAnswers({
      behavior: settings.toolBehavior,
      isFree: () => this.#speech.response?.isWanted !== true,
      send: (message) => this.#sendContent(message),
    });
    this.#outbox = new CallerOutbox({
      format: formats.input,
      keptMs: KEPT_AUDIO_MS,
      send: (chunk) => this.#sendAudio(chunk),
    });
    this.#link = new GeminiLiveLink({
      context,
      target,
      settings,
      open,
      isQuiet: () => this.#isQuiet,
      events: {
        ready: (connection) => this.#ready(connection),
        received: (piece) => this.#received(piece),
        lost: (how) => this.#lost(how),
        failed: (error) => this.#fail(error),
      },
    });
  }

  pushAudio(audio: Uint8Array): void {
    if (this.#closed) return;
    this.#hearing.listen(audio);
    this.#outbox.push(audio);
    this.#link.watch({ isOwed: this.#isOwed });
  }

  say(text: string): void {
    if (!this.#closed) this.#answers.say(text);
  }

  addText({ role, text }: { role: 'user' | 'system'; text: string }): void {
    if (!this.#closed) this.#answers.addText(toTurn(role, text));
  }

  /** An answer that begins at this very moment is the one that is asked for. */
  respond(): void {
    if (!this.#closed && !this.#isBeginning) this.#answers.respond();
  }

  giveResults(results: readonly { toolCallId: string; result: string }[]): void {
    if (this.#closed) return;
    for (const { toolCallId, result } of results) this.#answers.giveResult(toolCallId, result);
  }

  /** There is no message for it: the rest is dropped as it comes. */
  cancel(): void {
    this.#answers.forget();
    const { response } = this.#speech;
    if (response !== undefined) response.isWanted = false;
  }

  /** The service keeps what it has sent. */
  truncate(): void {}

  /** Nothing of a session can change: who may not interrupt is not heard while an answer is made. */
  update({ interruptible }: { interruptible: boolean }): void {
    this.#interruptible = interruptible;
    this.#outbox.flush();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wordsTimer?.cancel();
    this.#hearing.close();
    this.#link.close();
    this.#outbox.reportLoss(this.#context);
  }

  /** A word of the service is to come, whatever it may be. */
  get #isOwed(): boolean {
    const { phase } = this.#speech;
    // What is said while a tool runs may be answered with its results.
    const isHeard = phase !== 'calling' && this.#trustsEars && this.#hearing.awaitsService;
    return phase === 'speaking' || this.#owesCaller || this.#answers.isAsked || isHeard;
  }

  get #isQuiet(): boolean {
    const isOwed = this.#owesCaller || this.#answers.isAsked || this.#answers.isAwaited;
    const isHeard = this.#hearing.isSpeaking || this.#hearing.isSounding || this.#outbox.unheard.length > 0;
    return this.#speech.response === undefined && !isOwed && !isHeard;
  }

  #ready({ gapMs, isResumed, isPlanned }: ReadyLink): void {
    const { events, formats, history } = this.#context;
    this.#hearing.reset();
    const turns = isResumed ? [] : toTurns(history());
    if (turns.length > 0) this.#link.send(toContent(turns, { asks: false }));
    // The engine gives what it has kept as soon as it is told.
    this.#outbox.restart();
    const hearsAgain = this.#outbox.unheard.length > 0;
    this.#tell(() => {
      if (this.#wasReady) events.reconnected({ gapMs: gapMs ?? 0, isPlanned, hearsAgain });
      else events.ready(formats);
    });
    this.#wasReady = true;
    this.#answers.open();
    this.#outbox.flush();
  }

  #lost({ agoMs, isPlanned, isSilent }: Parameters<GeminiLiveLinkEvents['lost']>[0]): void {
    if (isSilent) this.#trustsEars = false;
    // A connection that is changed in a silence leaves nothing unheard.
    if (isPlanned) this.#outbox.settle(this.#outbox.sentMs);
    // Nothing is missing of an answer that waits for nothing but late words.
    if (this.#speech.phase === 'closing') this.#ended('complete', 'over');
    this.#wordsTimer?.cancel();
    // Nobody answers what was heard on this connection: it is asked for on the next one, by its words. What has none is heard there.
    const { hasWords, isSpeaking, isSounding } = this.#hearing;
    if (hasWords && isSpeaking && !isSounding) this.#callerFinished();
    this.#breaksTurn = false;
    this.#owesCaller = false;
    this.#answers.lost();
    this.#speech.turnEnded();
    this.#hearing.lost();
    this.#tell(() => this.#context.events.lost?.({ agoMs }));
  }

  #received(piece: ServerPiece): void {
    if (this.#closed) return;
    this.#hearing.noticed();
    this.#trustsEars = true;
    switch (piece.type) {
      case 'calls-cancelled':
        this.#answers.callsCancelled(piece.ids);
        return;
      case 'user-text':
        this.#heard(piece);
        return;
      case 'interrupted':
        this.#interrupted();
        return;
      case 'audio':
        this.#spoken(piece.audio);
        return;
      case 'text':
        this.#worded(piece);
        return;
      case 'tool-calls':
        this.#called(piece.calls);
        return;
      case 'generation-complete':
        this.#generated();
        return;
      case 'turn-complete':
        this.#turnEnded();
        return;
      case 'usage':
        this.#tell(() => this.#context.events.usage(piece.usage));
        return;
      case 'other':
        this.#note(piece.name);
        return;
      default:
    }
  }

  #heard({ delta, isFinished }: { delta: string; isFinished: boolean }): void {
    if (!this.#settings.transcription || (delta === '' && !isFinished)) return;
    this.#link.changed();
    this.#answers.callerSpoke();
    this.#hearing.grew(delta, { isFinished });
    if (isFinished && this.#hearing.isSpeaking && !this.#hearing.isSounding) this.#callerFinished();
    else this.#hearing.expect();
  }

  /** The service has ended its turn: because of the caller, or of what we sent. */
  #interrupted(): void {
    const isOurs = this.#breaksTurn;
    this.#breaksTurn = false;
    const { response, phase } = this.#speech;
    this.#wordsTimer?.cancel();
    if (phase !== 'idle' || this.#answers.isAsked) this.#speech.stopped();
    if (!isOurs && this.#interruptible) {
      this.#hearing.began();
      this.#hearing.expect();
      this.#answers.forget();
      this.#answers.callerSpoke();
      this.#tell(() => this.#context.events.interrupted());
    }
    if (response !== undefined) this.#tellEnd(response, 'interrupted');
    this.#freed();
  }

  #spoken(audio: Uint8Array): void {
    const response = this.#current();
    if (response?.isWanted !== true) return;
    const { id: responseId, itemId } = response;
    this.#tell(() => this.#context.events.audio({ responseId, itemId, audio }));
  }

  #worded({ delta, isFinished }: { delta: string; isFinished: boolean }): void {
    const { response, phase } = this.#speech;
    if (response === undefined) {
      if (phase === 'idle' || phase === 'calling') this.#speech.keepWords(delta);
      return;
    }
    this.#tellWords(response, delta);
    if (isFinished && phase === 'closing') this.#ended('complete', 'over');
  }

  #called(calls: readonly ModelToolCall[]): void {
    if (calls.length === 0) return;
    const response = this.#current();
    if (response === undefined) return;
    this.#answers.called(calls);
    if (!response.isTold) for (const { id } of calls) this.#answers.giveResult(id, NOT_DONE);
    this.#ended(response.isWanted ? 'tool-calls' : 'interrupted', 'calling', calls);
  }

  #generated(): void {
    const { response } = this.#speech;
    if (response === undefined) return;
    if (!response.isWanted) {
      this.#ended('interrupted', 'over');
      return;
    }
    this.#speech.generated();
    this.#outbox.flush();
    this.#wordsTimer?.cancel();
    this.#wordsTimer = this.#context.clock.after(LATE_WORDS_MS, () => this.#ended('complete', 'over'));
  }

  #turnEnded(): void {
    const { response, phase } = this.#speech;
    this.#breaksTurn = false;
    if (response !== undefined) this.#ended(response.isWanted ? 'complete' : 'interrupted', 'idle');
    this.#speech.turnEnded();
    if (phase === 'idle') this.#answers.wasEmpty();
    this.#freed();
  }

  /** The response that content of a turn belongs to; begins one. Undefined for what is late. */
  #current(): Response | undefined {
    const { response, phase } = this.#speech;
    if (phase === 'late') return undefined;
    if (phase === 'closing') this.#ended('complete', 'over');
    else if (response !== undefined) return response;
    return this.#begin();
  }

  #begin(): Response {
    const wasIdle = this.#speech.phase === 'idle';
    const { isAsked, isWanted } = this.#answers.began();
    const response = this.#speech.begin({ isWanted });
    this.#link.changed();
    this.#breaksTurn = false;
    if (!isWanted) return response;
    // An answer is how the service says that the caller has finished.
    this.#isBeginning = true;
    if (this.#hearing.isSpeaking || (wasIdle && !isAsked && !this.#owesCaller)) this.#callerFinished();
    this.#isBeginning = false;
    this.#owesCaller = false;
    this.#outbox.answered({ withLater: true });
    this.#tell(() => this.#context.events.responseStarted(response.id));
    this.#tellWords(response, this.#speech.takeWords());
    return response;
  }

  #ended(
    reason: ReplyEnd,
    phase: 'idle' | 'over' | 'calling',
    toolCalls: readonly ModelToolCall[] = [],
  ): void {
    const { response } = this.#speech;
    this.#wordsTimer?.cancel();
    this.#speech.end(phase);
    if (response !== undefined) this.#tellEnd(response, reason, toolCalls);
    this.#freed();
  }

  #callerFinished(): void {
    const speech = this.#hearing.ended();
    this.#outbox.ended(speech.itemId, this.#outbox.sentMs);
    if (this.#hearing.isWorded) this.#outbox.worded(speech.itemId);
    this.#owesCaller = true;
    this.#tell(() => this.#context.events.speechEnded(speech));
  }

  /** No answer is being made: what waited for its end goes on. */
  #freed(): void {
    if (this.#closed) return;
    this.#answers.flush();
    this.#outbox.flush();
  }

  #tellWords({ id: responseId, itemId, isWanted }: Response, delta: string): void {
    if (isWanted && delta !== '') this.#tell(() => this.#context.events.text({ responseId, itemId, delta }));
  }

  #tellEnd(response: Response, reason: ReplyEnd, toolCalls: readonly ModelToolCall[] = []): void {
    const { id: responseId, isTold } = response;
    if (isTold) this.#tell(() => this.#context.events.responseEnded({ responseId, reason, toolCalls }));
  }

  #sendContent(message: Json): void {
    if (!('toolResponse' in message)) this.#breaksTurn = this.#speech.phase !== 'idle';
    this.#link.send(message);
  }

  #sendAudio(chunk: Uint8Array): boolean {
    const isMaking = this.#speech.phase === 'speaking' || this.#answers.isAsked;
    if (!this.#link.isReady || (!this.#interruptible && isMaking)) return false;
    if (this.#link.bufferedBytes > MAX_BUFFERED_BYTES) return false;
    this.#link.sendAudio(toAudio(chunk));
    return true;
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
