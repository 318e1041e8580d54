// The code blocks of pages for readers, with what their info strings say.
import { blocksOf } from '../../scripts/docs/markdown.mjs';
import { allPages } from './pages.js';

export interface DocBlock {
  readonly page: string;
  /** Page and line. */
  readonly place: string;
  readonly language: string;
  /** The words behind the language. */
  readonly marks: readonly string[];
  readonly code: string;
  /** The prose around it, from its heading to the next one. */
  readonly section: string;
}

export function docBlocks(): DocBlock[] {
  return [...allPages()].flatMap(([page, text]) =>
    blocksOf(text).map(({ line, info, code, section }) => {
      const [language = '', ...marks] = info.split(/\s+/);
      return { page, place: `${page}:${line}`, language, marks, code, section };
    }),
  );
}

/** Whether a block can be run as it stands: it answers calls, or is a suite of tests. */
export function isProgram(code: string): boolean {
  return (code.includes('new Offhook(') && code.includes('.serve(')) || /from 'vitest'/.test(code);
}
