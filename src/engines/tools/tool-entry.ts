// A tool in the transcript: what was called, and in few words what it gave.
import type { ToolRun } from './tool-run.js';

/** Longest piece of a result that a transcript shows. */
const MAX_SHOWN_CHARS = 200;

/** The name while it runs; then the name with the error, or with the beginning of the result. */
export function toEntryText(run: ToolRun): string {
  const { name, error } = run.record;
  if (!run.isSettled) return name;
  if (error !== null) return `${name} failed: ${error}`;
  const result = shorten(run.resultText);
  return result === '' || result === 'null' ? `${name}: done` : `${name}: ${result}`;
}

function shorten(text: string): string {
  const line = text
    .slice(0, 4 * MAX_SHOWN_CHARS)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= MAX_SHOWN_CHARS ? line : `${characters.slice(0, MAX_SHOWN_CHARS).join('')}…`;
}
