// Speech of the model as it comes: which item it belongs to, how much there is of it, and whether anybody still wants it.
import { forgetOldest } from '../../wire/bounds.js';

interface Item {
  contentIndex: number;
  producedMs: number;
  hasText: boolean;
}

/** Nobody speaks of items that are older than this many. */
const KEPT_ITEMS = 32;
const KEPT_RESPONSES = 32;

export class OpenAIRealtimeSpeech {
  readonly #items = new Map<string, Item>();
  readonly #unwanted = new Set<string>();

  /** Takes so much audio of an item. */
  audio(itemId: string, contentIndex: number, lengthMs: number): void {
    const item = this.#item(itemId);
    item.contentIndex = contentIndex;
    item.producedMs += lengthMs;
  }

  /** The words that are new in `text`: all of them, or none of a whole text whose pieces have come. */
  words(itemId: string, text: string, { isWhole }: { isWhole: boolean }): string {
    const item = this.#item(itemId);
    if (isWhole && item.hasText) return '';
    item.hasText ||= text !== '';
    return text;
  }

  /** Where an item is cut that was heard for `heardMs`: whole milliseconds, never beyond what came. Undefined for one that is not known. */
  cutAt(itemId: string, heardMs: number): { audioEndMs: number; contentIndex: number } | undefined {
    const item = this.#items.get(itemId);
    if (item === undefined) return undefined;
    const audioEndMs = Math.max(0, Math.floor(Math.min(heardMs, item.producedMs)));
    return { audioEndMs, contentIndex: item.contentIndex };
  }

  /** What comes of a response from now on is late. */
  drop(responseId: string): void {
    this.#unwanted.add(responseId);
    forgetOldest(this.#unwanted, KEPT_RESPONSES);
  }

  isWanted(responseId: string): boolean {
    return !this.#unwanted.has(responseId);
  }

  /** Another connection knows none of it. */
  reset(): void {
    this.#items.clear();
    this.#unwanted.clear();
  }

  #item(itemId: string): Item {
    const known = this.#items.get(itemId);
    if (known !== undefined) return known;
    const item = { contentIndex: 0, producedMs: 0, hasText: false };
    this.#items.set(itemId, item);
    forgetOldest(this.#items, KEPT_ITEMS);
    return item;
  }
}
