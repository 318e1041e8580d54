// What an MCP tool gave, as the model gets it: text, and a note of everything that is none.
import type { CallToolResult } from '@modelcontextprotocol/client';
import { ToolError } from '../tool.js';
import { MAX_RESULT_CHARS } from '../tool-result.js';
import { toPlainText } from './plain-text.js';

/** One and many of what is left out. */
const NAMES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  image: ['image', 'images'],
  audio: ['audio clip', 'audio clips'],
  resource: ['resource', 'resources'],
  resource_link: ['link', 'links'],
};
const OTHER = ['other part', 'other parts'] as const;

/** Longest error of a tool that is told to the model, in characters. */
const MAX_ERROR_CHARS = 2000;

/** A text; undefined for nothing at all. @throws ToolError with the text, where the tool says that it failed */
export function toModelText({ content, structuredContent, isError }: CallToolResult): string | undefined {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const said = texts.join('\n') || (structuredContent === undefined ? '' : JSON.stringify(structuredContent));
  const left = noteOf(content.flatMap(({ type }) => (type === 'text' ? [] : [type])));
  // One character more than the model is given, so that it is told that there was more.
  const text = toPlainText([left, said].filter((each) => each !== '').join('\n'), MAX_RESULT_CHARS + 1);
  if (isError === true)
    throw new ToolError('The tool reported an error.', 'mcp', {
      told: text.slice(0, MAX_ERROR_CHARS) || 'The tool reported an error.',
    });
  return text === '' ? undefined : text;
}

/** In front of the text: behind it, it could be cut off. */
function noteOf(types: readonly string[]): string {
  if (types.length === 0) return '';
  const counts = new Map<readonly [string, string], number>();
  for (const type of types) {
    const name = NAMES[type] ?? OTHER;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const parts = [...counts].map(([[one, many], count]) => `${count} ${count === 1 ? one : many}`);
  return `[${parts.join(' and ')} ${types.length === 1 ? 'was' : 'were'} left out.]`;
}
