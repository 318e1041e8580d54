// Plays schedules of inputs on the machine, as its drivers would: with what stands beside the floor, and what was said and heard.
import {
  type Account,
  deadlineOf,
  type FloorEffect,
  type FloorInput,
  type FloorPolicy,
  type FloorState,
  NOBODY_SPEAKS,
  requestsIn,
  type Step,
  type Unsaid,
  type Utterance,
  utteranceOf,
  type View,
  yields,
} from '../../src/conversation/floor.js';
import { stepFloor } from '../../src/conversation/floor-step.js';

/** Something that happens. What makes no sense as things stand does not: nobody interrupts an agent who is silent. */
export type Act =
  | { readonly act: 'wait'; readonly ms: number }
  | {
      readonly act:
        | 'speak'
        | 'fall silent'
        | 'say nothing'
        | 'press'
        | 'finish pressing'
        | 'vendor interrupts';
    }
  | { readonly act: 'words'; readonly text: string }
  | { readonly act: 'interrupt' | 'doubt' | 'sign' }
  | { readonly act: 'answer begins' | 'audible' | 'ends call' | 'heard out' | 'tool gives' }
  | { readonly act: 'hold' }
  | { readonly act: 'ask'; readonly interrupts: boolean }
  | { readonly act: 'resume'; readonly how: 'continue' | 'listen' | 'news' };

export type StepFunction = typeof stepFloor;

export interface Mode {
  /** Whether every state is also stored and read again. @default true */
  readonly isStored?: boolean;
  readonly policy: FloorPolicy;
  readonly greeting: { readonly text: string; readonly interruptible: boolean };
}

/** What a schedule has come to. */
export interface Played {
  /** Sentences about what must never be, that are not true. */
  readonly broken: readonly string[];
  readonly steps: number;
}

interface Voice {
  readonly utterance: Utterance;
  /** A part of it was heard. */
  isHeard: boolean;
}

const END = { isCutShort: false };

class Play {
  readonly broken: string[] = [];
  steps = 0;
  at = 0;
  state: FloorState = NOBODY_SPEAKS;
  voice: Voice | undefined;
  /** What the caller said or pressed that no turn has taken. */
  said = '';
  keys = false;
  isSounding = false;
  awaitsWords = false;
  /** What the open turn answers; undefined where none is open. */
  userText: string | undefined;
  isOwed = false;
  hasNews = false;
  isAwaited = false;
  isOver = false;
  /** What a hold has cut off before a word of it was heard. */
  cutByHold: Unsaid | undefined;
  prompts = 0;
  /** Somebody asks a silent agent for words right now. */
  asks = false;
  /** Requests that were made, and those that were told of. */
  asked: string[] = [];
  told: string[] = [];

  constructor(
    private readonly mode: Mode,
    private readonly step: StepFunction,
  ) {}

  get isHeld(): boolean {
    return this.state.floor.phase === 'held';
  }

  get view(): View {
    const { endsTurns } = this.mode.policy;
    return {
      isListening: !this.isHeld,
      maySpeak: true,
      caller: {
        hasText: !endsTurns && this.said !== '',
        hasKeys: !endsTurns && this.keys,
        isSounding: this.isSounding,
        isActive: this.isSounding || this.awaitsWords || this.isAwaited,
      },
      turn: endsTurns
        ? { userText: undefined, isOwed: false, hasNews: false }
        : { userText: this.userText, isOwed: this.isOwed, hasNews: this.hasNews },
      isTakenOver: false,
      isAwaited: this.isAwaited,
      isCaughtUp: this.voice === undefined,
      awaitsTools: false,
    };
  }

  never(isSo: boolean, sentence: string): void {
    if (isSo) this.broken.push(sentence);
  }

  tell(input: FloorInput): void {
    this.steps += 1;
    const before = this.state;
    const view = this.view;
    const timed = { ...input, at: this.at };
    const step = this.step(before, timed, view, this.mode.policy);
    if (this.mode.isStored !== false) this.checkStored(before, timed, view, step);
    this.state = step.state;
    for (const effect of step.effects) {
      this.never(
        this.isOver && effect.type !== 'complete-turn',
        'something is done after the call was to end',
      );
      this.perform(effect);
    }
  }

  /** A state that was stored and read again goes on in the same way. */
  checkStored(state: FloorState, input: FloorInput & { at: number }, view: View, step: Step): void {
    const copy = JSON.parse(JSON.stringify(state)) as FloorState;
    const again = this.step(copy, input, view, this.mode.policy);
    this.never(JSON.stringify(again) !== JSON.stringify(step), 'a stored state goes on in another way');
  }

  perform(effect: FloorEffect): void {
    switch (effect.type) {
      case 'say':
      case 'answer':
      case 'answer-again':
        this.begin(effect.utterance, effect.type);
        break;
      case 'begin-answer':
        this.isAwaited = false;
        this.voice ??= { utterance: utteranceOf(this.state) as Utterance, isHeard: false };
        this.userText ??= '';
        break;
      case 'respond':
      case 'expect-answer':
        this.isAwaited = true;
        break;
      case 'stop':
        this.stop();
        break;
      case 'expect-words':
        this.awaitsWords = true;
        break;
      case 'take-words':
      case 'dismiss-words':
        this.said = '';
        this.keys = false;
        break;
      case 'tell-keys':
        this.keys = false;
        break;
      case 'complete-turn':
        this.userText = undefined;
        if (effect.isAnswered === true) this.isOwed = false;
        break;
      case 'requested':
        this.never(this.told.includes(effect.id), 'a request is told of twice');
        this.told.push(effect.id);
        break;
      case 'hang-up':
        this.never(
          effect.reason === 'idle' &&
            (this.said !== '' || this.isSounding) &&
            !this.mode.policy.endsTurns &&
            this.prompts === 0,
          'a caller who speaks is taken for idle',
        );
        this.isOver = true;
        this.tell({ type: 'ending' });
        break;
      default:
        break;
    }
  }

  begin(utterance: Utterance | null, type: 'say' | 'answer' | 'answer-again'): void {
    this.never(this.voice !== undefined, 'two voices speak at once');
    this.never(this.isHeld && utterance !== null, 'something is said while nobody listens');
    if (type === 'answer') {
      this.userText = `${this.userText ?? ''} ${this.said}`.trim();
      this.said = '';
      this.keys = false;
    } else this.userText ??= '';
    if (type === 'answer-again') this.hasNews = false;
    const isRequest = utterance?.manner.request !== undefined && this.asks;
    this.never(isRequest && this.isSounding, 'a request is said into what the caller says');
    if (utterance === null) return;
    this.voice = { utterance, isHeard: false };
    if (this.mode.policy.endsTurns) this.isAwaited = true;
    if (utterance.text === this.cutByHold?.text) this.cutByHold = undefined;
  }

  stop(): void {
    const { voice } = this;
    this.voice = undefined;
    this.isAwaited = false;
    this.tell({ type: 'stopped', account: voice === undefined ? null : accountOf(voice, this.mode.policy) });
    this.never(this.state.floor.phase === 'stopping', 'a stop is never over');
    if (this.isHeld && voice !== undefined && !voice.isHeard && voice.utterance.text !== null)
      this.cutByHold = { text: voice.utterance.text, manner: voice.utterance.manner };
  }

  /** The agent has said all that it had to say, and the caller has heard it. */
  heardOut(): void {
    const { voice } = this;
    if (voice === undefined) return;
    const { ends } = this.state.manner;
    const wants = this.state.isCallerOwed || this.said !== '' || this.keys || this.isSounding;
    this.voice = undefined;
    this.isAwaited = false;
    this.tell({ type: 'finished' });
    this.tell({ type: 'over' });
    this.never(ends === 'agent-hangup' && !this.isOver, 'the call goes on behind a goodbye');
    this.never(ends === 'idle' && !wants && !this.isOver, 'the call goes on behind a goodbye to nobody');
    this.never(ends === undefined && this.isOver, 'the call ends without a goodbye');
  }

  do(act: Act): void {
    if (this.isOver) return;
    const { policy } = this.mode;
    const hears = !this.isHeld;
    const speaks = this.voice !== undefined;
    const wasYielding = yields(this.state, this.at, policy);
    const before = this.voice;
    switch (act.act) {
      case 'wait':
        this.wait(act.ms);
        break;
      case 'speak':
        if (hears) {
          this.isSounding = true;
          if (policy.endsTurns) {
            this.prompts = 0;
            this.tell({ type: 'caller.active' });
          }
        }
        break;
      case 'words':
        if (hears && !policy.endsTurns) {
          this.prompts = 0;
          this.said = `${this.said} ${act.text}`.trim();
          this.tell({ type: 'caller.active' });
        }
        break;
      case 'interrupt':
      case 'doubt':
      case 'sign':
        if (hears && speaks && !policy.endsTurns)
          this.tell({
            type: ({ interrupt: 'interrupted', doubt: 'doubted', sign: 'signed' } as const)[act.act],
          });
        break;
      case 'vendor interrupts':
        if (hears && policy.endsTurns) this.tell({ type: 'cut-off' });
        break;
      case 'fall silent':
        this.fallSilent();
        break;
      case 'say nothing':
        if (this.awaitsWords && hears) this.complete();
        break;
      case 'press':
        if (hears) {
          this.keys = true;
          this.prompts = 0;
          this.tell({ type: 'key' });
        }
        break;
      case 'finish pressing':
        if (hears && this.keys) this.tell({ type: 'keys.complete' });
        break;
      case 'answer begins':
        if (policy.endsTurns) this.tell({ type: 'began' });
        break;
      case 'audible':
        if (this.voice !== undefined) {
          this.voice.isHeard = true;
          this.isAwaited = false;
          this.tell({ type: 'audible' });
        }
        break;
      case 'ends call':
        if (speaks) this.tell({ type: 'ends' });
        break;
      case 'heard out':
        if (this.voice?.isHeard === true && utteranceOf(this.state)?.isPaused !== true) this.heardOut();
        break;
      case 'tool gives':
        if (policy.endsTurns) this.tell({ type: 'results', isCurrent: speaks });
        else {
          this.hasNews = true;
          if (hears) this.tell({ type: 'news' });
        }
        break;
      case 'ask':
        this.ask(act.interrupts);
        break;
      case 'hold':
        this.hold();
        break;
      case 'resume':
        this.resume(act.how);
        break;
    }
    this.never(
      !this.isOver && this.asked.some((id) => this.told.includes(id) === requestsIn(this.state).includes(id)),
      'a request is lost, or told of and still to be said',
    );
    const isCallers = [
      'press',
      'finish pressing',
      'interrupt',
      'doubt',
      'sign',
      'fall silent',
      'say nothing',
    ];
    this.never(
      before !== undefined && !wasYielding && this.voice !== before && isCallers.includes(act.act),
      'what may not be interrupted is interrupted',
    );
    const dueAt = deadlineOf(this.state);
    this.never(dueAt !== null && dueAt < this.at, 'a deadline lies in the past');
    this.never(
      utteranceOf(this.state) === undefined && this.voice !== undefined,
      'nobody has the floor who speaks',
    );
  }

  ask(interrupts: boolean): void {
    const request = `request ${this.asked.length}`;
    const { voice } = this;
    const isPaused = utteranceOf(this.state)?.isPaused === true;
    const wasHeard = voice?.isHeard === true;
    const isAnswer = voice?.utterance.text === null;
    this.asked.push(request);
    this.asks = voice === undefined;
    this.tell({ type: 'request', text: request, manner: { request }, interrupts });
    this.asks = false;
    this.never(
      !interrupts && voice !== undefined && this.voice !== voice,
      'a request that waits cuts the agent off',
    );
    if (!interrupts || voice === undefined || this.isHeld || isPaused) return;
    this.never(
      this.voice?.utterance.manner.request !== request,
      'a request that interrupts is not said at once',
    );
    this.never(
      isAnswer && !wasHeard && !this.state.isCallerOwed,
      'an answer that a request came before is lost',
    );
  }

  wait(ms: number): void {
    const until = this.at + ms;
    for (
      let dueAt = deadlineOf(this.state);
      dueAt !== null && dueAt <= until;
      dueAt = deadlineOf(this.state)
    ) {
      this.at = Math.max(this.at, dueAt);
      const had = this.voice;
      this.tell({ type: 'due' });
      if (this.voice !== undefined && had === undefined) this.prompts += 1;
      this.never(this.prompts > 3, 'a silent caller is asked without end');
      if (this.isOver) return;
    }
    this.at = until;
  }

  fallSilent(): void {
    if (!this.isSounding || this.isHeld) return;
    this.isSounding = false;
    const { policy } = this.mode;
    if (policy.endsTurns) {
      this.prompts = 0;
      this.tell({ type: 'caller.finished', agoMs: 500 });
      return;
    }
    const means = this.said !== '' && utteranceOf(this.state) !== undefined ? 'interrupted' : 'unknown';
    this.tell({ type: 'quiet', end: { ...END, endedAt: this.at }, means });
    if (this.awaitsWords && this.said !== '') this.complete();
  }

  complete(): void {
    this.awaitsWords = false;
    const hadWords = this.said !== '';
    const wasBusy = this.voice !== undefined;
    const times = { speechEndedAt: this.at, turnEndedAt: this.at, isCutShort: false, isInSound: false };
    this.tell({ type: 'caller.complete', times });
    this.never(
      hadWords && !wasBusy && this.voice === undefined && !this.isOver,
      'somebody who has said something is not answered',
    );
  }

  hold(): void {
    if (this.isHeld) return;
    this.awaitsWords = false;
    this.isSounding = false;
    this.tell({ type: 'hold' });
    this.never(!this.isHeld, 'a hold does not hold');
    this.never(this.voice !== undefined, 'the agent speaks into a hold');
  }

  resume(how: 'continue' | 'listen' | 'news'): void {
    if (!this.isHeld) return;
    const { cutByHold } = this;
    const hasMore = this.said !== '' || this.keys || this.isOwed || this.hasNews || this.isAwaited;
    this.tell({ type: 'resume', how: how === 'news' ? { news: 'The line is busy.' } : how });
    this.never(this.isHeld, 'a hold is never over');
    const isSaid = this.voice?.utterance.text === cutByHold?.text || this.isAwaited;
    this.never(
      how === 'continue' && cutByHold !== undefined && !hasMore && !isSaid,
      'what a hold cut off is never said',
    );
    this.cutByHold = undefined;
  }
}

function accountOf({ isHeard, utterance }: Voice, { endsTurns }: FloorPolicy): Account {
  const text = utterance.text ?? 'An answer of two sentences. Here is the other.';
  const rest = endsTurns ? '' : text;
  const goodbye = utterance.manner.ends === undefined ? undefined : text;
  return isHeard
    ? { heard: 'An', unheard: text, rest, isOwed: false, goodbye }
    : { heard: '', unheard: utterance.text === null ? text : '', rest, isOwed: false, goodbye };
}

/** Plays `acts` in a call that begins with its greeting. */
export function play(acts: readonly Act[], mode: Mode, step: StepFunction = stepFloor): Played {
  const played = new Play(mode, step);
  const { text, interruptible } = mode.greeting;
  played.tell({ type: 'say', text, manner: interruptible ? {} : { interruptible } });
  for (const act of acts) {
    played.do(act);
    if (played.broken.length > 0) break;
  }
  return { broken: played.broken, steps: played.steps };
}
