// Text of a foreign server, before anybody gets it: bounded, and nothing that a terminal could take for anything but text.

/** All control characters but tabs and line breaks, and halves of characters. */
const NO_TEXT = /(?![\t\n])[\p{Cc}\p{Cs}]/gu;

/** The first `maxChars` characters of `text`. */
export function toPlainText(text: string, maxChars: number): string {
  return text.slice(0, maxChars).replace(NO_TEXT, ' ');
}

/** What shows the text behind it in another order than it has. Source: Unicode, annex 9: explicit directional formatting. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The same in one line, for logs and errors. */
export function toPlainLine(text: string, maxChars: number): string {
  return toPlainText(text, maxChars).replace(DIRECTIONS, '').replace(/\s+/gu, ' ').trim();
}
