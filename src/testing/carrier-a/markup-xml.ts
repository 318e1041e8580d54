// Parses the XML of a markup document: without DTD, and stricter than the carrier.

export interface MarkupElement {
  name: string;
  attributes: Map<string, string>;
  children: MarkupElement[];
  text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const NAME = /[A-Za-z_][\w.-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

/** Why a document is not well-formed, without content of it. */
export class MarkupFault extends Error {}

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
export function parseMarkup(source: string): MarkupElement {
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
