// Reads the answer of a voice webhook as strictly as the carrier does, and stricter: what would only be logged there is a violation here.

export interface MarkupElement {
  name: string;
  attributes: Map<string, string>;
  children: MarkupElement[];
  text: string;
}

/** What a markup document tells the carrier to do with the call. */
export type MarkupAnswer =
  | { type: 'stream'; url: string; parameters: Record<string, string> }
  | { type: 'reject'; reason: string }
  | { type: 'hang-up' }
  | { type: 'dial'; number: string };

export interface MarkupReading {
  /** Null when the document cannot be acted on. */
  answer: MarkupAnswer | null;
  violations: string[];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** Source: the wire reference of the carrier, name plus value. */
const MAX_PARAMETER_CHARACTERS = 500;
const NAME = /[A-Za-z_][\w.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

class MarkupFault extends Error {}

function decodeText(text: string): string {
  const decoded = text.replace(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (_, decimal, hex, name) => {
    if (name !== undefined) {
      const character = ENTITIES[name as string];
      if (character === undefined) throw new MarkupFault('an unknown entity');
      return character;
    }
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    if (code > 0x10ffff) throw new MarkupFault('a character that does not exist');
    return String.fromCodePoint(code);
  });
  if (/&(?!#?\w+;)/.test(text)) throw new MarkupFault('a bare "&"');
  return decoded;
}

/** Parses a document without DTD. @throws MarkupFault for anything that is not well-formed. */
function parseMarkup(source: string): MarkupElement {
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const skip = () => {
    while (match(/\s+|<!--(?:(?!--)[\s\S])*-->/y) !== null);
  };
  const element = (depth: number): MarkupElement => {
    if (depth > 20) throw new MarkupFault('elements nested too deep');
    if (source[at] !== '<') throw new MarkupFault('text where an element belongs');
    at += 1;
    const name = match(NAME)?.[0];
    if (name === undefined) throw new MarkupFault('a "<" that begins no element');
    const attributes = new Map<string, string>();
    for (let found = match(ATTRIBUTE); found !== null; found = match(ATTRIBUTE)) {
      const key = found[1] ?? '';
      if (attributes.has(key)) throw new MarkupFault(`the attribute "${key}" twice`);
      attributes.set(key, decodeText(found[2] ?? found[3] ?? ''));
    }
    const node: MarkupElement = { name, attributes, children: [], text: '' };
    match(/\s+/y);
    if (match(/\/>/y) !== null) return node;
    if (match(/>/y) === null) throw new MarkupFault(`a broken "${name}" tag`);
    for (;;) {
      const text = match(/[^<]+/y)?.[0];
      if (text !== undefined) {
        if (text.includes(']]>')) throw new MarkupFault('a stray "]]>"');
        node.text += decodeText(text);
      }
      if (match(/<!--(?:(?!--)[\s\S])*-->/y) !== null) continue;
      if (match(/<\//y) !== null) break;
      if (at >= source.length) throw new MarkupFault(`no end of "${name}"`);
      node.children.push(element(depth + 1));
    }
    if (match(NAME)?.[0] !== name || match(/\s*>/y) === null)
      throw new MarkupFault(`a wrong end of "${name}"`);
    return node;
  };
  match(/\uFEFF/y);
  match(/<\?xml\s[^?]*\?>/y);
  skip();
  const root = element(0);
  skip();
  if (at !== source.length) throw new MarkupFault('something after the end');
  return root;
}

function readStream(connect: MarkupElement, violations: string[]): MarkupAnswer | null {
  const [stream, ...more] = connect.children;
  if (stream?.name !== 'Stream' || more.length > 0) {
    violations.push('<Connect> must hold exactly one <Stream>');
    return null;
  }
  const url = stream.attributes.get('url') ?? '';
  if (!URL.canParse(url)) {
    violations.push('<Stream> has no url that can be read');
    return null;
  }
  const parsed = new URL(url);
  if (parsed.protocol !== 'wss:') violations.push('the stream url is not wss');
  if (parsed.hostname.includes('_')) violations.push('the host of the stream url has an underscore');
  if (parsed.hash !== '') violations.push('the stream url has a fragment');
  const parameters: Record<string, string> = {};
  for (const child of stream.children) {
    const name = child.attributes.get('name');
    const value = child.attributes.get('value');
    if (child.name !== 'Parameter' || name === undefined || value === undefined) {
      violations.push('<Stream> may hold only <Parameter name value>');
    } else {
      if (Object.hasOwn(parameters, name)) violations.push('a stream parameter is given twice');
      if (name.length + value.length > MAX_PARAMETER_CHARACTERS) {
        violations.push(`a stream parameter is longer than ${MAX_PARAMETER_CHARACTERS} characters`);
      }
      parameters[name] = value;
    }
  }
  return { type: 'stream', url, parameters };
}

function readVerbs(root: MarkupElement, violations: string[]): MarkupAnswer | null {
  const streams = (node: MarkupElement): number =>
    node.children.reduce((sum, child) => sum + streams(child), node.name === 'Stream' ? 1 : 0);
  if (streams(root) > 1) violations.push('the answer holds more than one <Stream>');
  for (const verb of root.children) {
    if (verb.name === 'Connect') return readStream(verb, violations);
    if (verb.name === 'Reject')
      return { type: 'reject', reason: verb.attributes.get('reason') ?? 'rejected' };
    if (verb.name === 'Hangup') return { type: 'hang-up' };
    if (verb.name === 'Dial') {
      const number = verb.children.find((child) => child.name === 'Number')?.text ?? verb.text;
      return { type: 'dial', number: number.trim() };
    }
    if (!['Say', 'Play', 'Pause'].includes(verb.name)) violations.push('the answer holds an unknown verb');
  }
  return { type: 'hang-up' };
}

/** Reads a markup document. The first verb that decides about the call counts; `Say`, `Play` and `Pause` are passed over. */
export function readMarkup(source: string): MarkupReading {
  const violations: string[] = [];
  try {
    const root = parseMarkup(source);
    if (root.name !== 'Response') return { answer: null, violations: ['the answer is no <Response>'] };
    return { answer: readVerbs(root, violations), violations };
  } catch (error) {
    if (!(error instanceof MarkupFault)) throw error;
    return { answer: null, violations: [`the answer is not well-formed: ${error.message}`] };
  }
}
