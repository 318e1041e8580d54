// One call's conversation with the service: what it says becomes the contract's events, in order and without what is late.
import { bytesPerMs } from '../../../audio/format.js';
import type { Timer } from '../../../base/clock.js';
import type { ModelToolCall, ReplyEnd } from '../../language-model.js';
import type { RealtimeContext, RealtimeEvents, RealtimeSession } from '../../realtime-model.js';
import type { CallerOutbox } from '../../wire/caller-outbox.js';
import type { Json } from '../../wire/json.js';
import { ResponseBill } from '../../wire/response-bill.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import type { OpenVendorSocket } from '../../wire/vendor-socket.js';
import { GeminiLiveAnswers } from './answers.js';
import { GeminiLiveHearing } from './hearing.js';
import { GeminiLiveInbox } from './inbox.js';
import { GeminiLiveLink } from './link.js';
import type { ServerPiece } from './messages.js';
import { AUDIO_TOKENS_PER_SECOND } from './prices.js';
import { type LiveSettings, toContent, toTurn, toTurns } from './settings.js';
import { GeminiLiveSpeech, type Response } from './speech.js';
import { createSessionEvents } from '../session-events.js';

export interface GeminiLiveSessionOptions {
  readonly target: VendorTarget;
  readonly settings: LiveSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** How far words may be behind their audio when all of that is there. */
const LATE_WORDS_MS = 500;

const NOT_DONE = JSON.stringify({ error: 'Not done: the answer was given up.' });

export class GeminiLiveSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #events: Required<RealtimeEvents>;
  readonly #settings: LiveSettings;
  readonly #link: GeminiLiveLink;
  readonly #inbox: GeminiLiveInbox;
  readonly #speech: GeminiLiveSpeech;
  readonly #answers: GeminiLiveAnswers;
  readonly #hearing: GeminiLiveHearing;
  readonly #bill: ResponseBill;
  #interruptible: boolean;
  #wordsTimer: Timer | undefined;
  /** We have broken the turn off ourselves, by what we sent. */
  #breaksTurn = false;
  /** The caller has finished, and the answer has not begun. */
  #owesCaller = false;
  #isBeginning = false;
  /** What sounds like the caller is taken for speech: not behind a silence that another connection keeps as well. */
  #trustsRecognizer = true;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: GeminiLiveSessionOptions) {
    this.#context = context;
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    const { clock } = context;
    this.#events = createSessionEvents(context, {
      isClosed: () => this.#closed,
      close: () => this.close(),
      failing: () => this.#bill.guess(),
    });
    this.#bill = new ResponseBill(context, { audioTokensPerSecond: AUDIO_TOKENS_PER_SECOND });
    this.#speech = new GeminiLiveSpeech(clock);
    this.#hearing = new GeminiLiveHearing({
      clock,
      silenceMs: settings.silenceMs,
      transcribes: settings.transcription,
      started: this.#events.speechStarted,
      text: (text) => {
        if (text.final && text.text !== '') this.#outbox.worded(text.itemId);
        this.#events.userText(text);
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
    this.#inbox = new GeminiLiveInbox({
      clock,
      newTurn: () => this.#speech.turnEnded(),
      take: (piece) => this.#received(piece),
    });
    this.#link = new GeminiLiveLink({
      context,
      target,
      settings,
      open,
      events: this.#events,
      isQuiet: () => this.#isQuiet,
      takesAudio: () => this.#takesAudio,
      protocol: {
        ready: (connection) => this.#ready(connection),
        opened: () => this.#answers.open(),
        received: (piece) => this.#inbox.receive(piece),
        unpaid: () => {
          this.#trustsRecognizer = false;
        },
        lost: (connection) => this.#lost(connection),
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
    if (this.#closed) return;
    // It may have to wait for a connection.
    this.#link.doubt();
    this.#answers.addText(toTurn(role, text));
  }

  /** An answer that begins at this very moment is the one that is asked for. */
  respond(): void {
    if (!this.#closed && !this.#isBeginning) this.#answers.respond();
  }

  giveResults(results: readonly { toolCallId: string; result: string }[]): void {
    if (this.#closed) return;
    this.#link.doubt();
    for (const { toolCallId, result } of results) this.#answers.giveResult(toolCallId, result);
  }

  /** There is no message for it: the rest is dropped as it comes. */
  cancel(): void {
    const { response } = this.#speech;
    if (response !== undefined) this.#link.doubt();
    this.#answers.forget();
    if (response !== undefined) response.isWanted = false;
  }

  /** The service keeps what it has sent: it is not gone on with elsewhere as it is. */
  truncate(): void {
    this.#link.doubt();
  }

  /** Nothing of a session can change: who may not interrupt is not heard while an answer is made. */
  update({ interruptible }: { interruptible: boolean }): void {
    this.#interruptible = interruptible;
    this.#outbox.flush();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wordsTimer?.cancel();
    for (const part of [this.#hearing, this.#inbox]) part.close();
    this.#bill.close(() => this.#link.session.close());
  }

  /** A word of the service is to come, whatever it may be. */
  get #isOwed(): boolean {
    const { phase } = this.#speech;
    // What is said while a tool runs may be answered with its results.
    const isHeard = phase !== 'calling' && this.#trustsRecognizer && this.#hearing.awaitsService;
    return phase === 'speaking' || this.#owesCaller || this.#answers.isAsked || isHeard;
  }

  get #outbox(): CallerOutbox {
    return this.#link.session.outbox;
  }

  get #takesAudio(): boolean {
    return this.#interruptible || !(this.#speech.phase === 'speaking' || this.#answers.isAsked);
  }

  get #isQuiet(): boolean {
    const isOwed = this.#owesCaller || this.#answers.isAsked || this.#answers.isAwaited;
    const isHeard = this.#hearing.isSpeaking || this.#hearing.isSounding || this.#outbox.unheard.length > 0;
    return this.#speech.response === undefined && !isOwed && !isHeard;
  }

  #ready({ isResumed }: { isResumed: boolean }): void {
    this.#hearing.reset();
    const turns = isResumed ? [] : toTurns(this.#context.history());
    if (turns.length > 0) this.#link.send(toContent(turns, { asks: false }));
    if (!isResumed) this.#answers.told();
  }

  #lost({ wasReady }: { wasReady: boolean }): void {
    if (!wasReady) return;
    // Nothing is missing of an answer that waits for nothing but late words.
    if (this.#speech.phase === 'closing') this.#ended('complete', 'over');
    this.#wordsTimer?.cancel();
    // Nobody answers what was heard on this connection: it is asked for on the next one, by its words. What has none is heard there.
    const { hasWords, isSpeaking, isSounding } = this.#hearing;
    if (hasWords && isSpeaking && !isSounding) this.#callerFinished();
    this.#breaksTurn = this.#owesCaller = false;
    this.#answers.lost();
    this.#inbox.reset();
    this.#bill.guess();
    this.#speech.turnEnded();
    this.#hearing.lost();
  }

  #received(piece: ServerPiece): void {
    if (piece.type === 'usage') this.#bill.paid(piece.usage);
    if (this.#closed) return;
    this.#hearing.noticed();
    this.#trustsRecognizer = true;
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
      case 'other':
        this.#link.session.note(piece.name);
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
    this.#link.doubt();
    this.#wordsTimer?.cancel();
    const isStopped = phase !== 'idle' || this.#answers.isAsked;
    if (isStopped) this.#speech.stopped();
    if (isStopped) this.#inbox.stopped();
    if (!isOurs && this.#interruptible) {
      this.#hearing.began();
      this.#hearing.expect();
      this.#answers.forget();
      this.#answers.callerSpoke();
      this.#events.interrupted();
    }
    if (response !== undefined) this.#tellEnd(response, 'interrupted');
    this.#freed();
  }

  #spoken(audio: Uint8Array): void {
    const response = this.#current();
    if (response !== undefined)
      this.#bill.spoke(audio.length / bytesPerMs(this.#link.session.formats.output));
    if (response?.isWanted !== true) return;
    const { id: responseId, itemId } = response;
    this.#events.audio({ responseId, itemId, audio });
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
    const response = calls.length === 0 ? undefined : this.#current();
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
    this.#breaksTurn = false;
    if (isWanted) this.#link.answered();
    else this.#link.changed();
    if (!isWanted) return response;
    // An answer is how the service says that the caller has finished.
    this.#isBeginning = true;
    if (this.#hearing.isSpeaking || (wasIdle && !isAsked && !this.#owesCaller)) this.#callerFinished();
    this.#isBeginning = this.#owesCaller = false;
    this.#outbox.answered({ withLater: true });
    this.#events.responseStarted(response.id);
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
    this.#events.speechEnded(speech);
  }

  /** No answer is being made: what waited for its end goes on. */
  #freed(): void {
    if (!this.#closed) this.#answers.flush();
    if (!this.#closed) this.#outbox.flush();
  }

  #tellWords({ id: responseId, itemId, isWanted }: Response, delta: string): void {
    if (isWanted && delta !== '') this.#events.text({ responseId, itemId, delta });
  }

  #tellEnd(response: Response, reason: ReplyEnd, toolCalls: readonly ModelToolCall[] = []): void {
    const { id: responseId, isTold } = response;
    if (isTold) this.#events.responseEnded({ responseId, reason, toolCalls });
  }

  #sendContent(message: Json): void {
    if (!('toolResponse' in message)) this.#breaksTurn = this.#speech.phase !== 'idle';
    this.#link.send(message);
  }
}
