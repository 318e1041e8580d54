// Tool calls arrive in pieces, and every server cuts them in its own way.
import { randomBytes } from 'node:crypto';
import { MAX_TOOL_CALLS, type ModelToolCall } from '../language-model.js';
import { parseObject, toArray, toNumber, toObject, toText } from '../wire/json.js';

interface Draft {
  /** As the server counts, undefined when it does not. */
  readonly index: number | undefined;
  id: string;
  name: string;
  argumentsText: string;
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
    // Some servers send the arguments as the object that they stand for.
    const whole = toObject(called.arguments);
    draft.argumentsText += whole === undefined ? toText(called.arguments) : JSON.stringify(whole);
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
    const draft: Draft = { index, id, name: '', argumentsText: '' };
    this.#drafts.push(draft);
    return draft;
  }
}

/** Without an id, another name begins another call, and so does the same name after complete arguments. */
function isNextCall(last: Draft, name: string): boolean {
  if (name === '' || last.name === '') return false;
  return name !== last.name || parseObject(last.argumentsText) !== undefined;
}

function toCall({ id, name, argumentsText }: Draft): ModelToolCall {
  const text = argumentsText.trim() === '' ? '{}' : argumentsText;
  return {
    id: id === '' ? `call_${randomBytes(9).toString('base64url')}` : id,
    name,
    arguments: parseObject(text) ?? null,
    argumentsText: text,
  };
}
