// Takes addresses out of text as it streams: of a Markdown link its words are left, of a bare address its host. One step for each
// character, wherever the text is cut.

/** Longer words in brackets are no link: they are held back until it is known. */
const MAX_LABEL_CHARS = 300;

/** Longest word that can begin an address. */
const MAX_SCHEME_CHARS = 10;
const MAX_HOST_CHARS = 255;

const LETTER = /[A-Za-z]/;
const WORD = /[A-Za-z0-9]/;
const IN_HOST = /[A-Za-z0-9.:@_%~-]/;
const ENDS_ADDRESS = /[\s<>"“”«»\u3000-\uFFFF]/;
const PUNCTUATION = /[.,;:!?)\]}'’*_]/;

type Mode =
  | { readonly is: 'text' }
  /** Words in brackets, and whether the bracket is closed. */
  | { readonly is: 'label'; readonly begin: '[' | '!['; text: string; isClosed: boolean }
  /** The address behind them, in so many parentheses. */
  | { readonly is: 'target'; depth: number };

const TEXT: Mode = { is: 'text' };

export class LinkFilter {
  readonly #addresses: AddressFilter;
  #mode: Mode = TEXT;
  /** An exclamation mark, which may begin a picture. */
  #mark = false;

  /** `emit` is given what is left, character by character. */
  constructor(emit: (character: string) => void) {
    this.#addresses = new AddressFilter(emit);
  }

  /** There is text that may be an address, or not. */
  get holds(): boolean {
    return this.#mode.is === 'label' || this.#addresses.holds;
  }

  take(character: string): void {
    const mode = this.#mode;
    if (mode.is === 'text') this.#text(character);
    else if (mode.is === 'label') this.#label(mode, character);
    else this.#target(mode, character);
  }

  /** The text is over. */
  end(): void {
    const mode = this.#mode;
    this.#mode = TEXT;
    if (mode.is === 'label') this.#asText(mode);
    this.#endMark();
    this.#addresses.end();
  }

  #text(character: string): void {
    if (character === '[') {
      this.#mode = { is: 'label', begin: this.#mark ? '![' : '[', text: '', isClosed: false };
      this.#mark = false;
      return;
    }
    this.#endMark();
    if (character === '!') this.#mark = true;
    else this.#addresses.take(character);
  }

  #label(mode: Mode & { is: 'label' }, character: string): void {
    if (mode.isClosed && character === '(') {
      this.#release(mode.text);
      this.#mode = { is: 'target', depth: 1 };
    } else if (
      mode.isClosed ||
      character === '[' ||
      character === '\n' ||
      mode.text.length >= MAX_LABEL_CHARS
    ) {
      this.#mode = TEXT;
      this.#asText(mode);
      this.#text(character);
    } else if (character === ']') mode.isClosed = true;
    else mode.text += character;
  }

  #target(mode: Mode & { is: 'target' }, character: string): void {
    if (character === '(') mode.depth += 1;
    else if (character === ')') mode.depth -= 1;
    if (mode.depth > 0 && character !== '\n') return;
    this.#mode = TEXT;
    if (character === '\n') this.#text(character);
  }

  #asText({ begin, text, isClosed }: Mode & { is: 'label' }): void {
    this.#release(`${begin}${text}${isClosed ? ']' : ''}`);
  }

  #endMark(): void {
    if (this.#mark) this.#addresses.take('!');
    this.#mark = false;
  }

  #release(text: string): void {
    for (const character of text) this.#addresses.take(character);
  }
}

/** Where in an address the text is. */
type Place = 'outside' | 'host' | 'behind';

class AddressFilter {
  readonly #emit: (character: string) => void;
  #place: Place = 'outside';
  /** A word that may begin an address, then the host of one. */
  #held = '';
  /** Punctuation that may be the end of a sentence, or a part of the address. */
  #tail = '';
  #isInWord = false;

  constructor(emit: (character: string) => void) {
    this.#emit = emit;
  }

  get holds(): boolean {
    return this.#held !== '';
  }

  take(character: string): void {
    if (this.#place === 'outside') this.#outside(character);
    else if (this.#place === 'host') this.#host(character);
    else this.#behind(character);
  }

  end(): void {
    if (this.#place === 'host') this.#sayHost();
    else this.#give(this.#held);
    this.#give(this.#tail);
    this.#held = this.#tail = '';
    this.#place = 'outside';
    this.#isInWord = false;
  }

  #outside(character: string): void {
    if (this.#held === '') {
      if (!this.#isInWord && LETTER.test(character)) this.#held = character;
      else this.#give(character);
      return;
    }
    const held = this.#held + character;
    if (held.toLowerCase() === 'www.' || held.endsWith('://')) {
      this.#held = '';
      this.#place = 'host';
    } else if (held.toLowerCase() === 'mailto:') this.#held = '';
    else if (isBeginning(this.#held, character)) this.#held = held;
    else {
      this.#give(this.#held);
      this.#held = '';
      this.#outside(character);
    }
  }

  #host(character: string): void {
    if (IN_HOST.test(character) && this.#held.length < MAX_HOST_CHARS) {
      this.#held += character;
      return;
    }
    this.#sayHost();
    const isAddress = '/?#\\'.includes(character) || IN_HOST.test(character);
    this.#place = isAddress ? 'behind' : 'outside';
    // What was behind the host is a part of the address.
    if (isAddress) this.#tail = '';
    this.#give(this.#tail);
    this.#tail = '';
    if (!isAddress && character !== '>') this.#outside(character);
  }

  #behind(character: string): void {
    if (ENDS_ADDRESS.test(character)) {
      this.#give(this.#tail);
      this.#tail = '';
      this.#place = 'outside';
      if (character !== '>') this.#outside(character);
    } else if (PUNCTUATION.test(character)) this.#tail += character;
    else this.#tail = '';
  }

  /** Without a user, a port, and the letters that every host has; the punctuation behind it is for the sentence. */
  #sayHost(): void {
    const all = this.#held;
    this.#held = '';
    let end = all.length;
    while (PUNCTUATION.test(all[end - 1] ?? '')) end -= 1;
    this.#tail = all.slice(end);
    const authority = all.slice(0, end);
    const [host = ''] = authority.slice(authority.lastIndexOf('@') + 1).split(':');
    this.#give(host.toLowerCase().startsWith('www.') ? host.slice(4) : host);
  }

  #give(text: string): void {
    for (const character of text) this.#emit(character);
    const last = text.at(-1);
    if (last !== undefined) this.#isInWord = WORD.test(last);
  }
}

/** True while what is held goes on to be the beginning of an address. */
function isBeginning(held: string, character: string): boolean {
  if (held.endsWith(':')) return character === '/';
  if (held.endsWith('/')) return false;
  return held.length < MAX_SCHEME_CHARS && (LETTER.test(character) || character === ':');
}
