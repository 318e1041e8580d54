// Plays schedules of what happens in a call on the whole machine, as the drivers of both kinds would: one that hears the caller on this side,
// asks a model and speaks, and one with somebody who hears the caller by itself, knows when they have finished (`endsTurns`), and speaks.
import type { TranscriptEntry } from '../../src/contract/call-record.js';
import {
  type Account,
  isHeld,
  isWanted,
  owedOf,
  requestsIn,
  type Unsaid,
  type Utterance,
  utteranceOf,
  yields,
} from '../../src/conversation/floor.js';
import { agentOf, handedOver, hasSaid, withAgent } from '../../src/conversation/handoffs.js';
import { LIMITS } from '../../src/conversation/limits.js';
import { begun, type ConversationState, deadlineOf } from '../../src/conversation/state.js';
import {
  callerIn,
  type Effect,
  type Input,
  type Live,
  type Policy,
  step,
} from '../../src/conversation/step.js';
import { isTooLate, stillOwed } from '../../src/conversation/succession.js';
import type { Recourse } from '../../src/conversation/trouble.js';
import {
  type AnswerAccount,
  answeredIn,
  awaitedIn,
  indexOf,
  newsIn,
  nextToolIds,
  runningIn,
} from '../../src/conversation/turns.js';
import { textOf } from '../../src/conversation/untaken.js';
import { beginWait, deadlineOf as waitDeadline, NOBODY_WAITS } from '../../src/conversation/wait.js';
import { beginningOf, firstWordsOf } from '../../src/engines/beginning.js';
import type { EngineContext } from '../../src/engines/engine.js';
import { type Act, AT_BEST, CALLERS, TURN } from './acts.js';

export type StepFunction = typeof step;

export interface Mode {
  /** Whether every state is also stored and read again. @default true */
  readonly isStored?: boolean;
  readonly policy: Policy;
  readonly greeting: { readonly text: string; readonly interruptible: boolean };
  /** Drivers that are left to take the place of one that fails, of the other kind each time. @default 0 */
  readonly fallbacks?: number;
}

/** What a schedule has come to. */
export interface Played {
  /** Sentences about what must never be, that are not true. */
  readonly broken: readonly string[];
  readonly steps: number;
}

type Words = Pick<Utterance, 'text' | 'manner'>;

/** One thing that the agent says. */
interface Voice {
  readonly utterance: Utterance;
  words: string[];
  /** So many of the words were heard. */
  heard: number;
  /** So many came before tools were called. */
  given: number;
  /** Tools that were called behind so many words. */
  readonly rounds: { readonly at: number; readonly tools: string[] }[];
  /** Tools that it waits for. */
  awaits: string[];
  /** The one that ends the call. */
  endTool: string | undefined;
  /** The call ends with it. */
  ends: boolean;
  /** Whoever answers is at it. */
  isResponding: boolean;
  /** Whoever was told to say it has called a tool in its place. */
  isUnsaid: boolean;
  /** From this word on it is the apology that the call ends with. */
  apologyAt: number | undefined;
}

const NOTHING: AnswerAccount = { heard: '', unheard: '', rounds: [], heardAfter: '', isOwed: false };
const KEYS = 'The caller pressed 1';
const REPEAT = 'Once more, please.';
const ACTS_TO_HANG_UP = 2;
const FOUND = { text: 'found', error: null };
const ANSWER_WORD = /^a\d+\.\d+$/;

/** No caller waits longer: their silence, once more what an answer has in any case, and an apology that begins. */
const LONGEST_SILENCE_MS = LIMITS.silence.lastMs + LIMITS.answer.minMs + LIMITS.apology.soundMs;

class Play {
  readonly broken: string[] = [];
  steps = 0;
  at = 0;
  state: ConversationState;
  policy: Policy;
  fallbacks: number;
  voice: Voice | undefined;
  isSounding = false;
  pieces = 0;
  isHearing = true;
  isConnected = true;
  /** It has taken the call over, and nobody has heard anything of it. */
  isUnheard = false;
  isOver = false;
  /** It is to be hung up: the state is kept first, in the time of so many acts. */
  hangsUpIn: number | undefined;
  /** Nobody does anything unasked. */
  isAtBest = false;
  /** The call ends with a failure, which another driver may take over from. */
  hasFailed = false;
  /** Words that were heard. */
  readonly heard = new Set<string>();
  /** The floor, and steps of the history, that were looked at. */
  lookedAt: ConversationState['floor'] | undefined;
  looked = 0;
  lookedNews: object | undefined;
  /** Since when the caller waits for an answer to something that they have said. */
  owedSince: number | undefined;
  /** What a hold has cut off before a word of it was heard. */
  cutByHold: Unsaid | undefined;
  /** What a driver has left in the middle of a hold: the next one begins when that is over. */
  between: ConversationState | undefined;
  prompts = 0;
  answers = 0;
  items = 0;
  term = 1;
  /** The last turns that began and ended. */
  started = -1;
  completed = -1;
  /** Requests that were made, and those that were told of. */
  readonly asked: string[] = [];
  readonly told: string[] = [];
  /** Those behind which the caller is asked, in the same words, what they have said. */
  readonly askedBehind = new Set<string>();
  /** Tools whose results were given to whoever answers. */
  readonly known = new Set<string>();
  /** Those that somebody has begun to say. */
  readonly begun = new Set<string>();

  readonly live: Live;

  constructor(
    private readonly mode: Mode,
    private readonly step: StepFunction,
  ) {
    this.policy = mode.policy;
    this.fallbacks = mode.fallbacks ?? 0;
    this.state = begun({ hasGreeting: true });
    this.live = this.lives();
  }

  get isHeld(): boolean {
    return isHeld(this.state.floor);
  }

  get utterance(): Utterance | undefined {
    return utteranceOf(this.state.floor);
  }

  get caller() {
    return callerIn(this.state, this.policy);
  }

  /** What the caller said that no turn has taken, where it is gathered on this side. */
  get said(): string {
    return textOf(this.state.untaken);
  }

  get keys(): boolean {
    const { isPressing, keys } = this.state.untaken;
    return isPressing || keys !== '';
  }

  /** Since when words are waited for, of what ended then. */
  get awaitsSince(): number | undefined {
    return this.state.untaken.ended?.turnEndedAt;
  }

  /** Looked up as it is asked for. */
  lives(): Live {
    const voice = () => this.voice;
    const endsTurns = () => this.policy.endsTurns;
    const awaited = () => awaitedIn(this.state.turns);
    return {
      hasVoice: true,
      get isCaughtUp() {
        return voice() === undefined;
      },
      get awaitsTools() {
        return endsTurns() && awaited().length > 0;
      },
    };
  }

  never(isSo: boolean, sentence: string): void {
    if (isSo) this.broken.push(sentence);
  }

  tell(input: Input): void {
    this.steps += 1;
    const { state, at } = this;
    const given = { at: { now: at, wall: at }, live: this.live, policy: this.policy };
    const next = this.step(state, input, given);
    if (this.mode.isStored !== false) {
      const again = this.step(JSON.parse(JSON.stringify(state)), input, given);
      this.never(JSON.stringify(again) !== JSON.stringify(next), 'a stored state goes on in another way');
    }
    this.state = next.state;
    for (const effect of next.effects) this.perform(effect);
  }

  perform(effect: Effect): void {
    switch (effect.type) {
      case 'facts':
        for (const fact of effect.facts) {
          if (fact.type === 'turn.started') {
            this.never(fact.turnIndex <= this.started, 'a turn begins twice');
            this.started = fact.turnIndex;
          }
          if (fact.type === 'turn.completed') {
            this.never(fact.turn.index <= this.completed, 'a turn ends twice');
            this.completed = fact.turn.index;
            this.neverUnheard(fact.turn.agentText, 'a record holds a word that nobody heard');
          }
        }
        break;
      case 'say':
      case 'answer':
      case 'answer-again':
        this.begin(effect);
        break;
      case 'begin-answer': {
        const { utterance } = this;
        if (utterance !== undefined) this.voice ??= this.voiceOf(utterance);
        if (this.voice !== undefined) {
          this.voice.isResponding = true;
          this.voice.isUnsaid = false;
        }
        break;
      }
      case 'ask-again':
        if (this.voice !== undefined) this.voice.isUnsaid = false;
        break;
      case 'end-response':
        if (this.voice !== undefined) this.voice.isResponding = false;
        break;
      case 'take-up-response': {
        const { voice } = this;
        const isLeft = voice === undefined || voice.heard < voice.words.length;
        const isAsked = voice?.utterance.text !== null || !effect.hearsAgain;
        if (isLeft) this.tell({ type: 'owes', isAsked, waitedMs: effect.gapMs });
        else this.tell({ type: 'response.ended', answer: 'none', hasTools: false });
        if (this.voice !== undefined) this.voice.isResponding = false;
        break;
      }
      case 'silent':
      case 'barren':
        this.fails();
        break;
      case 'postpone-tools':
        this.postpone();
        break;
      case 'stop':
        this.stop();
        break;
      case 'requested': {
        const { id, outcome } = effect;
        this.never(this.told.includes(id), 'a request is told of twice');
        this.told.push(id);
        const words = this.askedBehind.has(id) ? [...wordsOf(id), ...REPEAT.split(' ')] : wordsOf(id);
        const isHeard = words.every((word) => this.heard.has(word));
        this.never(isHeard !== (outcome === 'heard'), 'what is told of a request is not what was heard');
        this.never(!this.begun.has(id), 'a request is given up that nobody has begun to say');
        break;
      }
      case 'wordless':
        this.tell({ type: 'wait.over' });
        break;
      case 'recourse':
        this.follow(effect.recourse);
        break;
      case 'hang-up': {
        const isCallers = this.said !== '' || this.isSounding;
        this.never(
          effect.reason === 'idle' && isCallers && !this.policy.endsTurns && this.prompts === 0,
          'a caller who speaks is taken for idle',
        );
        this.hangsUpIn ??= ACTS_TO_HANG_UP;
        break;
      }
      default:
        break;
    }
  }

  /** An answer is given, and what tools gave meanwhile is told with it. */
  lookAtNews(): void {
    const { turns } = this.state;
    const last = turns.open?.steps.at(-1);
    const asked = last?.role === 'said' ? turns.open?.steps.at(-2) : last;
    const news = asked?.role === 'news' && asked !== this.lookedNews ? asked : undefined;
    if (news !== undefined) this.lookedNews = news;
    const again = [...(news?.tools ?? [])].filter((id) => this.known.has(id));
    for (const id of news?.tools ?? []) this.known.add(id);
    this.never(
      again.length > 0 || newsIn(turns).some((id) => this.known.has(id)),
      'what a tool gave is told twice',
    );
  }

  voiceOf(utterance: Utterance): Voice {
    this.answers += 1;
    const words = utterance.text?.split(' ') ?? this.words(2);
    return {
      utterance,
      words: words.filter((word) => word !== ''),
      heard: 0,
      given: 0,
      rounds: [],
      awaits: [],
      endTool: undefined,
      ends: utterance.manner.ends !== undefined,
      isResponding: false,
      isUnsaid: false,
      apologyAt: undefined,
    };
  }

  words(count: number): string[] {
    this.answers += 1;
    return Array.from({ length: count }, (_, place) => `a${this.answers}.${place}`);
  }

  begin(effect: Extract<Effect, { type: 'say' | 'answer' | 'answer-again' }>): void {
    const { utterance, type } = effect;
    const { endsTurns } = this.policy;
    if (type !== 'say') this.lookAtNews();
    this.never(this.voice !== undefined, 'two voices speak at once');
    this.never(this.isHeld && utterance !== null, 'something is said while nobody listens');
    this.never(this.isEnding && utterance !== null, 'something is said after the call was to end');
    if (utterance === null || this.utterance?.id !== utterance.id) return;
    this.voice = this.voiceOf(utterance);
    const { request } = utterance.manner;
    if (request !== undefined) this.begun.add(request);
    if (utterance.text === this.cutByHold?.text) this.cutByHold = undefined;
    if (endsTurns) return;
    const since = type === 'answer' ? (effect.times?.speechEndedAt ?? this.at) : this.at;
    this.tell({ type: 'wait.begun', since, minMs: utterance.text === null ? LIMITS.answer.minMs : 0 });
    if (type === 'answer-again') this.voice.awaits = awaitedIn(this.state.turns);
    else if (type === 'answer') this.postpone();
    if (utterance.text !== null) this.tell({ type: 'words.ready', has: true });
  }

  /** No answer waits for tools any more. */
  postpone(): void {
    this.tell({ type: 'tools.postponed', ids: awaitedIn(this.state.turns) });
  }

  accountOf(voice: Voice, { isFinished = false } = {}): { account: Account; answer: AnswerAccount } {
    const { words, heard: count, rounds: tools, ends } = voice;
    const text = (from: number, to: number) => words.slice(from, Math.min(to, count)).join(' ');
    const rounds = tools.map(({ at, tools: ids }, place) => ({
      text: text(tools[place - 1]?.at ?? 0, at),
      tools: ids,
    }));
    const heard = text(0, count);
    const unheard = words.slice(count).join(' ');
    const heardAfter = text(tools.at(-1)?.at ?? 0, words.length);
    const isOwed = !isFinished && !ends && rounds.length > 0 && heardAfter === '';
    const { endsTurns } = this.policy;
    const rest = endsTurns || (unheard === '' && voice.utterance.text !== null) ? '' : words.join(' ');
    const goodbye = ends && !endsTurns ? unheard : undefined;
    return {
      account: { heard, unheard, rest, isOwed: isOwed && !endsTurns, goodbye },
      answer: { heard, unheard, rounds, heardAfter, isOwed },
    };
  }

  /** What is said is no more. */
  silence({ isFinished = false } = {}): ReturnType<Play['accountOf']> | undefined {
    const { voice } = this;
    this.voice = undefined;
    if (voice === undefined) return undefined;
    this.tell({ type: 'silenced' });
    if (!this.policy.endsTurns) this.tell({ type: 'words.ready', has: false });
    this.settleEnd(voice);
    return this.accountOf(voice, { isFinished });
  }

  settleEnd({ endTool: id }: Voice): void {
    if (id !== undefined) this.tell({ type: 'tool.settled', id, settlement: FOUND, isTold: true });
  }

  stop(): void {
    const { voice } = this;
    const split = this.silence();
    this.owedSince = undefined;
    this.tell({ type: 'stopped', account: split?.account ?? null, answer: split?.answer ?? null });
    this.never(this.state.floor.floor.phase === 'stopping', 'a stop is never over');
    if (!this.isHeld || voice?.heard !== 0) return;
    const { text, manner } = owedOf<Words>(voice.utterance) ?? {
      text: null,
      manner: {},
    };
    if (text !== null && text !== '') this.cutByHold = { text, manner };
  }

  /** The call is to end. */
  end(): void {
    this.isOver = true;
    this.tell({ type: 'ending' });
  }

  /** Whoever has the call is at its end: another one goes on, or the carrier apologizes. */
  fails(): void {
    if (this.isOver || this.hasFailed) return;
    this.hasFailed = true;
  }

  follow(recourse: Recourse): void {
    switch (recourse.type) {
      case 'nothing':
        break;
      case 'do-without':
        this.isHearing = false;
        break;
      case 'apologize-for-turn':
        this.conclude('Sorry, once more.', { isLast: false });
        break;
      case 'apologize':
        this.isHearing = false;
        this.isSounding = false;
        if (this.voice === undefined) this.tell({ type: 'say', text: '', manner: {} });
        this.conclude('Sorry, goodbye.', { isLast: true });
        break;
      case 'hand-over':
      case 'leave-to-carrier':
      case 'end':
        this.fails();
    }
  }

  /** Says `text` as the last words of what is being said. */
  conclude(text: string, { isLast }: { isLast: boolean }): void {
    this.tell({ type: 'apologizes' });
    const { voice } = this;
    if (voice === undefined) return;
    voice.words = voice.words.slice(0, voice.heard);
    voice.awaits = [];
    if (isLast) voice.apologyAt = voice.words.length;
    voice.words.push(...text.split(' '));
    this.tell({ type: 'words.ready', has: true });
    this.tell({ type: 'whole' });
  }

  /** The caller hears one more word. */
  hears(): void {
    const { voice } = this;
    if (voice === undefined || voice.isUnsaid || this.utterance?.isPaused === true) return;
    const { endsTurns } = this.policy;
    if (endsTurns && !voice.isResponding && voice.heard >= voice.given) {
      // Some go on without being asked.
      if (this.isAtBest && this.state.watch.owed === null) return;
      this.tell({ type: 'began', isMore: voice.heard > 0 });
    }
    if (this.voice !== voice || (endsTurns && !this.isConnected)) return;
    const word = voice.words[voice.heard];
    if (word === undefined) return;
    if (voice.heard === voice.apologyAt) this.tell({ type: 'apology.begun' });
    voice.heard += 1;
    this.heard.add(word);
    this.isUnheard = false;
    this.owedSince = undefined;
    if (endsTurns) this.tell({ type: 'alive', since: this.at, soundsUntil: this.at + 200 });
    else this.tell({ type: 'sounds', until: this.at + 200 });
    if (voice.heard === 1) this.tell({ type: 'audible' });
    if (voice.heard === voice.words.length) this.tell({ type: 'words.ready', has: false });
    if (this.voice === voice)
      this.tell({ type: 'spoken', text: voice.words.slice(0, voice.heard).join(' ') });
  }

  /** The caller has heard all that the agent has to say. */
  heardOut(): void {
    const { voice } = this;
    if (voice === undefined || voice.awaits.length > 0 || voice.isUnsaid) return;
    if (this.utterance?.isPaused === true) return;
    while (this.voice === voice && voice.heard < voice.words.length) {
      const { heard } = voice;
      this.hears();
      if (voice.heard === heard) return;
    }
    if (this.voice !== voice) return;
    const { endsTurns } = this.policy;
    if (endsTurns && voice.isResponding)
      this.tell({ type: 'response.ended', answer: 'given', hasTools: voice.rounds.length > 0 });
    if (this.voice !== voice || (endsTurns && this.state.watch.owed !== null)) return;
    const { ends } = this.state.floor.manner;
    const { isCallerOwed } = this.state.floor;
    const wants =
      isCallerOwed || this.said !== '' || this.keys || this.isSounding || this.state.watch.isCallerSpeaking;
    const isFailing = this.state.trouble.phase === 'apologizing';
    this.owedSince = undefined;
    const { answer } = this.silence({ isFinished: true }) ?? { answer: NOTHING };
    if (!endsTurns) this.tell({ type: 'wait.over' });
    this.tell({ type: 'finished', answer });
    this.tell({ type: 'over' });
    if (isFailing) {
      this.never(!this.hasFailed, 'the call goes on behind an apology');
      return;
    }
    this.never(ends === 'agent-hangup' && !this.isEnding, 'the call goes on behind a goodbye');
    this.never(ends === 'idle' && !wants && !this.isEnding, 'the call goes on behind a goodbye to nobody');
    this.never(ends === undefined && this.isEnding, 'the call ends without a goodbye');
  }

  /** The call is over, or nothing keeps it from that. */
  get isEnding(): boolean {
    return this.isOver || this.hangsUpIn !== undefined;
  }

  do(act: Act): void {
    if (this.isOver) return;
    if (this.hangsUpIn !== undefined) {
      this.hangsUpIn -= 1;
      if (this.hangsUpIn < 0) {
        this.end();
        return;
      }
    }
    if (this.between !== undefined) {
      if (act.act === 'resume') this.goOn(this.between, act.how);
      return;
    }
    const wasYielding = yields(this.state.floor, this.at, this.policy);
    const before = this.voice;
    this.happens(act);
    if (!this.hasFailed && !this.isOver) this.look(act, { wasYielding, before });
    if (this.hasFailed && !this.isOver) this.failed();
  }

  /** What must be so whatever has happened. */
  look(act: Act, { wasYielding, before }: { wasYielding: boolean; before: Voice | undefined }): void {
    const { state, voice } = this;
    if (state.floor !== this.lookedAt) this.lookAtRequests();
    this.never(
      before !== undefined && !wasYielding && voice !== before && CALLERS.includes(act.act),
      'what may not be interrupted is interrupted',
    );
    const dueAt = deadlineOf(state);
    this.never(dueAt !== null && dueAt < this.at, 'a deadline lies in the past');
    this.never(this.utterance === undefined && voice !== undefined, 'nobody has the floor who speaks');
    this.never(this.isHeld && voice !== undefined, 'the agent speaks into a hold');
    this.lookAtHistory();
  }

  lookAtRequests(): void {
    const { floor } = this.state;
    this.lookedAt = floor;
    if (this.asked.length === 0) return;
    const pending = requestsIn(floor);
    this.never(
      pending.some((id) => this.told.includes(id)),
      'a request is told of and still to be said',
    );
    this.never(
      this.asked.some((id) => !pending.includes(id) && !this.told.includes(id)),
      'a request is lost',
    );
  }

  lookAtHistory(): void {
    const { history } = this.state.turns;
    for (const each of history.slice(this.looked))
      if (each.role === 'assistant' || each.role === 'tools')
        this.neverUnheard(each.text, 'the history holds a word that nobody heard');
    this.looked = history.length;
  }

  neverUnheard(text: string, sentence: string): void {
    const unheard = text.split(' ').filter((word) => ANSWER_WORD.test(word) && !this.heard.has(word));
    this.never(unheard.length > 0, sentence);
  }

  happens(act: Act): void {
    const { policy, state, voice } = this;
    const { endsTurns } = policy;
    const hears = !this.isHeld && this.isHearing;
    switch (act.act) {
      case 'wait':
        this.wait(act.ms);
        break;
      case 'speak':
        if (hears && !this.isSounding && this.isConnected) {
          this.isSounding = true;
          this.owedSince = undefined;
          this.prompts = 0;
          if (endsTurns) this.tell({ type: 'caller.speaks' });
          else {
            this.tell({ type: 'wait.over' });
            this.tell({ type: 'caller.sounds', startedAt: this.at });
          }
        }
        break;
      case 'words':
        if (!hears) break;
        if (endsTurns) {
          if (this.items > 0)
            this.tell({ type: 'caller.text', itemId: `u${this.items}`, text: act.text, isFinal: true });
          break;
        }
        this.prompts = 0;
        this.pieces += 1;
        this.tell({ type: 'caller.words', entry: this.entryOf(act.text), isTaken: false });
        this.tell({ type: 'caller.active' });
        this.isSounding = this.caller.isSounding;
        break;
      case 'interrupt':
      case 'doubt':
      case 'sign':
        if (hears && voice !== undefined && !endsTurns)
          this.tell({
            type: ({ interrupt: 'interrupted', doubt: 'doubted', sign: 'signed' } as const)[act.act],
          });
        break;
      case 'vendor interrupts':
        if (hears && endsTurns) this.tell({ type: 'cut-off' });
        break;
      case 'fall silent':
        if (hears) this.fallSilent();
        break;
      case 'say nothing':
        if (hears && this.awaitsSince !== undefined) this.complete();
        break;
      case 'press':
        if (!hears) break;
        this.prompts = 0;
        this.tell({ type: 'key' });
        break;
      case 'finish pressing':
        if (hears && state.untaken.isPressing) this.tell({ type: 'keys.complete', keys: KEYS });
        break;
      case 'answer begins':
        if (endsTurns && this.isConnected) this.tell({ type: 'began', isMore: (voice?.heard ?? 0) > 0 });
        break;
      case 'audible':
        if (endsTurns && voice === undefined && state.watch.owed !== null)
          this.tell({ type: 'began', isMore: false });
        if (this.voice?.heard === 0 && this.voice.awaits.length === 0) this.hears();
        break;
      case 'heard on':
        if ((voice?.heard ?? 0) > 0) this.hears();
        break;
      case 'heard out':
        if ((voice?.heard ?? 0) > 0) this.heardOut();
        break;
      case 'call tool':
        this.callTool(state);
        break;
      case 'ends call':
        if (
          voice === undefined ||
          voice.ends ||
          voice.utterance.text !== null ||
          (endsTurns && !voice.isResponding)
        )
          break;
        voice.endTool = nextToolIds(state.turns, 1)[0];
        voice.ends = true;
        voice.rounds.push({ at: voice.words.length, tools: [voice.endTool ?? ''] });
        this.tell({ type: 'tools.called', tools: [toolOf('end_call', { endsCall: true })] });
        this.tell({ type: 'ends' });
        break;
      case 'tool gives':
        this.toolGives();
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
      case 'answer comes to nothing':
        if (endsTurns && voice?.isResponding === true && voice.heard === 0) this.comesToNothing(voice);
        break;
      case 'connection lost':
        if (!endsTurns || !this.isConnected) break;
        this.isConnected = false;
        this.isSounding = false;
        this.tell({
          type: 'connection.lost',
          agoMs: 0,
          unansweredMs: null,
          isAnswered: (voice?.heard ?? 0) > 0,
        });
        break;
      case 'connection back':
        if (!endsTurns || this.isConnected) break;
        this.isConnected = true;
        this.tell({
          type: 'connection.back',
          isResponding: voice?.isResponding === true,
          hearsAgain: false,
          gapMs: 400,
        });
        break;
      case 'fail':
        this.fail(act);
        break;
      case 'hand off':
        if (!this.isHeld && state.trouble.phase === 'none') this.handOff();
        break;
      case 'process dies':
        if (state.trouble.phase === 'none') this.die();
    }
  }

  callTool({ turns, floor }: ConversationState): void {
    const { voice } = this;
    const { endsTurns } = this.policy;
    if (voice === undefined || voice.apologyAt !== undefined) return;
    const isTold = voice.utterance.text !== null;
    if ((isTold && !endsTurns) || voice.endTool !== undefined || (voice.ends && !isTold)) return;
    if (voice.awaits.length > 0 || voice.isUnsaid || floor.floor.phase === 'ending') return;
    if (endsTurns && !voice.isResponding) return;
    voice.isUnsaid = isTold && voice.heard === 0;
    if (!voice.isUnsaid) voice.given = voice.words.length;
    const [id = ''] = nextToolIds(turns, 1);
    voice.rounds.push({ at: voice.words.length, tools: [id] });
    voice.awaits = [id];
    this.tell({ type: 'tools.called', tools: [toolOf('look_up')] });
    if (endsTurns && this.voice === voice)
      this.tell({ type: 'response.ended', answer: 'given', hasTools: true });
  }

  /** The tool that runs for the longest has its result. */
  toolGives(): void {
    const ids = Object.entries(this.state.turns.tools).flatMap(([id, { status, endsCall }]) =>
      status === 'running' && !endsCall ? [id] : [],
    );
    const [id] = ids;
    if (id === undefined) return;
    const { voice } = this;
    const { endsTurns } = this.policy;
    this.tell({ type: 'tool.settled', id, settlement: FOUND, isTold: true });
    const isOwn = voice?.awaits.includes(id) === true;
    if (voice !== undefined && isOwn) {
      voice.awaits = voice.awaits.filter((each) => each !== id);
      if (voice.awaits.length === 0 && voice.utterance.text === null) voice.words.push(...this.words(2));
      // The application has taken the time.
      if (this.owedSince !== undefined) this.owedSince = this.at;
    }
    if (endsTurns || isOwn) this.known.add(id);
    if (endsTurns) {
      this.tell({ type: 'tools.told', ids: [id] });
      this.tell({ type: 'results', isCurrent: isOwn });
      if (this.voice?.isUnsaid === true && !this.voice.isResponding) this.tell({ type: 'unsaid' });
      this.settle();
    } else if (isOwn)
      this.tell({ type: 'excused', from: this.state.turns.tools[id]?.startedAt.now ?? this.at });
    else if (newsIn(this.state.turns).includes(id)) this.news(id);
  }

  comesToNothing(voice: Voice): void {
    this.tell({ type: 'response.ended', answer: 'empty', hasTools: voice.rounds.length > 0 });
    if (this.voice !== voice || this.state.watch.owed !== null) return;
    voice.words = [];
    this.settle();
  }

  /** Nobody may tell any more that all was heard. */
  settle(): void {
    const { voice } = this;
    if (voice === undefined || voice.isResponding || voice.heard < voice.words.length) return;
    if (this.state.watch.owed === null) this.heardOut();
  }

  /** A tool has given a result that no answer waits for. */
  news(id: string): void {
    const isSilent = this.voice === undefined && !this.isHeld && this.isHearing;
    const isCallers = this.caller.isActive || this.said !== '' || this.keys;
    this.tell({ type: 'news' });
    const isTold = !newsIn(this.state.turns).includes(id);
    this.never(
      isSilent && !isCallers && !isTold && !this.isEnding,
      'the caller is not told what a tool gave',
    );
  }

  ask(interrupts: boolean): void {
    const { voice, state } = this;
    const isMany = this.asked.length > this.told.length + 2;
    if (isMany || state.trouble.phase !== 'none' || voice?.ends === true || this.isEnding) return;
    const request = `request-${this.asked.length}`;
    const isPaused = this.utterance?.isPaused === true;
    const isAnswer = voice?.utterance.text === null;
    const isAside = this.utterance?.manner.leadsTo !== undefined;
    const wasSounding = this.isSounding;
    this.asked.push(request);
    this.tell({ type: 'request', text: wordsOf(request).join(' '), manner: { request }, interrupts });
    const isSaid = this.voice?.utterance.manner.request === request;
    this.never(isSaid && voice === undefined && wasSounding, 'a request is said into what the caller says');
    this.never(
      !interrupts && voice !== undefined && this.voice !== voice,
      'a request that waits cuts the agent off',
    );
    if (!interrupts || voice === undefined || this.isHeld || isPaused || isAside) return;
    this.never(!isSaid, 'a request that interrupts is not said at once');
    const isOwed = this.state.floor.isCallerOwed || this.state.turns.isOwed || this.live.awaitsTools;
    this.never(
      isAnswer && voice.heard === 0 && !isOwed && runningIn(this.state.turns).length === 0,
      'an answer that a request came before is lost',
    );
  }

  /** From now on everybody does what they should, and nothing else. */
  comesToRest(): void {
    this.isAtBest = true;
    for (let round = 0; round < 40 && !this.isAtRest; round += 1) {
      for (const act of AT_BEST) this.do(act);
      if (round % 4 !== 3) continue;
      // Who has interrupted has something to say. Whoever gives nothing is given up.
      if (this.voice === undefined || this.utterance?.isPaused === true) for (const act of TURN) this.do(act);
      this.do({ act: 'wait', ms: 1000 });
    }
    this.never(!this.isAtRest, 'a call never comes to rest');
  }

  /** The caller can speak, and nothing is owed to anybody. */
  get isAtRest(): boolean {
    if (this.isOver) return true;
    const { floor, turns, watch } = this.state;
    const isQuiet = this.voice === undefined && floor.floor.phase === 'listening' && watch.owed === null;
    const isTold = requestsIn(floor).length === 0 && !floor.isCallerOwed && !turns.isOwed;
    return isQuiet && isTold && this.said === '' && !this.keys && runningIn(turns).length === 0;
  }

  /** What comes next by itself, and when. */
  get next(): { at: number; happen: () => void } | undefined {
    const { state, voice } = this;
    const coming: { at: number; happen: () => void }[] = [];
    const dueAt = deadlineOf(state);
    if (dueAt !== null) coming.push({ at: dueAt, happen: () => this.due() });
    if (this.awaitsSince !== undefined)
      coming.push({ at: this.awaitsSince + LIMITS.words.noneMs, happen: () => this.complete() });
    if (
      !this.policy.endsTurns &&
      voice?.heard === 0 &&
      voice.awaits.length === 0 &&
      this.utterance?.isPaused !== true
    ) {
      const isKnown = voice.utterance.text !== null || this.utterance?.isWhole === true;
      const stage = isKnown ? 'tts' : 'llm';
      const at = waitDeadline(state.watch.wait, stage === 'llm' ? 'words' : 'sound', this.at);
      if (at !== null) coming.push({ at, happen: () => this.tellFailed(stage, false) });
    }
    return coming.sort((one, other) => one.at - other.at)[0];
  }

  wait(ms: number): void {
    const until = this.at + ms;
    let looks = 0;
    for (let { next } = this; next !== undefined && next.at <= until; { next } = this) {
      this.at = Math.max(this.at, next.at);
      next.happen();
      looks += 1;
      this.never(looks > 100, 'time stands still');
      if (this.isOver || this.hasFailed || looks > 100) return;
    }
    this.at = until;
    const isPaused = this.utterance?.isPaused === true;
    const { awaits = [], heard = 0, given = 0 } = this.voice ?? {};
    // What has come is heard by itself.
    const isWaiting = this.owedSince !== undefined && !isPaused && awaits.length === 0 && heard >= given;
    this.never(
      isWaiting && this.at - (this.owedSince ?? 0) > LONGEST_SILENCE_MS,
      'a caller waits without an end',
    );
  }

  due(): void {
    const had = this.voice;
    this.tell({ type: 'due' });
    if (this.voice !== undefined && had === undefined) this.prompts += 1;
    this.never(this.prompts > 3, 'a silent caller is asked without end');
  }

  fallSilent(): void {
    if (!this.isSounding) return;
    this.isSounding = false;
    const { voice, policy } = this;
    if (policy.endsTurns) {
      this.items += 1;
      const isYielding =
        (this.utterance?.manner.interruptible ?? policy.interruptible) || this.utterance === undefined;
      if (isYielding && this.isConnected) this.owedSince = this.at;
      this.tell({ type: 'caller.finished', itemId: `u${this.items}`, agoMs: 500 });
      return;
    }
    const means = this.said !== '' && this.utterance !== undefined ? 'interrupted' : 'unknown';
    this.tell({ type: 'quiet', end: { isCutShort: false, endedAt: this.at }, means });
    if (this.awaitsSince !== undefined && this.said !== '') this.complete();
    else if (this.said !== '' && voice === undefined) this.owedSince = this.at;
  }

  complete(): void {
    const hadWords = this.said !== '' && !this.state.untaken.isPressing;
    const wasBusy = this.voice !== undefined;
    if (hadWords && !wasBusy) this.owedSince = this.at;
    this.tell({ type: 'caller.complete' });
    this.never(
      hadWords && !wasBusy && this.voice === undefined && !this.isOver && !this.hasFailed,
      'somebody who has said something is not answered',
    );
  }

  hold(): void {
    if (this.isHeld) return;
    this.isSounding = false;
    this.owedSince = undefined;
    if (this.state.untaken.isPressing) this.tell({ type: 'pressed', text: KEYS });
    this.tell({ type: 'hold' });
    this.never(!this.isHeld && !this.hasFailed && !this.isEnding, 'a hold does not hold');
  }

  resume(how: 'continue' | 'listen' | 'news'): void {
    if (!this.isHeld) return;
    const { cutByHold, state } = this;
    const { turns } = state;
    const isOwed =
      this.said !== '' ||
      this.keys ||
      turns.isOwed ||
      newsIn(turns).length > 0 ||
      (!this.policy.endsTurns && answeredIn(turns) !== 'nothing');
    this.tell({ type: 'resume', how: how === 'news' ? { news: 'The line is busy.' } : how });
    this.never(this.isHeld && !this.isOver, 'a hold is never over');
    const isSaid = this.voice !== undefined && owedOf<Words>(this.voice.utterance)?.text === cutByHold?.text;
    // Who is owed an answer is given that in its place, unless somebody outside wants it said.
    const isReplaced = (isOwed || this.state.watch.owed !== null) && !isWanted(cutByHold ?? null);
    this.never(
      how === 'continue' && cutByHold !== undefined && !isReplaced && !isSaid && !this.isOver,
      'what a hold cut off is never said',
    );
    this.cutByHold = undefined;
    if (!this.isHearing && this.state.trouble.phase === 'unheard' && !this.isOver) {
      this.tell({ type: 'missed' });
      this.tellFailed('stt', false);
    }
  }

  fail({ stage, isPassing }: Extract<Act, { act: 'fail' }>): void {
    const { voice } = this;
    if (this.policy.endsTurns) {
      if (!isPassing) this.fails();
      return;
    }
    const isAnswer =
      voice?.utterance.text === null && voice.awaits.length === 0 && voice.apologyAt === undefined;
    if (stage === 'llm' ? isAnswer : stage === 'stt' || voice !== undefined)
      this.tellFailed(stage, isPassing);
  }

  tellFailed(stage: 'stt' | 'llm' | 'tts', isPassing: boolean): void {
    const isAwaited = this.voice !== undefined;
    const hasFallback = this.fallbacks > 0;
    this.tell({ type: 'failed', stage, isPassing, hasFallback, isAwaited, awaitedSince: null });
  }

  /** The driver is at its end. Where nobody goes on, the carrier apologizes. */
  failed(): void {
    this.hasFailed = false;
    if (this.fallbacks === 0) {
      this.end();
      return;
    }
    this.fallbacks -= 1;
    const wasHeld = this.isHeld;
    const left = this.leave();
    this.policy = {
      ...this.policy,
      endsTurns: !this.policy.endsTurns,
      transcribesCaller: !this.policy.endsTurns,
    };
    if (wasHeld) this.between = left;
    else this.goOn(left, null);
  }

  /** What the driver leaves to the next one. */
  leave(): ConversationState {
    if (this.state.untaken.isPressing) this.tell({ type: 'pressed', text: KEYS });
    const { wait } = this.state.watch;
    const hasWords = this.said !== '' || this.keys;
    this.tell({ type: 'gives-up' });
    const said = this.silence() ?? null;
    this.tell({ type: 'leaves', said, unheardSince: [], troubledSince: [wait.since] });
    const { state } = this;
    this.never(
      hasWords && !this.policy.endsTurns && state.owed.kind === 'nothing',
      'what the caller has said is lost in a takeover',
    );
    this.reset();
    const since = state.owed.kind === 'nothing' ? null : (wait.since ?? this.at);
    const left = since === null ? NOBODY_WAITS : beginWait(NOBODY_WAITS, { since, at: this.at });
    return { ...state, watch: { ...state.watch, wait: left } };
  }

  /** What was live is lost. */
  reset(): void {
    this.voice = undefined;
    this.hangsUpIn = undefined;
    this.isSounding = false;
    this.owedSince = undefined;
    this.cutByHold = undefined;
    this.isHearing = true;
    this.isConnected = true;
    this.looked = 0;
  }

  /** Another agent has the caller from now on. */
  handOff(): void {
    const to = agentOf(this.state.handoffs ?? withAgent('desk')) === 'desk' ? 'billing' : 'desk';
    const handoffs = handedOver(this.state.handoffs ?? withAgent('desk'), to, 'Billing speaks.');
    this.goOn({ ...this.leave(), handoffs }, null);
  }

  /** The next driver begins with what the one before it has left. `how`: of a hold that ends with that. */
  goOn(given: ConversationState, how: 'continue' | 'listen' | 'news' | null): void {
    this.between = undefined;
    // A third driver in the same wait has no time any more: the carrier apologizes.
    if (this.isUnheard && isTooLate(given.watch.wait, this.at)) {
      this.isOver = true;
      return;
    }
    this.isUnheard = true;
    const resumption = how === 'news' ? { news: 'The line is busy.' } : how;
    const state = stillOwed({ state: given, resumption, hasTools: false, missedMs: 0, at: this.at });
    if (state.owed.kind === 'goodbye' && state.owed.text === '') {
      this.isOver = true;
      return;
    }
    this.starts({ takeover: { state } });
  }

  /** Another process goes on with what this one has stored. */
  die(): void {
    const state: ConversationState = JSON.parse(JSON.stringify(this.state));
    this.reset();
    this.term += 1;
    this.starts({ resumed: { state, message: '', term: this.term } });
  }

  entryOf(text: string): TranscriptEntry {
    const turnIndex = indexOf(this.state.turns);
    return { id: `user-${this.pieces}`, turnIndex, role: 'user', text, at: this.at, final: true };
  }

  /** A driver begins: with nothing, or with what the one before it has left. */
  starts(from: Pick<EngineContext, 'takeover' | 'resumed'>): void {
    const { endsTurns, transcribesCaller } = this.policy;
    const { greeting } = this.mode;
    const clock = { now: () => this.at, wallNow: () => this.at } as EngineContext['clock'];
    const providers = { engine: null, stt: null, llm: null, tts: null };
    const options = {
      hasGreeting: true,
      transcribesCaller,
      repeat: REPEAT,
      languages: [],
      providers,
    };
    const beginning = beginningOf({ clock, ...from }, options);
    this.state = beginning.state;
    const live = from.resumed === undefined ? runningIn(this.state.turns) : [];
    this.tell({ type: 'takes-over', runs: live.map((id) => ({ id, settlement: undefined, isTold: true })) });
    this.tell({ type: 'starts', isReplaceable: this.fallbacks > 0 });
    if (endsTurns) this.tell({ type: 'ready' });
    const { owed } = beginning.state;
    for (const { text, manner } of [...(owed.kind === 'rest' ? [owed] : []), ...this.state.floor.requests]) {
      if (manner.request === undefined) continue;
      if (text?.endsWith(REPEAT) === true) this.askedBehind.add(manner.request);
      // Of what was heard last nobody may know: it is said again.
      for (const word of text?.split(' ') ?? []) this.heard.delete(word);
    }
    const isAwaited = endsTurns && owed.kind === 'answer' && awaitedIn(this.state.turns).length > 0;
    const manner = greeting.interruptible ? {} : { interruptible: false };
    const first = firstWordsOf(beginning, { greeting: { text: greeting.text, manner }, isAwaited });
    if (beginning.bridge !== '' && this.state.handoffs !== undefined)
      this.state = { ...this.state, handoffs: hasSaid(this.state.handoffs) };
    if (first !== undefined) this.tell({ type: 'say', ...first });
    else if (isAwaited) return;
    else if (!endsTurns || owed.kind === 'nothing') this.tell({ type: 'resume', how: 'continue' });
    else this.tell({ type: 'asked' });
    const isPaid =
      this.voice !== undefined ||
      this.state.watch.owed !== null ||
      this.isEnding ||
      awaitedIn(this.state.turns).length > 0;
    this.never(owed.kind !== 'nothing' && !isPaid, 'what is owed is not said by whoever goes on');
  }
}

/** What is to be said on a request. */
function wordsOf(request: string): string[] {
  return [request, `${request}-ends`];
}

function toolOf(name: string, { endsCall = false } = {}) {
  const call = { id: name, name, arguments: {}, argumentsText: '{}' };
  return { call, endsCall, joins: undefined, settlement: undefined };
}

/** Plays `acts` in a call that begins with its greeting. `steps`: so many are enough; the act with which they are reached is the last one. With fewer, the call is then to come to rest. */
export function play(
  acts: readonly Act[],
  mode: Mode,
  by: StepFunction = step,
  steps = Number.POSITIVE_INFINITY,
): Played {
  const played = new Play(mode, by);
  played.starts({});
  for (const act of acts) {
    played.do(act);
    if (played.broken.length > 0 || played.steps >= steps) break;
  }
  if (played.broken.length === 0 && played.steps < steps) played.comesToRest();
  return { broken: played.broken, steps: played.steps };
}
