// Answers that were asked for, one after the other: the service refuses a second one while one is under way. Knows no socket.
import type { ModelToolCall } from '../../language-model.js';
import { KEPT_CALLS } from '../../wire/bounds.js';
import type { Json } from '../../wire/json.js';

export interface AnswersOptions {
  /** Asks for one. Returns the id by which an error would refer to it. */
  readonly ask: (response: Json) => string;
}

/** An answer that somebody wants, and what became of the tries so far. */
interface Wish {
  readonly response: Json;
  readonly failures: number;
  readonly refusals: number;
}

interface Asked {
  readonly eventId: string;
  readonly wish: Wish;
  /** Nobody wants it any more, and it may begin all the same. */
  isForgotten: boolean;
}

/** An answer that the service breaks off so often is not asked for again. */
const MAX_FAILURES = 2;
/** One that it refuses so often, for another one that is under way, has been overtaken. */
const MAX_REFUSALS = 3;

const NEW = { failures: 0, refusals: 0 };

export class OpenAIRealtimeAnswers {
  readonly #options: AnswersOptions;
  #waiting: Wish[] = [];
  /** Asked for, and not begun. */
  #asked: Asked | undefined;
  /** What the answer that is under way was asked for with; undefined for one that the service began. */
  #running: { readonly id: string; readonly wish: Wish | undefined } | undefined;
  /** What the one that is under way has called. */
  #calls: ModelToolCall[] = [];
  /** The service says that one is under way which we know nothing of. */
  #isBlocked = false;
  #isOpen = false;
  /** The service tells when an answer begins. Not every one does. */
  #isAnnounced = false;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Id of the answer that is under way. */
  get runningId(): string | undefined {
    return this.#running?.id;
  }

  /** True for an answer that can be ours: the one under way, and every one at a service that does not tell when one begins. */
  isOurs(id: string): boolean {
    return !this.#isAnnounced || id === '' || id === this.runningId;
  }

  /** The service has told that an answer begins. */
  announced(): void {
    this.#isAnnounced = true;
  }

  /** Wants an answer, soon. The same one that waits already is not wanted twice. */
  want(response: Json): void {
    const text = JSON.stringify(response);
    if (this.#waiting.some((other) => JSON.stringify(other.response) === text)) return;
    this.#waiting.push({ response, ...NEW });
    this.#pump();
  }

  /** From now on answers can be asked for. */
  open(): void {
    this.#isOpen = true;
    this.#pump();
  }

  /** The connection is gone, and with it all that was asked there. What was wanted before the first one stays. */
  lost(): void {
    if (this.#isOpen) this.#waiting = [];
    this.#asked = undefined;
    this.#running = undefined;
    this.#calls = [];
    this.#isBlocked = false;
    this.#isOpen = false;
  }

  /** Forgets what has not begun. */
  forget(): void {
    this.#waiting = [];
    if (this.#asked !== undefined) this.#asked.isForgotten = true;
  }

  /** The caller's turn is over: what begins from now on answers it, not what was forgotten before. */
  turnEnded(): void {
    if (this.#asked?.isForgotten === true) this.#asked = undefined;
  }

  /** Returns false when it was forgotten. */
  started(id: string): boolean {
    const asked = this.#asked;
    this.#calls = [];
    this.#running = { id, wish: asked?.wish };
    this.#asked = undefined;
    this.#isBlocked = false;
    return asked?.isForgotten !== true;
  }

  /** It calls a tool. The same call may be told more than once. */
  called(call: ModelToolCall): void {
    const isKnown = this.#calls.some(({ id }) => id === call.id);
    if (!isKnown && this.#calls.length < KEPT_CALLS) this.#calls.push(call);
  }

  /** What it has called, which is then the taker's. */
  takeCalls(): readonly ModelToolCall[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  ended(): void {
    this.#running = undefined;
    this.#isBlocked = false;
    this.#pump();
  }

  /** One has ended that we knew nothing of: it may be what ours was refused for. */
  otherEnded(): void {
    this.#isBlocked = false;
    this.#pump();
  }

  /** The one that is under way has failed. Returns false when it is not asked for again. */
  failed(): boolean {
    const { wish = { response: {}, ...NEW } } = this.#running ?? {};
    this.#running = undefined;
    const failures = wish.failures + 1;
    if (failures >= MAX_FAILURES) return false;
    this.#waiting.unshift({ ...wish, failures });
    this.#pump();
    return true;
  }

  /**
   * An error speaks of a message of ours. `again`: that asked for an answer, which is asked for again behind the other one. `given-up`: it
   * did, too often. `other`: it did not.
   */
  refused(eventId: string): 'again' | 'given-up' | 'other' {
    const asked = this.#asked;
    if (asked === undefined || asked.eventId !== eventId) return 'other';
    this.#asked = undefined;
    this.#isBlocked = this.#running === undefined;
    const refusals = asked.wish.refusals + 1;
    if (refusals >= MAX_REFUSALS) return 'given-up';
    if (!asked.isForgotten) this.#waiting.unshift({ ...asked.wish, refusals });
    return 'again';
  }

  #pump(): void {
    if (!this.#isOpen || this.#isBlocked || this.#running !== undefined || this.#asked !== undefined) return;
    const wish = this.#waiting.shift();
    if (wish === undefined) return;
    this.#asked = { eventId: this.#options.ask(wish.response), wish, isForgotten: false };
  }
}
