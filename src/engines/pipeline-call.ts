// One call of the pipeline: who has the floor. Hears the caller, decides the turns, starts and stops the agent's replies.
import { FRAME_MS } from '../audio/format.js';
import type { Timer } from '../base/clock.js';
import { describeError } from '../base/log.js';
import type { SpeechToTextSession } from '../providers/speech-to-text.js';
import type { TextToSpeechSession } from '../providers/text-to-speech.js';
import { BargeIn, type BargeInDecision } from './barge-in.js';
import { Conversation } from './conversation.js';
import { Endpointing } from './endpointing.js';
import type { Engine, EngineContext, EngineFact, EngineFailure, Resumption, SpokenText } from './engine.js';
import type { PipelineCallOptions } from './pipeline-call-options.js';
import { APOLOGY, APOLOGY_LIMIT_MS, FAILED, type Stage, toFailure } from './pipeline-failure.js';
import { onlyText, Reply, type ReplyOutcome, type ReplySource } from './reply.js';
import { SpeechDetector } from './speech-detector.js';
import type { ToolRun } from './tools/tool-run.js';
import { TurnBook } from './turn-book.js';
import type { TurnLatencyMeter } from './turn-latency.js';
import { UserSpeech } from './user-speech.js';
import { createVoiceActivity, type VoiceActivity } from './voice-activity.js';

/** How long a finished caller waits for the recogniser: with an open piece of text, and with none at all. */
const OPEN_TEXT_WAIT_MS = 1000;
const NO_TEXT_WAIT_MS = 2000;

/** Speech is recognised as such after three voiced frames. */
const SPEECH_START_MS = 3 * FRAME_MS;

export class PipelineCall implements Engine {
  readonly mode = 'pipeline';
  pushSpokenText?: (segment: SpokenText) => void;
  readonly #context: EngineContext;
  readonly #options: PipelineCallOptions;
  readonly #conversation: Conversation;
  readonly #turns: TurnBook;
  readonly #speech: UserSpeech;
  #detector = new SpeechDetector();
  readonly #endpointing: Endpointing;
  readonly #bargeIn = new BargeIn();
  #activity: VoiceActivity | undefined;
  #ears: SpeechToTextSession | undefined;
  #voice: TextToSpeechSession | undefined;
  #reply: Reply | undefined;
  #generation = 0;
  /** The caller has finished, and the recogniser may still have words. */
  #awaited: { speechEndedAt: number; turnEndedAt: number } | undefined;
  #timer: Timer | undefined;
  /** When the caller began to speak, epoch milliseconds. */
  #speechStartedAt: number | undefined;
  /** Rest of an answer that was cut off, until it is known that words were meant by it. */
  #cutOff = '';
  #failure: EngineFailure | undefined;
  #held = false;
  #state: 'new' | 'live' | 'ending' | 'closed' = 'new';

  constructor(context: EngineContext, options: PipelineCallOptions) {
    this.#context = context;
    this.#options = options;
    this.#conversation = new Conversation(options.systemPrompt);
    const { clock } = context;
    this.#turns = new TurnBook({
      conversation: this.#conversation,
      fact: (fact) => this.#fact(fact),
      wallNow: () => clock.wallNow(),
    });
    this.#speech = new UserSpeech({
      tell: (entry) => this.#fact({ type: 'transcript.segment', entry }),
      wallNow: () => this.#speechStartedAt ?? clock.wallNow(),
      turnIndex: () => (this.#reply?.audible === true ? this.#turns.nextIndex : this.#turns.userIndex),
    });
    this.#endpointing = new Endpointing({ clock, onEndOfTurn: (endedAt) => this.#callerFinished(endedAt) });
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'live';
    const { clock, logger } = this.#context;
    const { stt, tts, language, firstMessage } = this.#options;
    let opening: Stage = 'tts';
    try {
      this.#voice = this.#watched('tts', tts.open({ logger, language }));
      opening = 'stt';
      const events = {
        partial: (text: string) => this.#recognised(() => this.#speech.partial(text)),
        final: (text: string) => this.#recognised(() => this.#speech.final(text)),
        failed: (error: unknown) => this.#fail('stt', error),
      };
      const ears = this.#watched('stt', stt.open({ clock, logger, language, events }));
      this.#ears = ears;
      if (ears.pushSpokenText !== undefined)
        this.pushSpokenText = (segment) => this.#protected('stt', () => ears.pushSpokenText?.(segment));
      opening = 'engine';
      this.#activity = createVoiceActivity();
    } catch (error) {
      this.#fail(opening, error);
      return;
    }
    this.#protected('llm', () => this.#options.model.warmUp?.());
    if (firstMessage !== undefined && firstMessage !== '') this.#say(firstMessage);
  }

  pushAudio(frame: Int16Array): void {
    if (this.#state !== 'live' || this.#failure !== undefined || this.#held) return;
    this.#protected('stt', () => this.#ears?.pushAudio(frame));
    this.#protected('engine', () => this.#listen(this.#activity?.isVoiced(frame) ?? false));
  }

  /** Keys are in the record; this engine makes nothing of them. */
  pushDtmf(_digit: string): void {}

  markPlayed(name: string): void {
    this.#protected('engine', () => this.#reply?.markPlayed(name));
  }

  hold(): void {
    if (this.#state !== 'live' || this.#held) return;
    this.#held = true;
    this.#protected('engine', () => {
      this.#stopAwaiting();
      this.#endpointing.reset();
      this.#bargeIn.reset();
      this.#detector = new SpeechDetector();
      this.#interrupt();
      if (this.#failure === undefined) return;
      this.#failure.untold = true;
      this.#end('provider-failed');
    });
  }

  resume(how: Resumption): void {
    if (!this.#held) return;
    this.#held = false;
    if (this.#state === 'live') this.#protected('engine', () => this.#goOn(how));
  }

  close(): void {
    if (this.#state === 'closed') return;
    const reply = this.#reply;
    this.#reply = undefined;
    this.#options.tools?.close();
    this.#speech.take(this.#turns.userIndex);
    const split = reply?.stop(this.#context.playout.playedMs) ?? { heard: '', unheard: '' };
    this.#turns.complete(split, { interrupted: split.unheard !== '' });
    this.#state = 'closed';
    this.#timer?.cancel();
    this.#endpointing.reset();
    this.#activity?.close();
    for (const session of [this.#ears, this.#voice, ...(this.#options.owned ?? [])]) {
      try {
        this.#watched('engine', session?.close());
      } catch (error) {
        this.#log('provider did not close', error);
      }
    }
  }

  #listen(voiced: boolean): void {
    if (this.#detector.update(voiced)) {
      this.#speechStartedAt ??= this.#context.clock.wallNow() - SPEECH_START_MS;
      this.#speech.speechStarted();
      this.#stopAwaiting();
      this.#endpointing.speechStarted(this.#context.clock.now() - SPEECH_START_MS);
      if (this.#reply !== undefined) this.#bargeIn.speechStarted(SPEECH_START_MS - FRAME_MS);
    }
    if (this.#reply !== undefined) this.#decide(this.#bargeIn.frame(voiced, this.#phase));
    this.#endpointing.frame(voiced);
  }

  /** The recogniser has given text. */
  #recognised(take: () => void): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    this.#protected('engine', () => {
      const before = this.#speech.text;
      take();
      const { text } = this.#speech;
      if (this.#awaited !== undefined) {
        if (this.#speech.settled) this.#answer();
        return;
      }
      if (text === before || text === '' || this.#held) return;
      this.#endpointing.text(text);
      if (this.#reply !== undefined) this.#decide(this.#bargeIn.text(text, this.#phase));
    });
  }

  get #phase() {
    return this.#reply?.audible === true ? 'speaking' : 'thinking';
  }

  #decide(decision: BargeInDecision): void {
    if (!this.#options.interruptible) return;
    if (decision === 'interrupt') this.#interrupt();
    else if (decision === 'dismiss') this.#speech.dismiss();
  }

  /** The caller takes the floor: in this tick the carrier is cleared and language and voice are stopped. */
  #interrupt(): void {
    const reply = this.#reply;
    if (reply === undefined) return;
    this.#reply = undefined;
    this.#bargeIn.reset();
    const split = reply.stop(this.#context.playout.clear());
    if (split.heard === '' && this.#turns.userText !== '') {
      this.#turns.dropAnswer(split);
      return;
    }
    this.#cutOff = split.unheard;
    this.#turns.complete(split, { interrupted: !this.#held || split.unheard !== '' });
  }

  #callerFinished(speechEndedAt: number): void {
    if (this.#state !== 'live' || this.#failure !== undefined) return;
    if (this.#reply !== undefined) {
      if (!this.#options.interruptible) {
        this.#protected('stt', () => this.#ears?.finishUtterance());
        return;
      }
      this.#decide(this.#bargeIn.silence());
      if (this.#reply !== undefined) {
        this.#speechStartedAt = undefined;
        return;
      }
    }
    this.#awaitText(speechEndedAt);
  }

  /** Asks the recogniser for what it still has, and answers when that is there. */
  #awaitText(speechEndedAt: number): void {
    this.#stopAwaiting();
    const awaited = { speechEndedAt, turnEndedAt: this.#context.clock.now() };
    this.#awaited = awaited;
    this.#protected('stt', () => this.#ears?.finishUtterance());
    // The recogniser may have answered at once, or failed.
    if (this.#awaited !== awaited || this.#state !== 'live' || this.#failure !== undefined) return;
    if (this.#speech.settled) {
      this.#answer();
      return;
    }
    const waitMs = this.#speech.text === '' ? NO_TEXT_WAIT_MS : OPEN_TEXT_WAIT_MS;
    this.#timer = this.#context.clock.after(waitMs, () => this.#protected('engine', () => this.#answer()));
  }

  #stopAwaiting(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#awaited = undefined;
  }

  /** The caller's words are complete: the agent's turn to speak. */
  #answer(): void {
    const awaited = this.#awaited;
    this.#stopAwaiting();
    if (awaited === undefined) return;
    const { clock } = this.#context;
    const said = this.#speech.take(this.#turns.userIndex);
    const startedAt = this.#speechStartedAt ?? clock.wallNow();
    this.#speechStartedAt = undefined;
    const cutOff = this.#cutOff;
    this.#cutOff = '';
    if (said === '' && (this.#turns.userText ?? '') === '') {
      // A sound without words has cut the agent off: it goes on where it was.
      if (this.#turns.isOwed) this.#respond(this.#turns.open('', clock.wallNow()));
      else if (cutOff !== '') this.#say(cutOff);
      return;
    }
    const turn = this.#turns.open(said, startedAt);
    turn.latency.reached('speechEnded', awaited.speechEndedAt);
    turn.latency.reached('turnEnded', awaited.turnEndedAt);
    turn.latency.reached('textFinal', clock.now());
    this.#respond(turn);
  }

  #respond(turn: { latency: TurnLatencyMeter }): void {
    const { callId } = this.#context;
    const { model, tools: toolBox } = this.#options;
    const tools = toolBox?.definitions;
    const source: ReplySource = (signal, rounds) =>
      model.respond({ callId, messages: this.#turns.asking(rounds), tools, signal });
    this.#begin(turn.latency, source, this.#turns.unsettled);
  }

  /** After a hold: words that came before it are answered, and what it cut off is said after all where that is wanted. */
  #goOn(how: Resumption): void {
    const { clock } = this.#context;
    const cutOff = this.#cutOff;
    if (how === 'listen') {
      this.#cutOff = '';
      this.#turns.complete({ heard: '', unheard: '' }, { interrupted: true });
    }
    if (this.#speech.text !== '') this.#awaitText(clock.now());
    // A caller who was not transferred is told so.
    else if (this.#turns.isOwed) this.#respond(this.#turns.open('', clock.wallNow()));
    else if (how === 'listen') return;
    else if ((this.#turns.userText ?? '') !== '') this.#respond(this.#turns.open('', clock.wallNow()));
    else if (cutOff !== '') {
      this.#cutOff = '';
      this.#say(cutOff);
    }
  }

  /** A turn that the agent opens itself. */
  #say(text: string): void {
    const turn = this.#turns.open('', this.#context.clock.wallNow());
    this.#begin(turn.latency, () => onlyText(text));
  }

  #begin(latency: TurnLatencyMeter, source: ReplySource, awaited: readonly ToolRun[] = []): void {
    const voice = this.#voice;
    if (voice === undefined) return;
    const { playout, clock } = this.#context;
    this.#generation += 1;
    this.#bargeIn.reset();
    const reply = new Reply({
      id: `reply-${this.#generation}`,
      source,
      timeouts: this.#options.timeouts,
      tools: this.#options.tools,
      awaited,
      guardrails: this.#options.guardrails,
      voice,
      playout,
      clock,
      latency,
      events: {
        spoken: (text) => this.#turns.spoken(text),
        finished: (outcome) => this.#protected('engine', () => this.#finished(outcome)),
        failed: (stage, error) => this.#fail(stage, error),
      },
    });
    this.#reply = reply;
    reply.start();
  }

  #finished(outcome: ReplyOutcome): void {
    this.#reply = undefined;
    this.#bargeIn.reset();
    this.#turns.complete(outcome, { interrupted: false });
    if (this.#failure !== undefined) this.#end('provider-failed');
    else if (outcome.endCall) this.#end('agent-hangup');
    // Words that came while the agent could not be interrupted, or an agreement to what it said.
    else if (this.#speech.text !== '' && !this.#endpointing.active)
      this.#awaitText(this.#context.clock.now());
  }

  /** A provider has failed. The caller hears that something went wrong, if there is a voice to say it. */
  #fail(stage: Stage, error: unknown): void {
    if (this.#state !== 'live') return;
    this.#log(FAILED[stage], error);
    const apologising = this.#failure !== undefined;
    this.#failure ??= toFailure(stage, error);
    this.#stopAwaiting();
    this.#endpointing.reset();
    if (stage === 'tts' || this.#voice === undefined || this.#held) {
      this.#failure.untold = true;
      const split = this.#reply?.stop(this.#context.playout.playedMs);
      this.#reply = undefined;
      this.#turns.complete(split ?? { heard: '', unheard: '' }, { interrupted: split !== undefined });
      this.#end('provider-failed');
      return;
    }
    if (apologising) return;
    this.#timer = this.#context.clock.after(APOLOGY_LIMIT_MS, () => this.#end('provider-failed'));
    if (this.#reply !== undefined) this.#reply.conclude(APOLOGY);
    else this.#say(APOLOGY);
  }

  #end(reason: 'agent-hangup' | 'provider-failed'): void {
    if (this.#state !== 'live') return;
    this.#state = 'ending';
    this.#timer?.cancel();
    this.#endpointing.reset();
    this.#context.endCall(reason, this.#failure);
  }

  #fact(fact: EngineFact): void {
    if (this.#state !== 'closed') this.#context.fact(fact);
  }

  /** Nothing that a provider throws leaves the engine. */
  #protected(stage: Stage, task: () => unknown): void {
    if (this.#state === 'closed') return;
    try {
      this.#watched(stage, task());
    } catch (error) {
      this.#fail(stage, error);
    }
  }

  /** What a provider returns. It may be a promise where none is expected, and that one's failure must not end the process. */
  #watched<T>(stage: Stage, result: T): T {
    if (result instanceof Promise) result.catch((error: unknown) => this.#fail(stage, error));
    return result;
  }

  #log(sentence: string, error: unknown): void {
    this.#context.logger.warn({ callId: this.#context.callId, ...describeError(error) }, sentence);
  }
}
