// XML whose values come from strangers: written through `element`, which escapes whatever it is given.

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A reader would turn these into blanks inside an attribute.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Every character that XML 1.0 may not hold, even escaped. Lone surrogates included. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Nearly every value: a number, a name, a word. */
const PLAIN = /^[ !#-%(-;=?-~]*$/;

/** Markup, as opposed to text: only this module makes it. */
export type Xml = string & { readonly __xml: true };

/** A value for text or an attribute. What XML cannot hold is dropped. */
export function escapeXml(value: string): Xml {
  if (PLAIN.test(value)) return value as Xml;
  const escaped = value
    .replace(NOT_XML, '')
    .replace(/[&<>"'\t\n\r]/g, (character) => ENTITIES[character] ?? '');
  return escaped as Xml;
}

/** One element. Names are ours; values and content are escaped, an attribute without a value is left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>> = {},
  content: Xml | readonly Xml[] = [],
): Xml {
  const open = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('');
  const inner = typeof content === 'string' ? content : content.join('');
  return (inner === '' ? `<${name}${open}/>` : `<${name}${open}>${inner}</${name}>`) as Xml;
}

/** A whole document with the root element `name`. */
export function document(name: string, content: readonly Xml[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}>${content.join('')}</${name}>`;
}
