// Tool calls arrive in pieces, and every server cuts them in its own way.
import { randomBytes } from 'node:crypto';
import { MAX_TOOL_CALLS, type ModelToolCall } from '../language-model.js';
import { toArray, toNumber, toObject, toText } from '../wire/json.js';
import { readArguments, textOfArguments } from '../wire/tool-arguments.js';

interface Draft {
  /** As the server counts, undefined when it does not. */
  readonly index: number | undefined;
  id: string;
  name: string;
  argumentsText: string;
  /** The arguments have come to their end. */
  readonly end: ObjectEnd;
}

/** Finds the end of a JSON object that comes in pieces. Each sign is looked at once. */
class ObjectEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  isReached = false;

  read(piece: string): void {
    for (let at = 0; at < piece.length && !this.isReached; at += 1) {
      const sign = piece[at];
      if (this.#isInText) {
        this.#isInText = sign !== '"' || this.#isEscaped;
        this.#isEscaped = sign === '\\' && !this.#isEscaped;
      } else if (sign === '"') this.#isInText = true;
      else if (sign === '{' || sign === '[') this.#depth += 1;
      else if (sign === '}' || sign === ']') {
        this.#depth -= 1;
        this.isReached = this.#depth <= 0;
      }
    }
  }
}

/** One per reply. */
export class ToolCallAssembly {
  readonly #drafts: Draft[] = [];

  /** True once there is a call, also an unfinished one. */
  get started(): boolean {
    return this.#drafts.length > 0;
  }

  /** Takes `delta.tool_calls` of one chunk, whatever it is. */
  push(fragments: unknown): void {
    for (const fragment of toArray(fragments)) {
      const piece = toObject(fragment);
      if (piece !== undefined) this.#take(piece);
    }
  }

  /** The calls, in the order of their appearance. Those without a name are none. */
  finish(): ModelToolCall[] {
    return this.#drafts.filter(({ name }) => name !== '').map(toCall);
  }

  #take(piece: Readonly<Record<string, unknown>>): void {
    const index = toNumber(piece.index);
    const id = toText(piece.id);
    const called = toObject(piece.function) ?? {};
    const name = toText(called.name);
    const draft = this.#find(index, id, name) ?? this.#begin(index, id);
    if (draft === undefined) return;
    if (draft.id === '') draft.id = id;
    if (draft.name === '') draft.name = name;
    const written = textOfArguments(called.arguments);
    draft.argumentsText += written;
    draft.end.read(written);
  }

  /** The call that a piece goes on with. A new id at a known index begins a new call; so does a name where there is one already. */
  #find(index: number | undefined, id: string, name: string): Draft | undefined {
    const byId = id === '' ? undefined : this.#drafts.findLast((draft) => draft.id === id);
    if (byId !== undefined) return byId;
    const last = this.#drafts.findLast((draft) => index === undefined || draft.index === index);
    if (last === undefined) return undefined;
    const isAnother = id === '' ? isNextCall(last, name) : last.id !== '';
    return isAnother ? undefined : last;
  }

  #begin(index: number | undefined, id: string): Draft | undefined {
    if (this.#drafts.length >= MAX_TOOL_CALLS) return undefined;
    const draft: Draft = { index, id, name: '', argumentsText: '', end: new ObjectEnd() };
    this.#drafts.push(draft);
    return draft;
  }
}

/** Without an id, another name begins another call, and so does the same name after complete arguments. */
function isNextCall(last: Draft, name: string): boolean {
  if (name === '' || last.name === '') return false;
  return name !== last.name || last.end.isReached;
}

function toCall({ id, name, argumentsText }: Draft): ModelToolCall {
  const made = id === '' ? `call_${randomBytes(9).toString('base64url')}` : id;
  return { id: made, name, ...readArguments(argumentsText) };
}
