// What the agent says and asks for, read into responses: the service numbers its events and not its answers, and it does not always
// say that one is over. Knows no socket.
import type { Clock, Timer } from '../../../base/clock.js';
import type { ModelToolCall, ReplyEnd } from '../../language-model.js';
import { KEPT_CALLS } from '../../wire/bounds.js';
import { ElevenLabsAgentsRecent } from './recent.js';

export interface AnswersEvents {
  started(responseId: string): void;
  audio(chunk: { readonly responseId: string; readonly itemId: string; readonly audio: Uint8Array }): void;
  text(piece: { readonly responseId: string; readonly itemId: string; readonly delta: string }): void;
  ended(end: AnswerEnd): void;
}

export interface AnswerEnd {
  readonly responseId: string;
  readonly reason: ReplyEnd;
  readonly toolCalls: readonly ModelToolCall[];
  /** False for one whose start was not told, because nobody wanted it. */
  readonly isTold: boolean;
}

export interface AnswersOptions {
  readonly clock: Clock;
  /** How long so many bytes of audio sound. */
  readonly durationMs: (bytes: number) => number;
  readonly events: AnswersEvents;
}

interface Answer {
  readonly responseId: string;
  readonly itemId: string;
  readonly calls: ModelToolCall[];
  readonly isTold: boolean;
  /** False for one that was cancelled: nothing of it is told any more. */
  isWanted: boolean;
  /** The text that came whole; '' while none did. */
  wholeText: string;
  hasText: boolean;
  hasAudio: boolean;
}

/** The service sends faster than is heard: an answer of which nothing comes for so long is over, where it is not said. */
const QUIET_MS = 1000;
/** One that has called a tool waits for the result, and all that was said before is on the way. */
const TOOL_QUIET_MS = 300;

export class ElevenLabsAgentsAnswers {
  readonly #options: AnswersOptions;
  #count = 0;
  #open: Answer | undefined;
  /** Events up to this number belong to what was interrupted. */
  #deadId = Number.NEGATIVE_INFINITY;
  #skipsNext = false;
  #quiet: Timer | undefined;
  readonly #recent: ElevenLabsAgentsRecent;
  #lastAudio: { readonly eventId: number; readonly audio: Uint8Array } | undefined;
  /** Texts of the answers, whole, by their items: the two that a correction may speak of. */
  #texts: readonly { readonly itemId: string; readonly text: string }[] = [];

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#recent = new ElevenLabsAgentsRecent(options.clock);
  }

  /** An answer is under way, wanted or not. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** The agent has said something, on this connection or on one before. */
  get hasBegun(): boolean {
    return this.#count > 0;
  }

  /** Item of the answer with that text, or of the one that was under way last. */
  itemOf(text: string): string {
    return this.#texts.find((answer) => answer.text === text)?.itemId ?? toItemId(this.#count);
  }

  audio(eventId: number, audio: Uint8Array, { isFinal }: { isFinal: boolean }): void {
    const { eventId: lastId, audio: last } = this.#lastAudio ?? {};
    const isRepeated = eventId === lastId && last !== undefined && Buffer.compare(last, audio) === 0;
    if (eventId <= this.#deadId || isRepeated) return;
    this.#lastAudio = { eventId, audio };
    const durationMs = this.#options.durationMs(audio.length);
    const again = () => this.audio(eventId, audio, { isFinal });
    this.#recent.add({ eventId, bytes: audio.length, durationMs, again });
    const answer = this.#open ?? this.#begin();
    const { responseId, itemId } = answer;
    answer.hasAudio ||= audio.length > 0;
    this.#listen();
    if (answer.isWanted && audio.length > 0) this.#options.events.audio({ responseId, itemId, audio });
    if (isFinal) this.#settle();
  }

  text(eventId: number, text: string, { isWhole }: { isWhole: boolean }): void {
    if (eventId <= this.#deadId || text === '') return;
    const before = this.#open;
    // The same text twice is a repetition on the way. Another whole one belongs to the next answer.
    if (before !== undefined && isWhole && before.wholeText !== '') {
      if (before.wholeText === text) return;
      this.#end('complete');
    }
    const again = () => this.text(eventId, text, { isWhole });
    this.#recent.add({ eventId, bytes: 2 * text.length, durationMs: 0, again });
    const answer = this.#open ?? this.#begin();
    const { responseId, itemId, hasText } = answer;
    answer.hasText = true;
    if (isWhole) {
      answer.wholeText = text;
      this.#texts = [...this.#texts.slice(-1), { itemId, text }];
    }
    this.#listen();
    if (answer.isWanted && !(isWhole && hasText))
      this.#options.events.text({ responseId, itemId, delta: text });
  }

  toolCall(call: ModelToolCall): void {
    const answer = this.#open ?? this.#begin();
    const isKnown = answer.calls.some(({ id }) => id === call.id);
    if (!isKnown && answer.calls.length < KEPT_CALLS) answer.calls.push(call);
    if (answer.hasText || answer.hasAudio) this.#listen();
    else this.#end('complete');
  }

  /** An answer without words. */
  nothing(): void {
    this.#begin();
    this.#end('complete');
  }

  /** The service says that no more comes. */
  complete(eventId: number): void {
    if (eventId > this.#deadId) this.#settle();
  }

  /** Whatever was under way is over: somebody else has the floor. */
  over(): void {
    this.#end('complete');
  }

  /** That interruption was told before, and the agent has gone on since. */
  isOver(eventId: number): boolean {
    return eventId <= this.#deadId && this.#recent.hasBehind(eventId);
  }

  /** What was said up to that event is still heard, or on the way, and is interrupted. */
  isHeard(eventId: number): boolean {
    return this.#recent.behind(eventId) !== undefined;
  }

  /**
   * What was said up to this event is interrupted. `isCleared`: nothing of what was told is heard any more, and what was said behind the
   * event is told anew, in an answer of its own.
   */
  interrupted(eventId: number, { isCleared }: { isCleared: boolean }): void {
    const wasOpen = this.#open !== undefined;
    const behind = this.#recent.behind(eventId);
    this.#deadId = Math.max(this.#deadId, eventId);
    if (behind === undefined) return;
    this.#end('interrupted');
    if (!isCleared) return;
    this.#recent.clear();
    this.#lastAudio = undefined;
    for (const { again } of behind) again();
    if (!wasOpen) this.#settle();
  }

  /** Nothing of what is under way is wanted any more. Returns false when nothing is. */
  cancel(): boolean {
    if (this.#open === undefined) return false;
    this.#open.isWanted = false;
    return true;
  }

  /** An answer that has not begun is not wanted, or is after all. */
  skipNext(skips: boolean): void {
    this.#skipsNext = skips;
  }

  /** Another connection knows none of it. Tells nothing. */
  reset(): void {
    this.#quiet?.cancel();
    this.#recent.clear();
    this.#lastAudio = undefined;
    this.#texts = [];
    this.#open = undefined;
    this.#deadId = Number.NEGATIVE_INFINITY;
    this.#skipsNext = false;
  }

  #begin(): Answer {
    this.#count += 1;
    const answer: Answer = {
      responseId: `answer-${this.#count}`,
      itemId: toItemId(this.#count),
      calls: [],
      isTold: !this.#skipsNext,
      isWanted: !this.#skipsNext,
      wholeText: '',
      hasText: false,
      hasAudio: false,
    };
    this.#open = answer;
    this.#skipsNext = false;
    if (answer.isTold) this.#options.events.started(answer.responseId);
    return answer;
  }

  /** The end was said. Its words may still be on the way. */
  #settle(): void {
    if (this.#open !== undefined && (this.#open.hasText || !this.#open.isWanted)) this.#end('complete');
  }

  #listen(): void {
    const hasCalls = (this.#open?.calls.length ?? 0) > 0;
    this.#quiet?.cancel();
    this.#quiet = this.#options.clock.after(hasCalls ? TOOL_QUIET_MS : QUIET_MS, () => this.#end('complete'));
  }

  #end(reason: 'complete' | 'interrupted'): void {
    const answer = this.#open;
    this.#quiet?.cancel();
    if (answer === undefined) return;
    this.#open = undefined;
    const { responseId, calls, isWanted, isTold } = answer;
    const whole = calls.length > 0 ? 'tool-calls' : 'complete';
    const end = reason === 'interrupted' || !isWanted ? 'interrupted' : whole;
    this.#options.events.ended({ responseId, reason: end, toolCalls: calls, isTold });
  }
}

function toItemId(count: number): string {
  return `agent-${count}`;
}
