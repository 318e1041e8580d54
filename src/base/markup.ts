// Takes markup out of text as it streams: tags, what models think aloud, and blocks of code. One step for each character, wherever the
// text is cut. What may still become a tag is held back.

/** Elements whose content nobody is to hear: thoughts, calls of tools written out, and code. */
const HIDDEN = new Set(
  (
    'think thinking thought thoughts reason reasoning reflection scratchpad analysis inner_monologue ' +
    'tool_call tool_calls tool_response tool_result tool_use function function_call function_calls function_response invoke ' +
    'script style pre svg math template'
  ).split(' '),
);

/** Behind these a line ends. */
const BLOCKS = new Set(
  'br p div li ul ol tr table h1 h2 h3 h4 h5 h6 hr blockquote section article'.split(' '),
);

/** What is longer is no tag: the caller waits for what it holds back. */
const MAX_TAG_CHARS = 1024;

/** So many of these marks begin a block of code. */
const FENCE_MARKS = 3;

const OPENS_NAME = /[A-Za-z]/;
const IN_NAME = /[\w:.-]/;
const IN_ATTRIBUTE = /[\w:.@-]/;
const SPACE = /\s/;

/** Where in a tag the text is. `bang`: declarations and comments. `token`: `<|…|>`, which models write between messages. */
type Place =
  | 'open'
  | 'name'
  | 'gap'
  | 'attribute'
  | 'equals'
  | 'bare'
  | '"'
  | "'"
  | 'slash'
  | 'bang'
  | 'token';

interface Tag {
  text: string;
  name: string;
  isClosing: boolean;
  place: Place;
}

type Mode =
  | { readonly is: 'text' }
  | { readonly is: 'tag'; readonly tag: Tag }
  | { readonly is: 'comment'; end: string }
  | { readonly is: 'fence'; readonly mark: string; readonly length: number; run: number }
  | { readonly is: 'hidden'; readonly name: string; depth: number; inner: string | undefined };

const TEXT: Mode = { is: 'text' };

export class MarkupFilter {
  readonly #emit: (character: string) => void;
  #mode: Mode = TEXT;
  /** Marks in a row that may begin a block of code. */
  #marks = '';

  /** `emit` is given what is left, character by character. */
  constructor(emit: (character: string) => void) {
    this.#emit = emit;
  }

  /** Takes one character. */
  take(character: string): void {
    const mode = this.#mode;
    if (mode.is === 'text') this.#text(character);
    else if (mode.is === 'tag') this.#tag(mode.tag, character);
    else if (mode.is === 'comment') this.#comment(mode, character);
    else if (mode.is === 'fence') this.#fence(mode, character);
    else this.#hidden(mode, character);
  }

  /** The text is over: what was not closed stays unheard, what has not become a tag is text. */
  end(): void {
    const mode = this.#mode;
    this.#mode = TEXT;
    if (mode.is === 'tag' && isPlain(mode.tag)) this.#release(mode.tag.text);
    if (this.#marks.length < FENCE_MARKS) this.#release(this.#marks);
    this.#marks = '';
  }

  #text(character: string): void {
    if (this.#marks !== '' && character !== this.#marks[0]) {
      const { length } = this.#marks;
      const [mark = ''] = this.#marks;
      const marks = this.#marks;
      this.#marks = '';
      if (length >= FENCE_MARKS) {
        this.#emit(' ');
        this.#mode = { is: 'fence', mark, length, run: 0 };
        this.take(character);
        return;
      }
      this.#release(marks);
    }
    if (character === '`' || character === '~') this.#marks += character;
    else if (character === '<')
      this.#mode = { is: 'tag', tag: { text: '<', name: '', isClosing: false, place: 'open' } };
    else this.#emit(character);
  }

  #fence(mode: Mode & { is: 'fence' }, character: string): void {
    if (character === mode.mark) mode.run += 1;
    else if (mode.run < mode.length) mode.run = 0;
    else {
      this.#mode = TEXT;
      this.#emit(' ');
      this.#text(character);
    }
  }

  #comment(mode: Mode & { is: 'comment' }, character: string): void {
    mode.end = `${mode.end}${character}`.slice(-3);
    if (mode.end === '-->') this.#mode = TEXT;
  }

  /** Only tags of the same name count. */
  #hidden(mode: Mode & { is: 'hidden' }, character: string): void {
    if (character === '<') {
      mode.inner = '';
      return;
    }
    if (mode.inner === undefined) return;
    if (character !== '>') {
      // Of attributes only the end is of interest.
      const { length } = mode.inner;
      mode.inner =
        length <= mode.name.length + 1
          ? mode.inner + character.toLowerCase()
          : mode.inner.slice(0, -1) + character;
      return;
    }
    const inner = mode.inner;
    mode.inner = undefined;
    if (inner.replace(/\s$/, '') === `/${mode.name}`) mode.depth -= 1;
    else if (
      inner === mode.name ||
      (inner.startsWith(mode.name) && opensAgain(inner.slice(mode.name.length)))
    )
      mode.depth += 1;
    if (mode.depth > 0) return;
    this.#mode = TEXT;
    this.#emit(' ');
  }

  #tag(tag: Tag, character: string): void {
    const place = nextPlace(tag, character);
    if (place === 'no-tag' || tag.text.length >= MAX_TAG_CHARS) {
      this.#mode = TEXT;
      // An address in angle brackets is read as an address.
      const isAddress = tag.text.endsWith(':/') && character === '/';
      this.#release(isAddress ? tag.text.slice(1) : tag.text);
      this.#text(character);
      return;
    }
    if (place === 'comment') {
      this.#mode = { is: 'comment', end: '' };
      return;
    }
    if (place === 'end') {
      this.#mode = TEXT;
      this.#close(tag);
      return;
    }
    tag.text += character;
    if (place === 'name' && character === '/') tag.isClosing = true;
    else if (place === 'name') tag.name += character.toLowerCase();
    tag.place = place;
  }

  #close({ name, text, isClosing }: Tag): void {
    const plain = name.slice(name.lastIndexOf(':') + 1);
    if (!isClosing && !text.endsWith('/') && HIDDEN.has(plain))
      this.#mode = { is: 'hidden', name, depth: 1, inner: undefined };
    else this.#emit(BLOCKS.has(plain) ? '\n' : ' ');
  }

  #release(text: string): void {
    for (const character of text) this.#emit(character);
  }
}

/** What begins like a tag at the end of a text, and may as well be none. */
function isPlain({ text, name, isClosing, place }: Tag): boolean {
  if (place === 'token' || place === 'bang') return text.length <= 2;
  return name.length < 2 && !(isClosing && name !== '');
}

/** What follows the name in an opening tag that is not closed in itself. */
function opensAgain(behind: string): boolean {
  return SPACE.test(behind[0] ?? '') && !behind.endsWith('/');
}

/** Where a tag is behind `character`. Not every `<` begins one: "3 < 5" does not. */
function nextPlace(tag: Tag, character: string): Place | 'end' | 'comment' | 'no-tag' {
  const { text, name, place } = tag;
  if (place === '"' || place === "'")
    return character === place ? 'gap' : character === '<' ? 'no-tag' : place;
  if (place === 'open') {
    if (OPENS_NAME.test(character)) return 'name';
    if (text === '<' && character === '/') return 'name';
    if (text === '<' && (character === '!' || character === '?')) return 'bang';
    return text === '<' && (character === '|' || character === '｜') ? 'token' : 'no-tag';
  }
  if (character === '<') return 'no-tag';
  if (place === 'token')
    return character === '>' && /[|｜]$/.test(text) ? 'end' : SPACE.test(character) ? 'no-tag' : place;
  if (place === 'bang') {
    if (text === '<!-' && character === '-') return 'comment';
    if (character === '>') return 'end';
    return text.length > 1 || /[A-Za-z[-]/.test(character) ? place : 'no-tag';
  }
  // "a <b and c> d" is no tag, and neither is "<>".
  const isBare = place === 'attribute' && name.length === 1;
  if (character === '>') return name === '' || isBare ? 'no-tag' : 'end';
  switch (place) {
    case 'name':
      if (name === '') return OPENS_NAME.test(character) ? 'name' : 'no-tag';
      if (IN_NAME.test(character)) return 'name';
      if (SPACE.test(character)) return 'gap';
      if (character === '=') return 'equals';
      return character === '/' ? 'slash' : 'no-tag';
    case 'gap':
      if (SPACE.test(character)) return 'gap';
      if (character === '/') return 'slash';
      return OPENS_NAME.test(character) ? 'attribute' : 'no-tag';
    case 'attribute':
      if (IN_ATTRIBUTE.test(character)) return 'attribute';
      if (character === '=') return 'equals';
      if (isBare) return 'no-tag';
      return SPACE.test(character) ? 'gap' : character === '/' ? 'slash' : 'no-tag';
    case 'equals':
      if (character === '"' || character === "'") return character;
      return SPACE.test(character) ? 'equals' : 'bare';
    case 'bare':
      return SPACE.test(character) ? 'gap' : 'bare';
    default:
      return 'no-tag';
  }
}
