// One answer of the agent: text as the language stage streams it, cut into sentences, spoken, and the tools that it calls on the
// way. It can be stopped at any moment.
import type { Playout } from '../../../audio/playout.js';
import type { Clock } from '../../../base/clock.js';
import { ProviderError } from '../../../base/errors.js';
import {
  type LanguageModelEvent,
  MAX_TOOL_CALLS,
  type ModelToolCall,
  type TokenUsage,
} from '../../../providers/language-model.js';
import type { Payee } from '../../../providers/remedy.js';
import type { TextToSpeechSession } from '../../../providers/text-to-speech.js';
import { AnswerText } from './answer-text.js';
import type { CallerWait } from '../caller-wait.js';
import type { Conversation } from '../../conversation.js';
import type { Dropped } from './dropped-text.js';
import { guardedStream } from '../../guarded-stream.js';
import type { Guardrails } from './guardrails.js';
import { SentenceGate } from './sentence-gate.js';
import { type CutSplit, Speaker } from './speaker.js';
import { CALL_ENDS, CALL_ENDS_LATER, CALL_GOES_ON } from '../../tools/built-in-tools.js';
import { dealOut, type Round, type SaidRound } from '../../tools/rounds.js';
import type { ToolBox } from '../../tools/tool-box.js';
import type { ToolRun } from '../../tools/tool-run.js';
import type { AnswerLatency, TurnBook } from '../../turn-book.js';

/** What became of a reply, its rounds with tools apart. */
export interface ReplySplit extends CutSplit {
  readonly rounds: readonly Round[];
  /** Heard after the last of the rounds. */
  readonly heardAfter: string;
  /** It was stopped behind its tools, before anything was heard of what follows from them. */
  readonly isOwed: boolean;
  /** The language stage wants the call to end with it: what is left to be said before that. Undefined where it does not. */
  readonly goodbye: string | undefined;
}

export interface ReplyEvents {
  /** The caller has heard all that there is of it, for now, or hears more after that: see `isDry`. */
  sounds(): void;
  /** All of it was heard. */
  finished(outcome: ReplySplit): void;
  /** A stage failed. After `llm` what was said goes on and `conclude` must follow; after `tts` nothing more is spoken. */
  failed(stage: 'llm' | 'tts', error: unknown): void;
  /** What the language stage has used. Comes after `stop`, too. */
  usage(usage: TokenUsage, payee: Payee | undefined): void;
  /** A trouble of the language stage was remedied. Comes after `stop`, too. */
  remedied(remedy: Remedy): void;
}

/** What the language stage tells of a trouble. */
export type Remedy = Extract<LanguageModelEvent, { type: 'recovered' | 'replaced' }>;

/** Asks the language stage. `rounds` are the earlier rounds of this reply, spoken and settled. */
export type ReplySource = (
  signal: AbortSignal,
  rounds: readonly Round[],
) => AsyncIterable<LanguageModelEvent>;

/** Longest waits for the language stage, in milliseconds. */
export interface ThinkingTimeouts {
  /** For its first token. */
  readonly firstMs: number;
  /** Between two tokens. */
  readonly nextMs: number;
  /** The application answers: how long the caller may wait for it is its own affair. @default false */
  readonly isApplication?: boolean;
}

export interface ReplyOptions {
  readonly id: string;
  readonly source: ReplySource;
  readonly timeouts: ThinkingTimeouts;
  readonly wait: CallerWait;
  /** What the language stage may call; undefined when it gives text alone. */
  readonly tools?: ToolBox | undefined;
  /** Tools of earlier replies whose results the language stage needs. */
  readonly awaited?: readonly ToolRun[] | undefined;
  readonly guardrails?: Guardrails | undefined;
  readonly voice: TextToSpeechSession;
  readonly playout: Playout;
  readonly clock: Clock;
  readonly latency: AnswerLatency;
  readonly conversation: Pick<Conversation, 'tell'>;
  readonly turns: Pick<TurnBook, 'called'>;
  readonly events: ReplyEvents;
}

/** A model that does not stop talking is stopped: about ten minutes of speech. */
const MAX_CHARS = 8000;

/** Rounds of tools in one reply. In the round behind the last one calls are refused, and the model is asked once more. */
const MAX_ROUNDS = 5;

const BROKE_OFF = 'language model broke off its answer before its end';
const PASSING = { status: null, retryable: true };

/** One per generation. After `stop` none of its events and none of its audio comes any more: what is late is late for a dead object. */
export class Reply {
  readonly #options: ReplyOptions;
  /** Ends the thinking, of which speaking may go on for a while. */
  readonly #abort = new AbortController();
  readonly #text: AnswerText;
  readonly #gate: SentenceGate;
  readonly #speaker: Speaker;
  readonly #rounds: SaidRound[] = [];
  /** Sentences of the round that is on. */
  #sentences: string[] = [];
  #length = 0;
  #lastWords: SentenceGate | undefined;
  #endCall = false;
  #stopped = false;
  #isFinished = false;
  /** Tools that wait until the caller has heard everything. */
  #waiting: ((caughtUp: boolean) => void)[] = [];

  constructor(options: ReplyOptions) {
    this.#options = options;
    const { id, voice, playout, clock, latency, conversation, events, guardrails, wait } = options;
    this.#text = new AnswerText({
      clock,
      single: guardrails !== undefined,
      dryInMs: () => this.#speaker.dryInMs,
      early: (pieces) => void this.#excused(this.#gate.enter(pieces)),
    });
    this.#gate = new SentenceGate({ guardrails, pass: (piece, dropped) => this.#speak(piece, dropped) });
    this.#speaker = new Speaker({
      id,
      voice,
      playout,
      clock,
      wait,
      events: {
        firstAudio: (at) => latency.reached('firstAudio', at),
        firstFrameSent: (at) => {
          latency.reached('firstFrameSent', at);
          conversation.tell({ type: 'audible' });
        },
        firstFrameHeard: (at) => latency.heard(at),
        spoken: (text) => conversation.tell({ type: 'spoken', text }),
        caughtUp: () => {
          this.#release(true);
          events.sounds();
        },
        goesOn: () => events.sounds(),
        finished: () => this.#finish(),
        failed: (error) => this.#fail('tts', error),
      },
    });
  }

  /** True once the caller can have heard something. */
  get audible(): boolean {
    return this.#speaker.audible;
  }

  /** When the caller could hear the first of it; undefined before that. */
  get audibleAt(): number | undefined {
    return this.#speaker.audibleAt;
  }

  /** How far its speech has come. */
  get progress(): Pick<Speaker, 'isDry' | 'isGivenOut'> {
    return this.#speaker;
  }

  /** Since when the caller has heard all that there is of it, on the clock; undefined where they have not. */
  get drySince(): number | undefined {
    return this.#speaker.drySince;
  }

  /** The words that were said between two positions of the playout. */
  saidBetween(fromMs: number, toMs: number): string {
    return this.#speaker.saidBetween(fromMs, toMs);
  }

  start(): void {
    void this.#generate();
  }

  markPlayed(name: string): void {
    this.#speaker.markPlayed(name);
  }

  /**
   * Says `text` behind what is with the voice already, in the place of everything else. Guardrails see it, too. `begins` is told of each
   * of its sentences as the voice gives the first audio of it.
   */
  conclude(text: string, begins?: () => void): void {
    if (this.#stopped) return;
    this.#text.stop();
    this.#abort.abort();
    this.#gate.shut();
    this.#lastWords = new SentenceGate({
      guardrails: this.#options.guardrails,
      pass: (piece, dropped) => this.#speaker.say(piece, dropped, begins),
    });
    const said = this.#lastWords.finish([text]);
    if (said === undefined) this.#complete();
    else void said.then(() => this.#complete());
  }

  /**
   * Stops generating and speaking in this tick and says what was heard up to `playedMs`. Tools that run go on, but for those that
   * wait for the caller's ear. `isGivenUp`: whoever goes on brings a goodbye to its end. Idempotent.
   */
  stop(playedMs: number, { isGivenUp = false } = {}): ReplySplit {
    this.#stopped = true;
    this.#text.stop();
    this.#abort.abort();
    this.#release(false);
    this.#settleEnd(isGivenUp ? CALL_ENDS_LATER : CALL_GOES_ON);
    const gates = [this.#gate, ...(this.#lastWords === undefined ? [] : [this.#lastWords])];
    for (const gate of gates) gate.shut();
    const split = this.#speaker.stop(playedMs);
    const unsplit = this.#text.flush();
    // Last words come in the place of what was to be said.
    const waiting = this.#lastWords?.waiting ?? [...this.#gate.waiting, ...unsplit];
    const { rounds, heardAfter } = dealOut(split.heard, this.#rounds);
    return {
      heard: split.heard,
      unheard: joined([split.unheard, ...gates.flatMap(({ unheard }) => unheard), ...unsplit]),
      rest: joined([split.rest, ...waiting]),
      rounds,
      heardAfter,
      isOwed: !this.#isFinished && !this.#endCall && rounds.length > 0 && heardAfter === '',
      goodbye: this.#endCall ? joined([split.unsaid, ...waiting]) : undefined,
    };
  }

  async #generate(): Promise<void> {
    const { signal } = this.#abort;
    try {
      if ((this.#options.awaited ?? []).length > 0) await this.#settled(this.#options.awaited ?? []);
      while (!signal.aborted) {
        const calls = await this.#round();
        if (signal.aborted) return;
        const isLast = calls.length === 0 || this.#rounds.length > MAX_ROUNDS;
        if (calls.length > 0) await this.#settled(this.#startTools(calls));
        if (signal.aborted) return;
        if (isLast || this.#endCall || this.#length >= MAX_CHARS) break;
      }
      this.#complete();
    } catch (error) {
      if (!signal.aborted) this.#fail('llm', error);
    } finally {
      this.#text.stop();
    }
  }

  /** Asks once and speaks what comes. The calls that the language stage wants to have made. */
  async #round(): Promise<ModelToolCall[]> {
    const { source, timeouts, wait, clock, latency } = this.#options;
    const { signal } = this.#abort;
    const rounds = this.#rounds.map(({ sentences, runs }) => ({ text: sentences.join(' '), runs }));
    // A model that is no longer listened to is told so, also while the reply goes on.
    const asking = new AbortController();
    const asked = AbortSignal.any([signal, asking.signal]);
    const late = (event: LanguageModelEvent) => this.#count(event);
    const { firstMs, nextMs, isApplication = false } = timeouts;
    const patience = isApplication ? undefined : wait.thinking;
    const outOfPatience = () => void this.#gate.enter(this.#text.takeWords());
    const guard = { clock, signal, source: 'language model', firstMs, nextMs, patience, outOfPatience, late };
    const askedAt = clock.now();
    const calls: ModelToolCall[] = [];
    try {
      for await (const event of guardedStream(source(asked, rounds), guard)) {
        this.#count(event);
        if (signal.aborted) return [];
        if (event?.type === 'replaced') this.#text.breakOff();
        if (event?.type === 'end' && event.reason === 'interrupted')
          throw new ProviderError(BROKE_OFF, PASSING);
        if (event?.type === 'end') break;
        if (event?.type === 'end-call') this.#wantEnd();
        if (isToolCall(event)) calls.push(event);
        if (calls.length >= MAX_TOOL_CALLS) break;
        if (!isText(event)) continue;
        if (isApplication) wait.excuse(askedAt);
        latency.reached('firstToken', clock.now());
        const delta = event.delta.slice(0, MAX_CHARS - this.#length);
        this.#length += delta.length;
        await this.#excused(this.#gate.enter(this.#text.push(delta)));
        if (this.#length >= MAX_CHARS) break;
      }
    } finally {
      asking.abort();
      if (isApplication) wait.excuse(askedAt);
    }
    if (!signal.aborted) await this.#excused(this.#gate.finish(this.#text.flush()));
    return this.#options.tools === undefined ? [] : calls;
  }

  /** The time that the guardrails take is no provider's. */
  #excused(checked: Promise<void> | undefined): Promise<void> | undefined {
    const { clock, wait } = this.#options;
    const from = clock.now();
    return checked?.then(() => wait.excuse(from));
  }

  #count(event: LanguageModelEvent): void {
    const { events } = this.#options;
    if (event?.type === 'usage') events.usage(event.usage, event.payee);
    if (event?.type === 'recovered' || event?.type === 'replaced') events.remedied(event);
  }

  #startTools(events: readonly ModelToolCall[]): readonly ToolRun[] {
    const { tools } = this.#options;
    if (tools === undefined) return [];
    const calls = events.map(({ id, name, arguments: args, argumentsText }) => ({
      id,
      name,
      arguments: args,
      argumentsText,
    }));
    const hearing = { caughtUp: () => this.#caughtUp() };
    const runs = this.#rounds.length >= MAX_ROUNDS ? tools.refuse(calls) : tools.start(calls, hearing);
    this.#rounds.push({ sentences: this.#sentences, runs });
    this.#options.turns.called(runs);
    this.#sentences = [];
    const end = runs.filter((run) => run.endsCall && !run.isSettled);
    if (end.length > 0) this.#wantEnd();
    return runs.filter((run) => !end.includes(run));
  }

  /** Resolves when all are settled, or the reply is stopped. */
  async #settled(runs: readonly ToolRun[]): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return;
    const { clock, wait } = this.#options;
    const from = clock.now();
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
      signal.addEventListener('abort', stop, { once: true });
    });
    await Promise.race([stopped, Promise.all(runs.map((run) => run.settled))]);
    signal.removeEventListener('abort', stop);
    wait.excuse(from);
  }

  #speak(sentence: string, dropped: readonly Dropped[]): void {
    this.#options.latency.reached('firstSentence', this.#options.clock.now());
    this.#sentences.push(sentence);
    this.#speaker.say(sentence, dropped);
  }

  #caughtUp(): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(false);
    if (this.#speaker.caughtUp) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #release(caughtUp: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(caughtUp);
  }

  #settleEnd(text: string): void {
    for (const run of this.#rounds.flatMap(({ runs }) => runs))
      if (run.endsCall) run.settle({ text, error: null });
  }

  #complete(): void {
    if (!this.#stopped) this.#options.conversation.tell({ type: 'whole' });
    this.#speaker.complete();
  }

  #wantEnd(): void {
    this.#endCall = true;
    this.#options.conversation.tell({ type: 'ends' });
  }

  #finish(): void {
    if (this.#stopped) return;
    const { playout, events } = this.#options;
    this.#isFinished = true;
    if (this.#endCall) this.#settleEnd(CALL_ENDS);
    events.finished(this.stop(playout.playedMs));
  }

  #fail(stage: 'llm' | 'tts', error: unknown): void {
    if (!this.#stopped) this.#options.events.failed(stage, error);
  }
}

/** Models may send anything: an event of an unknown type, or with the wrong shape, is ignored. */
function isText(event: LanguageModelEvent): event is LanguageModelEvent & { type: 'text' } {
  return event?.type === 'text' && typeof event.delta === 'string' && event.delta !== '';
}

function isToolCall(event: LanguageModelEvent): event is LanguageModelEvent & { type: 'tool-call' } {
  return event?.type === 'tool-call' && typeof event.id === 'string' && typeof event.name === 'string';
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** A language stage that says `text`, with which the call ends. */
export async function* lastText(text: string): AsyncGenerator<LanguageModelEvent> {
  yield { type: 'text', delta: text };
  yield { type: 'end-call' };
}

/** A language stage that says `text` and nothing else. */
export async function* onlyText(text: string): AsyncGenerator<LanguageModelEvent> {
  yield { type: 'text', delta: text };
}
