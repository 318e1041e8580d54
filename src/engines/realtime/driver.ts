// The floor of a call with a realtime model at work: tells the machine what the caller and the model do, and does what it decides.
// Whether the model is still any good is judged here, too.
import { type FloorState, type Utterance, utteranceOf } from '../../conversation/floor.js';
import type { VoiceView } from '../../conversation/phase.js';
import type { Input, Live } from '../../conversation/step.js';
import type { RealtimeEvents } from '../../providers/realtime-model.js';
import type { Conversation, Driver, DriverEffect } from '../conversation.js';
import type { EngineContext } from '../engine.js';
import { keysAsText } from '../pressed-keys.js';
import type { RealtimeCallOptions } from './call-options.js';
import { silent } from '../failure.js';
import { RealtimeFillers } from './fillers.js';
import type { RealtimeLine } from './line.js';
import { RealtimeSpeech } from './speech.js';
import type { RealtimeTools } from './tools.js';
import type { RealtimeWatch } from './watch.js';
import type { ToolRun } from '../tools/tool-run.js';
import type { AnswerSplit, TurnBook } from '../turn-book.js';

type EventOf<Name extends keyof RealtimeEvents> = Parameters<Required<RealtimeEvents>[Name]>[0];

export interface RealtimeDriverOptions {
  readonly context: Pick<EngineContext, 'playout' | 'clock'>;
  readonly conversation: Conversation;
  readonly settings: Pick<RealtimeCallOptions, 'turnTaking'>;
  readonly line: RealtimeLine;
  readonly turns: TurnBook;
  readonly tools: RealtimeTools;
  readonly watch: RealtimeWatch;
  /** Everything that came so far has been heard, and no response is under way. */
  readonly caughtUp: () => void;
  /** An answer has more text than anybody would listen to. */
  readonly tooMuch: () => void;
}

const NOTHING: AnswerSplit = { heard: '', unheard: '' };

export class RealtimeDriver implements Driver {
  readonly live: Live;
  readonly #options: RealtimeDriverOptions;
  readonly #fillers: RealtimeFillers;
  /** The answer that is on; undefined while the agent has nothing to say. */
  #speech: RealtimeSpeech | undefined;
  /** Another engine goes on, and brings a goodbye to its end. */
  #isGivenUp = false;

  constructor(options: RealtimeDriverOptions) {
    this.#options = options;
    const { context, settings, tools, watch } = options;
    const { fillers: phrases, fillerAfterMs: afterMs } = settings.turnTaking;
    const isCaughtUp = () => this.#speech?.caughtUp ?? true;
    this.live = {
      hasVoice: true,
      get isCaughtUp() {
        return isCaughtUp();
      },
      get awaitsTools() {
        return tools.isAwaited;
      },
    };
    this.#fillers = new RealtimeFillers({
      clock: context.clock,
      phrases,
      afterMs,
      isRunning: () => tools.isRunning,
      isListening: () => !this.isHeld && !watch.value.isCallerSpeaking,
      soundsUntil: () => watch.soundsUntil,
      say: (phrase) => this.#fill(phrase),
    });
  }

  /** The call is about to end. Idempotent. */
  close(): void {
    this.#fillers.close();
    this.#tell({ type: 'ending' });
  }

  get isHeld(): boolean {
    return this.#options.conversation.isHeld;
  }

  get speech(): RealtimeSpeech | undefined {
    return this.#speech;
  }

  /** Another engine goes on: the agent stops in this tick. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#tell({ type: 'gives-up' });
  }

  /** The connection is gone. What is left of what the agent was told to say; undefined where it was told nothing, or that is complete. */
  breakOff(): string | undefined {
    const told = utteranceOf(this.#state)?.text ?? null;
    return told === null ? undefined : this.#speech?.breakOff(told);
  }

  /** The call is over. What was said and heard so far stands. */
  conclude(): void {
    const { context, turns } = this.#options;
    const split = this.#speech?.stop(context.playout.playedMs) ?? NOTHING;
    this.#speech = undefined;
    this.#tell({
      type: 'completed',
      answer: turns.accountOf(split),
      interrupted: split.unheard !== '',
    });
  }

  audio(itemId: string, audio: Uint8Array): void {
    const { line, watch } = this.#options;
    const speech = this.#speech;
    if (speech?.isResponding !== true) {
      watch.alive();
      return;
    }
    const wasDry = speech.isDry;
    watch.alive(speech.push(itemId, line.voiceOf(itemId, audio)));
    if (wasDry) this.#options.conversation.look();
  }

  text(itemId: string, delta: string): void {
    if (this.#speech?.text(itemId, delta) === true) this.#options.watch.alive();
  }

  responseEnded({ toolCalls: calls, reason }: EventOf<'responseEnded'>): void {
    const { tools, watch } = this.#options;
    const speech = this.#speech;
    if (speech?.isResponding !== true) {
      this.#tell({ type: 'response.ended', answer: 'none', hasTools: false });
      tools.refuse(calls);
      return;
    }
    const wasCut = reason === 'interrupted';
    if (calls.length > 0 && !wasCut) {
      // Nobody is hung up on in the place of words.
      const mayEnd = !this.#hasWords || speech.hasAudio;
      if (tools.start(calls, speech, { mayEnd })) this.#tell({ type: 'ends' });
      this.#fillers.arm();
    } else tools.refuse(calls);
    const { hasFilled } = watch.value;
    const hasTools = speech.roundCount > 0;
    // A phrase while a tool ran is no answer, nor is what was said before one.
    const hasAnswered = hasFilled || hasTools ? speech.hasResponseAudio : speech.hasAudio;
    // A service that breaks off what nobody has heard gives it once more, or is given up; where the caller speaks, it answers what they say instead.
    const isOwedStill = wasCut && !speech.hasResponseAudio;
    if (isOwedStill && (this.#hasWords || !watch.value.isCallerSpeaking))
      this.#tell({ type: 'owes', isAsked: true });
    const answer = calls.length > 0 || wasCut || hasAnswered ? 'given' : 'empty';
    const hasSound = speech.hasAudio && !hasFilled;
    this.#tell({ type: 'response.ended', answer, hasTools, hasSound });
  }

  /** Is the answer over? Tools that were waiting for the caller to have heard everything go on. */
  settle(): void {
    const { tools, watch } = this.#options;
    const speech = this.#speech;
    if (speech === undefined || !speech.caughtUp) return;
    if (!watch.isOwed) tools.release({ caughtUp: true });
    if (watch.isOwed || speech.awaitsTools) this.#options.conversation.look();
    else this.#finished(speech);
  }

  /** Tools that an engine before this one has begun. */
  adopt(runs: readonly ToolRun[]): void {
    this.#options.tools.adopt(runs);
    this.#fillers.arm();
  }

  /** The model has the results of tools. */
  resultsGiven(speech: RealtimeSpeech | undefined): void {
    this.#tell({ type: 'results', isCurrent: speech === this.#speech });
    if (this.#isUnsaid) this.#tell({ type: 'unsaid' });
    // Where no answer follows on them, what they came behind may have been heard to its end.
    this.settle();
  }

  keysComplete(keys: string): void {
    this.#tell({ type: 'keys.complete', keys: keysAsText(keys) });
  }

  /** There is another connection. @throws ProviderError when those before have come to nothing too often */
  reconnected({ gapMs, hearsAgain = false }: EventOf<'reconnected'>): void {
    const isResponding = this.#speech?.isResponding === true;
    this.#tell({ type: 'connection.back', isResponding, hearsAgain, gapMs });
  }

  /** Owed to nobody: a model that says nothing now is not given up for it. A response may be under way that has not sounded yet. */
  #fill(phrase: string): void {
    const { line, tools, watch } = this.#options;
    if (!line.isReady || watch.isOwed || this.#speech?.isResponding === true) return;
    // The words that the caller is to hear serve as well.
    if (this.#isUnsaid) {
      this.#postponeTools();
      return;
    }
    this.#tell({ type: 'filler.said' });
    line.ask((session) => {
      if (session.fill !== undefined) session.fill(phrase);
      else if (tools.postpone()) session.respond();
      else session.say(phrase);
    });
  }

  #finished(speech: RealtimeSpeech): void {
    const { context, tools, turns } = this.#options;
    tools.settleEnd(speech, this.#state.manner.ends === 'agent-hangup' ? 'ends' : 'goes-on');
    const split = speech.stop(context.playout.playedMs);
    this.#tell({ type: 'finished', answer: turns.accountOf(split) });
    this.#tell({ type: 'over' });
  }

  /** The model waits for none of them any more: it can say what it was told to. */
  #postponeTools(): void {
    this.#options.tools.postpone();
    if (this.#isUnsaid) this.#tell({ type: 'unsaid' });
  }

  /** The model was told to say something, and has called tools without a sound of it. */
  get #isUnsaid(): boolean {
    return this.#hasWords && this.#speech?.hasAudio === false && !this.#speech.isResponding;
  }

  /** The model was told what to say. */
  get #hasWords(): boolean {
    return (utteranceOf(this.#state)?.text ?? null) !== null;
  }

  get #state(): FloorState {
    return this.#options.conversation.floor;
  }

  #tell(input: Input): void {
    this.#options.conversation.tell(input);
  }

  get sound(): VoiceView {
    return { isDry: this.#speech?.isDry === true, isFilling: false };
  }

  perform(effect: DriverEffect): void {
    const { line } = this.#options;
    switch (effect.type) {
      case 'say': {
        const { utterance } = effect;
        const text = utterance?.text ?? null;
        // Who was told of the turn may have stopped it.
        if (utterance === null || text === null || utteranceOf(this.#state)?.id !== utterance.id) break;
        this.#begin(utterance);
        line.ask((session) => session.say(text));
        break;
      }
      case 'respond':
        line.ask((session) => session.respond());
        break;
      case 'ask-again': {
        const { text } = effect;
        line.ask((session) => (text === null ? session.respond() : session.say(text)));
        break;
      }
      case 'begin-answer': {
        const utterance = utteranceOf(this.#state);
        if (utterance !== undefined) (this.#speech ?? this.#begin(utterance)).responseStarted();
        break;
      }
      case 'end-response':
        this.#speech?.responseEnded();
        break;
      case 'take-up-response':
        this.#takeUp(effect);
        break;
      case 'barren':
        throw silent('realtime model');
      case 'suppress':
        line.ask((session) => session.cancel());
        break;
      case 'postpone-tools':
        this.#postponeTools();
        break;
      case 'tell-keys': {
        const { text } = effect;
        line.ask((session) => session.addText({ role: 'user', text }));
        break;
      }
      case 'interruptible':
        line.ask((session) => session.update({ interruptible: effect.value }));
        break;
      case 'stop':
        if (effect.isOwn) line.ask((session) => session.cancel());
        this.#stop();
        break;
      case 'answer-over':
        this.#speech = undefined;
        break;
      // A realtime model hears the caller by itself, and its watch knows how long they wait.
      default:
        break;
    }
  }

  #stop(): void {
    const { context, conversation, line, tools, turns } = this.#options;
    const speech = this.#speech;
    if (speech === undefined) {
      this.#tell({ type: 'stopped', account: null, answer: null });
      return;
    }
    const split = speech.stop(context.playout.clear());
    conversation.tell({ type: 'silenced' });
    for (const item of split.cut) line.ask((session) => session.truncate(item));
    tools.release({ caughtUp: false });
    tools.settleEnd(speech, this.#isGivenUp ? 'ends-later' : 'goes-on');
    const { heard, unheard } = split;
    const account = { heard, unheard, rest: '', isOwed: false, goodbye: undefined };
    this.#tell({ type: 'stopped', account, answer: turns.accountOf(split) });
  }

  /** What was under way on the connection before is asked for again, unless it comes by itself, or is complete. */
  #takeUp({ hearsAgain, gapMs }: Extract<DriverEffect, { type: 'take-up-response' }>): void {
    const { conversation, line } = this.#options;
    const left = this.breakOff();
    const isAsked = left !== undefined || !hearsAgain;
    if (left === '') this.#tell({ type: 'response.ended', answer: 'none', hasTools: false });
    else {
      if (isAsked) line.ask((session) => (left === undefined ? session.respond() : session.say(left)));
      this.#tell({ type: 'owes', isAsked, waitedMs: gapMs });
    }
    this.#speech?.responseEnded();
    conversation.look();
  }

  #begin({ id }: Pick<Utterance, 'id'>): RealtimeSpeech {
    const { caughtUp, context, tooMuch } = this.#options;
    this.#speech = new RealtimeSpeech({
      id: `answer-${id}`,
      playout: context.playout,
      clock: context.clock,
      events: {
        firstFrameSent: (at) => {
          this.#tell({ type: 'reached', milestone: 'firstFrameSent', time: at });
          this.#tell({ type: 'audible' });
        },
        firstFrameHeard: (at) => this.#tell({ type: 'reached', milestone: 'heard', time: at }),
        spoken: (text) => this.#tell({ type: 'spoken', text }),
        caughtUp,
        tooMuch,
      },
    });
    return this.#speech;
  }
}
