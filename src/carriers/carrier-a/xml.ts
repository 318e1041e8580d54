// Markup of carrier A: XML whose values come from strangers.

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Every character that XML 1.0 may not hold, even escaped. Lone surrogates included. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** A value for text or an attribute. What XML cannot hold is dropped. */
export function escapeXml(value: string): string {
  return value.replace(NOT_XML, '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A whole document around verbs that are markup already. */
export function responseMarkup(verbs: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${verbs}</Response>`;
}
