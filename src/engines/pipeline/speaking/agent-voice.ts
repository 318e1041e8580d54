// What the agent says on one call: one reply at a time, a filler before it where it is slow, and nothing after it was stopped.
import type { TranscriptEntry } from '../../../contract/call-record.js';
import type { VoiceView } from '../../../conversation/phase.js';
import type { TokenUsage } from '../../../providers/language-model.js';
import type { Payee } from '../../../providers/remedy.js';
import type { Interruptibility } from '../hearing/barge-in.js';
import { CallerLoudness } from '../hearing/caller-loudness.js';
import type { Conversation } from '../../conversation.js';
import type { CallerWait } from '../caller-wait.js';
import { EchoGuard } from '../hearing/echo-guard.js';
import type { EngineContext } from '../../engine.js';
import { Fillers } from './fillers.js';
import type { Guardrails } from './guardrails.js';
import type { HeardFrame } from '../hearing/heard-frame.js';
import type { Lexicon } from '../../languages/lexicon.js';
import { LineSound } from '../hearing/line-sound.js';
import type { PipelineStages } from '../stages.js';
import { MeteredPlayout } from '../hearing/played-level.js';
import {
  Reply,
  type ReplyEvents,
  type ReplySource,
  type ReplySplit,
  type ThinkingTimeouts,
} from './reply.js';
import type { ToolBox } from '../../tools/tool-box.js';
import type { ToolRun } from '../../tools/tool-run.js';
import type { AnswerLatency, TurnBook } from '../../turn-book.js';
import type { TurnTakingSettings } from '../../turn-taking.js';

export interface VoiceEvents extends Omit<ReplyEvents, 'usage'> {
  /** What the language stage has used to answer a turn. Comes after the turn is over, too. */
  usage(usage: TokenUsage, turnIndex: number | null, payee: Payee | undefined): void;
}

export interface AgentVoiceOptions {
  readonly context: EngineContext;
  /** Tells a transcript entry that is no part of a turn's answer. */
  readonly tell: (entry: TranscriptEntry) => void;
  readonly stages: PipelineStages;
  readonly settings: TurnTakingSettings;
  readonly lexicon: Lexicon;
  readonly fillers: () => readonly string[];
  readonly timeouts: ThinkingTimeouts;
  readonly wait: CallerWait;
  /** The recognizer has no words before all was said. */
  readonly isRecognizedLate: boolean;
  /** False while nobody listens, and after the end of the call: a reply then does not begin. */
  readonly maySpeak: () => boolean;
  /** What the language stage may call. Closed with the voice. */
  readonly tools?: ToolBox | undefined;
  readonly guardrails?: Guardrails | undefined;
  readonly conversation: Pick<Conversation, 'tell'>;
  readonly turns: Pick<TurnBook, 'called'>;
  readonly events: VoiceEvents;
}

/** One generation of the language stage. */
export interface Utterance {
  readonly latency: AnswerLatency;
  readonly source: ReplySource;
  /** Tools of earlier replies whose results it needs. */
  readonly awaited?: readonly ToolRun[];
  /** The turn that it answers, and since when the caller waits: after a while without a sound a filler is due. */
  readonly answers?: { readonly turnIndex: number; readonly since: number };
}

/** In the first second of what it says, and in the last, the agent is not easily interrupted. */
const EDGE_MS = 1000;

export class AgentVoice {
  readonly #options: AgentVoiceOptions;
  readonly #fillers: Fillers;
  readonly #echo: EchoGuard;
  readonly #playout: MeteredPlayout;
  readonly #sound = new LineSound();
  readonly #loudness: CallerLoudness;
  #reply: Reply | undefined;
  #isPaused = false;
  #generation = 0;
  #startedAt = 0;
  /** When the last reply began. */
  #begunAt = 0;
  /** Since when the reply that is on is waited for. */
  #awaitedSince = 0;

  constructor(options: AgentVoiceOptions) {
    this.#options = options;
    const { clock, logger } = options.context;
    const playout = new MeteredPlayout(options.context.playout);
    this.#playout = playout;
    this.#fillers = new Fillers({
      phrases: options.fillers,
      guardrails: options.guardrails,
      voice: () => options.stages.voice,
      playout,
      wait: options.wait,
      clock,
      logger,
      tell: options.tell,
      sounds: () => options.events.sounds(),
    });
    const { lexicon } = options;
    const sound = this.#sound;
    this.#echo = new EchoGuard({
      clock,
      playout,
      sound,
      get stopWords() {
        return lexicon.stopWords;
      },
      filler: () => this.#fillers.sounding,
    });
    this.#loudness = new CallerLoudness(clock, sound, { isLate: options.isRecognizedLate });
  }

  /** The call begins. */
  start(): void {
    this.#startedAt = this.#options.context.clock.now();
  }

  /** True from the start of a reply, which is long before its first sound, until its end. */
  get isBusy(): boolean {
    return this.#reply !== undefined;
  }

  /** Since when the caller waits for the first sound of the reply, or for the next one; undefined where they do not. */
  get awaitedSince(): number | undefined {
    if (this.isAudible) return this.#reply?.drySince;
    return this.isBusy ? this.#awaitedSince : undefined;
  }

  /** True once the caller can have heard something of the reply. */
  get isAudible(): boolean {
    return this.#reply?.audible === true;
  }

  /** What the caller hears, beside what `isAudible` says. */
  get sound(): VoiceView {
    return {
      isDry: this.#reply?.progress.isDry === true,
      isFilling: this.#fillers.sounding !== undefined,
    };
  }

  get interruptibility(): Interruptibility {
    const { context, settings } = this.#options;
    if (this.#fillers.sounding !== undefined) return 'careful';
    const audibleAt = this.#reply?.audibleAt;
    if (audibleAt === undefined) return 'thinking';
    const now = context.clock.now();
    const isNew = now - this.#startedAt < settings.carefulMs;
    const { pushedMs, playedMs } = this.#playout;
    const isEnding = this.#reply?.progress.isGivenOut === true && pushedMs - playedMs < EDGE_MS;
    return isNew || isEnding || now - audibleAt < EDGE_MS ? 'careful' : 'speaking';
  }

  /** Begins a reply. Only one may be under way. Does nothing when there is no voice, or nobody to hear it. */
  say(utterance: Utterance): void {
    const { context, stages, settings, wait, events, maySpeak } = this.#options;
    const { timeouts, tools, guardrails, conversation, turns } = this.#options;
    const { clock } = context;
    const { voice } = stages;
    if (voice === undefined || !maySpeak()) return;
    const { latency, source, awaited, answers } = utterance;
    this.#generation += 1;
    this.#begunAt = clock.now();
    this.#awaitedSince = answers?.since ?? clock.now();
    wait.begin(this.#awaitedSince, answers === undefined ? 0 : wait.minAnswerMs);
    const reply = new Reply({
      id: `reply-${this.#generation}`,
      source,
      timeouts,
      wait,
      tools,
      awaited,
      guardrails,
      voice,
      playout: this.#playout,
      clock,
      latency,
      conversation,
      turns,
      events: {
        ...events,
        usage: (usage, payee) => events.usage(usage, answers?.turnIndex ?? null, payee),
        finished: (outcome) => this.#finished(() => events.finished(outcome)),
      },
    });
    this.#reply = reply;
    this.#echo.speaking(reply);
    if (answers !== undefined) {
      const isAwaited = () => this.#reply === reply && !latency.has('firstAudio');
      const delayMs = answers.since + settings.fillerAfterMs - clock.now();
      const sent = (at: number) => latency.fillerSent(at - answers.since);
      this.#fillers.arm({ turnIndex: answers.turnIndex, delayMs, isAwaited, sent });
    }
    reply.start();
  }

  /** Readies a filler for when it is needed. */
  prepareFiller(): void {
    this.#fillers.prepare();
  }

  markPlayed(name: string): void {
    this.#reply?.markPlayed(name);
  }

  /** True when the recognizer's text is what the agent says or has just said. */
  isEcho(text: string, piece: { isFinal: boolean; soundBeganAt: number | undefined }): boolean {
    const isEcho = this.#options.settings.echoGuard && this.#echo.isEcho(text, piece);
    if (!isEcho && text.trim() !== '') this.#loudness.broughtWords(piece.soundBeganAt);
    return isEcho;
  }

  /**
   * True when it takes words for the sound that is heard to silence the agent: it is not as loud as the caller, or the agent's own voice.
   * While the agent is only thinking, a caller who goes on need not be as loud as before.
   */
  ignoresSound(): boolean {
    const isCallers =
      this.interruptibility === 'thinking' ? this.#loudness.mayBeCallers : this.#loudness.isCallers;
    if (!isCallers) return true;
    if (this.#options.settings.echoGuard && this.#echo.isOwnSound) return true;
    this.#loudness.interrupts();
    return false;
  }

  /** No words have come of the sound that was waited for. */
  heardNothing(): void {
    this.#loudness.broughtNone();
  }

  /**
   * True when there is a reply, and the caller's frame is a voice too loud for what the line brings back of it. With a quieter one it takes
   * words to interrupt, as with one from before the reply, which is played again.
   */
  isTalkedOver(frame: HeardFrame): boolean {
    if (this.#options.context.clock.now() < this.#begunAt) return false;
    this.#sound.add(frame.dbfs, this.#playout.latestDbfs());
    if (!frame.voiced) return false;
    const mayEcho = this.#options.settings.echoGuard && this.#echo.mayEcho(frame);
    return this.isBusy && !mayEcho;
  }

  /** Silences the voice in this tick; language and tools go on. */
  pause(): void {
    if (this.#reply === undefined || this.#isPaused) return;
    this.#isPaused = true;
    this.#playout.pause();
    this.#options.wait.silenced();
    this.#echo.silent();
  }

  /** Goes on where it was. */
  goOn(): void {
    if (!this.#isPaused) return;
    const { context, wait } = this.#options;
    this.#isPaused = false;
    this.#playout.resume();
    wait.sounds(context.clock.now() + this.#playout.pushedMs - this.#playout.playedMs);
    this.#echo.goesOn();
  }

  /** Clears the carrier and stops language and voice in this tick. Undefined when there was no reply to stop. */
  interrupt(): ReplySplit | undefined {
    const isSilent = this.#reply === undefined && this.#fillers.sounding === undefined;
    return isSilent ? undefined : this.#stop(this.#playout.clear());
  }

  /** Says `text` as the last words of the reply, if there is one. `begins`: the voice gives the first audio of a sentence of it. */
  conclude(text: string, begins?: () => void): void {
    this.goOn();
    this.#fillers.disarm();
    this.#reply?.conclude(text, begins);
  }

  /** Stops in this tick, at the carrier too, and frees what is prepared. Tools that run go on. */
  giveUp(): ReplySplit | undefined {
    const split = this.#stop(this.#playout.clear(), { isGivenUp: true });
    this.#fillers.close();
    return split;
  }

  /** Stops, tools that run included, and frees what is prepared. */
  close(): ReplySplit | undefined {
    // First, so that what the reply tells of its tools is settled.
    this.#options.tools?.close();
    // Without a word to the carrier: the line is gone anyway.
    const split = this.#stop(this.#playout.playedMs);
    this.#fillers.close();
    return split;
  }

  #stop(playedMs: number, options?: { isGivenUp: boolean }): ReplySplit | undefined {
    const reply = this.#over();
    this.#options.wait.silenced();
    const split = reply?.stop(playedMs, options);
    this.#fillers.cut(playedMs);
    return split;
  }

  #finished(tell: () => void): void {
    this.#over();
    this.#options.wait.end();
    this.#fillers.disarm();
    tell();
  }

  #over(): Reply | undefined {
    const reply = this.#reply;
    this.#reply = undefined;
    if (this.#isPaused) this.#playout.resume();
    this.#isPaused = false;
    this.#echo.silent();
    return reply;
  }
}
