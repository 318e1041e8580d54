// The turns of a call with a realtime model, as facts. What the caller said comes as text when it likes, often after the answer: a
// turn that is over waits for it a while. Of the latency only the ends are known: what lies between is the model's own.
import type { Clock, Timer } from '../base/clock.js';
import type { TranscriptEntry, Turn, TurnLatency } from '../contract/call-record.js';
import type { ChatMessage } from '../providers/language-model.js';
import type { Conversation, Step } from './conversation.js';
import type { EngineFact, Takeover } from './engine.js';
import { ToolEntries } from './tools/tool-entries.js';
import type { ToolRun } from './tools/tool-run.js';
import type { AnswerSplit } from './turn-book.js';

export interface RealtimeTurnsOptions {
  readonly clock: Clock;
  readonly conversation: Conversation;
  /** True when a text comes for everything that the caller says. */
  readonly transcribesCaller: boolean;
  readonly fact: (fact: EngineFact) => void;
  /** Set where another engine has begun the call. */
  readonly takeover?: Pick<Takeover, 'turnIndex' | 'isTurnOpen'> | undefined;
}

/** Something that the caller said or pressed. */
interface Said {
  text: string;
  isFinal: boolean;
  /** The caller has finished it. */
  isEnded: boolean;
  /** Its place in the transcript; undefined for keys, which have one already. */
  entry: TranscriptEntry | undefined;
}

interface OpenTurn {
  readonly index: number;
  readonly startedAt: number;
  readonly said: Said[];
  /** Text of answers that were dropped before a word of them was heard. */
  dropped: string;
  /** What followed on what the caller said. */
  readonly steps: Step[];
  speechEndedAt: number | undefined;
  firstFrameAt: number | undefined;
  heardAt: number | undefined;
  /** When the agent's transcript entry came up; undefined while there is none. */
  agentAt: number | undefined;
  /** What became of it, once it is over. */
  end: { readonly split: AnswerSplit; readonly interrupted: boolean } | undefined;
}

/** What the caller said in the turns before this many is not spoken of any more. */
const KEPT_SAID = 64;

/** How long a turn that is over waits for the caller's words. */
const TEXT_WAIT_MS = 3000;

/** What began longer ago another connection does not hear again from its beginning. */
const HEARD_AGAIN_MS = 5000;

export class RealtimeTurns {
  readonly #options: RealtimeTurnsOptions;
  readonly #said = new Map<string, Said>();
  readonly #tools = new ToolEntries((entry) => this.#options.fact({ type: 'transcript.segment', entry }));
  /** Said, and not answered. */
  #waiting: Said[] = [];
  /** Said over a connection that was lost, and to be heard again over the next one. */
  #repeated: Said[] = [];
  #open: OpenTurn | undefined;
  /** Over, and its fact not stated. */
  #owed: OpenTurn | undefined;
  #timer: Timer | undefined;
  #nextIndex: number;
  #speechStartedAt: number | undefined;
  #speakingSince: number | undefined;
  #speechEndedAt: number | undefined;
  /** Up to when, on the clock, the caller's words are there, or the agent had the floor; undefined before either. */
  #heardUntil: number | undefined;

  constructor(options: RealtimeTurnsOptions) {
    this.#options = options;
    const { takeover } = options;
    this.#nextIndex = takeover?.turnIndex ?? 0;
    if (takeover?.isTurnOpen === true) this.#open = this.#begin();
  }

  /** Where another engine goes on: in the turn that is open, or with the next one. */
  get standing(): { turnIndex: number; isTurnOpen: boolean } {
    return { turnIndex: this.#open?.index ?? this.#nextIndex, isTurnOpen: this.#open !== undefined };
  }

  /** Index of the turn that what is used now belongs to: the one that is open, or was last. Null before the first. */
  get paidIndex(): number | null {
    return this.#open?.index ?? (this.#nextIndex === 0 ? null : this.#nextIndex - 1);
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** True when the caller has said something that this turn answers. */
  get answersCaller(): boolean {
    return (this.#open?.said.length ?? 0) > 0;
  }

  /** The caller has begun to speak. */
  speechStarted(): void {
    this.#speakingSince ??= this.#options.clock.wallNow();
    this.#speechStartedAt ??= this.#speakingSince;
  }

  /** The caller has finished; the words may come later, and have their place in the transcript already. */
  speechEnded(itemId: string, { agoMs }: { agoMs: number }): void {
    const { clock } = this.#options;
    this.#speechEndedAt = clock.now() - agoMs;
    this.#speakingSince = undefined;
    this.#sayingOf(itemId).isEnded = true;
  }

  /** Keys, in words. */
  pressed(text: string): void {
    this.#waiting.push({ text, isFinal: true, isEnded: true, entry: undefined });
  }

  /** What the caller said. An empty final text: there were no words. */
  userText(itemId: string, text: string, { isFinal }: { isFinal: boolean }): void {
    const said = this.#sayingOf(itemId);
    if (said.isFinal) return;
    said.text = text.trim();
    said.isFinal = isFinal;
    if (isFinal) this.#heardUntil = this.#options.clock.now();
    this.#tellSaid(said);
    const isWanted = this.#owed?.said.includes(said) === true;
    if (isWanted && this.#owed?.said.every((each) => each.isFinal)) this.#settle();
  }

  /**
   * The connection is gone. What the caller had not finished on it, or has no words yet, is not known to the next one. `isAnswered`: the
   * open turn has done something on what it answers, which is not done twice.
   */
  lost({ isAnswered }: { isAnswered: boolean }): void {
    const { clock, transcribesCaller } = this.#options;
    const isRepeated = ({ entry, isEnded, isFinal }: Said) => {
      if (entry === undefined || clock.wallNow() - entry.at > HEARD_AGAIN_MS) return false;
      return !isEnded || (transcribesCaller && !isFinal);
    };
    const answered = this.#open?.said ?? [];
    const unanswered = isAnswered ? this.#waiting : [...answered, ...this.#waiting];
    this.#repeated.push(...unanswered.filter(isRepeated));
    this.#waiting = this.#waiting.filter((said) => !this.#repeated.includes(said));
  }

  /** There is another one, which hears it again: it stands in the record once. Returns true when the caller had finished any of it. */
  back(): boolean {
    const repeated = this.#repeated.splice(0);
    for (const said of repeated) {
      said.text = '';
      said.isFinal = true;
      if (this.#options.transcribesCaller) this.#tellSaid(said);
    }
    return repeated.some(({ isEnded }) => isEnded);
  }

  /** The agent answers, or speaks by itself. Opens a turn, or goes on with the one that is open. */
  answer(): void {
    if (this.#open === undefined) {
      this.#open = this.#begin();
      this.#options.fact({ type: 'turn.started', turnIndex: this.#open.index });
    }
    const turn = this.#open;
    for (const said of this.#waiting) {
      turn.said.push(said);
      if (said.entry !== undefined && said.entry.turnIndex !== turn.index) {
        said.entry.turnIndex = turn.index;
        this.#tellSaid(said);
      }
    }
    this.#waiting = [];
    if (this.#speechEndedAt !== undefined) turn.speechEndedAt = this.#speechEndedAt;
    this.#speechStartedAt = undefined;
    this.#speechEndedAt = undefined;
  }

  firstFrameSent(at: number): void {
    if (this.#open !== undefined) this.#open.firstFrameAt ??= at;
  }

  firstFrameHeard(at: number): void {
    if (this.#open !== undefined) this.#open.heardAt ??= at;
  }

  /** The agent's entry grows. */
  spoken(text: string): void {
    if (this.#open !== undefined) this.#tellAgent(this.#open, { text, final: false });
  }

  /** The model has called tools. */
  called(runs: readonly ToolRun[]): void {
    this.#tools.called(runs, this.#open?.index ?? this.#nextIndex);
  }

  /** An answer was stopped before a word was heard: the turn stays open for what the caller adds, and is measured afresh. */
  dropAnswer({ unheard, rounds = [] }: AnswerSplit): void {
    const turn = this.#open;
    if (turn === undefined) return;
    turn.dropped = `${turn.dropped} ${unheard}`.trim();
    // What tools have done is done, whatever was heard.
    turn.steps.push(...rounds.map((round): Step => ({ role: 'tools', ...round })));
    this.#withdrawAgent(turn);
    turn.firstFrameAt = undefined;
    turn.heardAt = undefined;
  }

  /** The open turn is over. */
  complete(split: AnswerSplit, { interrupted }: { interrupted: boolean }): void {
    const turn = this.#open;
    if (turn === undefined) return;
    this.#settle();
    this.#open = undefined;
    if (split.heard === '') this.#withdrawAgent(turn);
    else
      this.#tellAgent(turn, {
        text: split.heard,
        final: true,
        ...(interrupted ? { interrupted: true } : {}),
      });
    turn.end = { split, interrupted };
    turn.steps.push(...toSteps(split));
    this.#owed = turn;
    const { clock, transcribesCaller } = this.#options;
    this.#heardUntil = clock.now();
    if (transcribesCaller && turn.said.some(({ isFinal }) => !isFinal))
      this.#timer = clock.after(TEXT_WAIT_MS, () => this.#settle());
    else this.#settle();
  }

  /** The call is over: nothing is waited for. */
  close(): void {
    this.#settle();
    for (const said of this.#said.values()) this.#conclude(said);
  }

  /**
   * Another engine takes the call over: nothing is waited for, what the caller said and nobody answered is a turn in any case, and one
   * in which nothing was said or done stays open for it. What has no text will be heard again, also what the model had not noticed yet.
   * Returns since when, on the clock; undefined where all has its text. `isUnheard`: what is to be answered has none.
   */
  giveUp(): { since: number | undefined; isUnheard: boolean } {
    const unnoticed = this.#open === undefined ? this.#heardUntil : undefined;
    const starts = this.#speakingSince === undefined ? [] : [this.#speakingSince];
    for (const said of [...(this.#open?.said ?? []), ...this.#waiting, ...this.#repeated.splice(0)]) {
      if (said.isFinal || said.entry === undefined) continue;
      starts.push(said.entry.at);
      said.text = '';
      said.isFinal = true;
      if (this.#options.transcribesCaller) this.#tellSaid(said);
    }
    if (this.#waiting.some(({ text }) => text !== '')) this.answer();
    const isEmpty = this.#open !== undefined && saidOf(this.#open) === '' && this.#open.steps.length === 0;
    if (!isEmpty) this.complete({ heard: '', unheard: '' }, { interrupted: false });
    this.#settle();
    const { clock } = this.#options;
    const times = starts.map((at) => clock.now() - (clock.wallNow() - at)).concat(unnoticed ?? []);
    return { since: times.length === 0 ? undefined : Math.min(...times), isUnheard: starts.length > 0 };
  }

  /** The conversation as it was heard; `answer` is the one that is on. Tools that still run have no result in it: that comes by itself. */
  history(answer: AnswerSplit | undefined): ChatMessage[] {
    const steps = [this.#owed, this.#open].flatMap((turn) => (turn === undefined ? [] : allSteps(turn)));
    const waiting = this.#waiting.map(({ text }): Step => ({ role: 'user', text }));
    const said = answer === undefined ? [] : toSteps(answer);
    const all = [...steps, ...said, ...waiting];
    return this.#options.conversation.history(all);
  }

  #begin(): OpenTurn {
    const index = this.#nextIndex;
    this.#nextIndex += 1;
    return {
      index,
      startedAt: this.#speechStartedAt ?? this.#options.clock.wallNow(),
      said: [],
      dropped: '',
      steps: [],
      speechEndedAt: undefined,
      firstFrameAt: undefined,
      heardAt: undefined,
      agentAt: undefined,
      end: undefined,
    };
  }

  #settle(): void {
    const turn = this.#owed;
    this.#owed = undefined;
    this.#timer?.cancel();
    if (turn?.end === undefined) return;
    const { conversation, fact } = this.#options;
    for (const said of turn.said) if (said.text !== '') this.#conclude(said);
    conversation.add(allSteps(turn));
    fact({ type: 'turn.completed', turn: toRecord(turn, turn.end) });
  }

  #sayingOf(itemId: string): Said {
    const known = this.#said.get(itemId);
    if (known !== undefined) return known;
    const { clock, transcribesCaller } = this.#options;
    const entry: TranscriptEntry = {
      id: `user-${itemId}`,
      turnIndex: this.#nextIndex,
      role: 'user',
      text: '',
      at: this.#speechStartedAt ?? clock.wallNow(),
      final: false,
    };
    const said: Said = { text: '', isFinal: false, isEnded: false, entry };
    this.#said.set(itemId, said);
    for (const key of this.#said.keys()) {
      if (this.#said.size <= KEPT_SAID) break;
      this.#said.delete(key);
    }
    this.#waiting = [...this.#waiting, said].slice(-KEPT_SAID);
    if (transcribesCaller) this.#tellSaid(said);
    return said;
  }

  /** The words are told as they are, and those that come all the same in their place. */
  #conclude(said: Said): void {
    if (!said.isFinal && this.#options.transcribesCaller) this.#tellSaid({ ...said, isFinal: true });
  }

  #tellSaid({ entry, text, isFinal }: Said): void {
    if (entry === undefined) return;
    entry.text = text;
    entry.final = isFinal;
    this.#options.fact({ type: 'transcript.segment', entry: { ...entry } });
  }

  #tellAgent(turn: OpenTurn, change: { text: string; final: boolean; interrupted?: boolean }): void {
    turn.agentAt ??= this.#options.clock.wallNow();
    const { index, agentAt: at } = turn;
    this.#options.fact({
      type: 'transcript.segment',
      entry: { id: `agent-${index}`, turnIndex: index, role: 'agent', at, ...change },
    });
  }

  #withdrawAgent(turn: OpenTurn): void {
    if (turn.agentAt === undefined) return;
    this.#tellAgent(turn, { text: '', final: true });
    turn.agentAt = undefined;
  }
}

function saidOf(turn: OpenTurn): string {
  const texts = turn.said.map(({ text }) => text);
  return texts.filter((text) => text !== '').join(' ');
}

function allSteps(turn: OpenTurn): Step[] {
  return [{ role: 'user', text: saidOf(turn) }, ...turn.steps];
}

function toSteps({ heard, rounds = [], heardAfter = heard }: AnswerSplit): Step[] {
  return [
    ...rounds.map((round): Step => ({ role: 'tools', ...round })),
    { role: 'assistant', text: heardAfter },
  ];
}

function toRecord(turn: OpenTurn, { split, interrupted }: NonNullable<OpenTurn['end']>): Turn {
  return {
    index: turn.index,
    startedAt: turn.startedAt,
    userText: saidOf(turn),
    agentText: split.heard,
    agentTextUnheard: `${turn.dropped} ${split.unheard}`.trim(),
    interrupted,
    latency: toLatency(turn),
    fillerMs: null,
    cost: null,
    toolCalls: turn.steps
      .flatMap((step) => (step.role === 'tools' ? step.runs : []))
      .map((run) => run.record),
  };
}

/** A turn that the agent opens has no end of speech, and then no latency. */
function toLatency({ speechEndedAt, firstFrameAt, heardAt }: OpenTurn): TurnLatency {
  const since = (at: number | undefined) =>
    speechEndedAt === undefined || at === undefined ? null : Math.max(0, Math.round(at - speechEndedAt));
  return {
    endpointingMs: null,
    sttMs: null,
    llmFirstTokenMs: null,
    sentenceMs: null,
    ttsFirstByteMs: null,
    sendMs: null,
    totalMs: since(firstFrameAt),
    heardMs: since(heardAt),
  };
}
