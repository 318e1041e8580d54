// What the model is to be told and asked, one thing after the other: whatever is sent into an answer would break it off. Knows no socket.
import type { ModelToolCall } from '../../language-model.js';
import { forgetOldest, KEPT_CALLS } from '../../wire/bounds.js';
import type { Json } from '../../wire/json.js';
import {
  type ToolBehavior,
  type ToolResult,
  toContent,
  toLateResult,
  toSaying,
  toToolResponse,
} from './settings.js';

export interface GeminiLiveAnswersOptions {
  readonly behavior: ToolBehavior;
  /** No answer that anybody wants is being made. */
  readonly isFree: () => boolean;
  readonly send: (message: Json) => void;
}

/** A text to say; undefined is an answer to what there is. */
type Ask = { readonly say: string | undefined };

/** Tries of one answer that comes empty. */
const MAX_TRIES = 2;
/** Texts that wait to be told: notes of ours, and results that came too late. */
const KEPT_TEXTS = 128;

export class GeminiLiveAnswers {
  readonly #options: GeminiLiveAnswersOptions;
  #waiting: Ask[] = [];
  #texts: Json[] = [];
  #results: ToolResult[] = [];
  /** Names of the calls that were made, and whether the service waits for the result. */
  readonly #calls = new Map<string, { readonly name: string; isOpen: boolean }>();
  /** Asked for, and not begun. */
  #asked: (Ask & { isForgotten: boolean; isForResults: boolean }) | undefined;
  #isOpen = false;
  #tries = 0;

  constructor(options: GeminiLiveAnswersOptions) {
    this.#options = options;
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** The service waits for results: a message would make it give their calls up. */
  get isAwaited(): boolean {
    return this.#results.length > 0 || [...this.#calls.values()].some(({ isOpen }) => isOpen);
  }

  say(text: string): void {
    this.#waiting.push({ say: text });
    this.flush();
  }

  /** The same that waits already is not wanted twice. */
  respond(): void {
    if (!this.#waiting.some(({ say }) => say === undefined)) this.#waiting.push({ say: undefined });
    this.flush();
  }

  addText(turn: Json): void {
    this.#texts = [...this.#texts, turn].slice(-KEPT_TEXTS);
    this.flush();
  }

  called(calls: readonly ModelToolCall[]): void {
    for (const { id, name } of calls) this.#calls.set(id, { name, isOpen: true });
    forgetOldest(this.#calls, KEPT_CALLS);
  }

  /** The service waits for these no more. */
  callsCancelled(ids: readonly string[]): void {
    for (const id of ids) {
      const call = this.#calls.get(id);
      if (call !== undefined) call.isOpen = false;
    }
    for (const { id, ...late } of this.#results.filter((result) => ids.includes(result.id)))
      this.#texts.push(toLateResult(late));
    this.#results = this.#results.filter(({ id }) => !ids.includes(id));
  }

  /** The service answers a result as soon as it has it: it is kept until an answer is wanted. */
  giveResult(id: string, result: string): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call?.isOpen === true) this.#results.push({ id, name: call.name, result });
    else this.addText(toLateResult({ name: call?.name ?? 'tool', result }));
  }

  /** The conversation was told from its beginning, with all that waits. */
  told(): void {
    this.#texts = [];
  }

  /** From now on it can be sent. */
  open(): void {
    this.#isOpen = true;
    this.flush();
  }

  /** The connection is gone, and with it all that was asked there. Texts may be told to the next one, and what was wanted before the first one stays. */
  lost(): void {
    if (this.#isOpen) this.#waiting = [];
    this.#results = [];
    this.#calls.clear();
    this.#asked = undefined;
    this.#isOpen = false;
  }

  /** Forgets what has not begun. */
  forget(): void {
    this.#waiting = [];
    if (this.#asked !== undefined) this.#asked.isForgotten = true;
  }

  /** The caller speaks: what begins from now on answers that, and not what was forgotten before. */
  callerSpoke(): void {
    if (this.#asked?.isForgotten === true) this.#asked = undefined;
  }

  /** An answer begins. */
  began(): { readonly isAsked: boolean; readonly isWanted: boolean } {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#tries = 0;
    return { isAsked: asked !== undefined, isWanted: asked?.isForgotten !== true };
  }

  /** A turn of the model was empty. One that was asked for is asked for once more. */
  wasEmpty(): void {
    const asked = this.#asked;
    if (asked === undefined) return;
    this.#asked = undefined;
    this.#tries += 1;
    if (!asked.isForgotten && this.#tries < MAX_TRIES) this.#waiting.unshift({ say: asked.say });
    this.flush();
  }

  /** Sends what can be sent now. */
  flush(): void {
    if (!this.#isOpen || !this.#options.isFree()) return;
    const [next] = this.#waiting;
    if (this.#asked !== undefined && !this.#asked.isForResults) return;
    if (next !== undefined && this.#results.length > 0) this.#sendResults(next);
    else if (this.#asked === undefined && next !== undefined) this.#sendAsk(next);
    else if (this.#asked === undefined && !this.isAwaited) this.#sendTexts();
  }

  /** They are answered, which is what `next` wants, unless it is a text to say or there is more to know. */
  #sendResults(next: Ask): void {
    const { send, behavior } = this.#options;
    if (next.say === undefined && this.#texts.length === 0) this.#waiting.shift();
    // The words come first, and break off what answers the results.
    const isForgotten = next.say !== undefined;
    this.#asked = { say: undefined, isForgotten, isForResults: true };
    send(toToolResponse(this.#results.splice(0), behavior));
  }

  #sendAsk({ say }: Ask): void {
    this.#waiting.shift();
    if (say !== undefined) this.#sendTexts();
    this.#asked = { say, isForgotten: false, isForResults: false };
    this.#options.send(say === undefined ? toContent(this.#texts.splice(0), { asks: true }) : toSaying(say));
  }

  #sendTexts(): void {
    if (this.#texts.length > 0) this.#options.send(toContent(this.#texts.splice(0), { asks: false }));
  }
}
