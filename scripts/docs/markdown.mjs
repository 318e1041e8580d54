// Reads what the checks and the site need to know of a page: headings, links and code blocks.

/** The anchor of a heading, as code hosts make it. The site uses this rule as well, so that one anchor leads to the same place on both. @param {string} heading Text without markup. */
export function toSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** What a reader sees of a line of Markdown. @param {string} line */
function plain(line) {
  return line
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>`]+>/g, '')
    .replace(/(\*\*|__)(.*?)\1/g, '$2')
    .replace(/(?<![\w*])[*_](?=\S)(.*?\S)[*_](?!\w)/g, '$1')
    .replaceAll('`', '');
}

/** @typedef {{ line: number, text: string, role: 'prose' | 'open' | 'code' | 'close' }} Line */

/** @typedef {{ line: number, info: string, code: string, section: string, before: string }} Block */

/**
 * The lines of a page, numbered from 1: prose, or a part of a code block.
 * @param {string} page @returns {Line[]}
 */
function rolesOf(page) {
  let fence = '';
  return page.split('\n').map((text, index) => {
    const [, mark = '', rest = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(text) ?? [];
    const line = index + 1;
    if (fence === '') {
      fence = mark;
      return { line, text, role: mark === '' ? 'prose' : 'open' };
    }
    if (mark === '' || !mark.startsWith(fence) || rest.trim() !== '') return { line, text, role: 'code' };
    fence = '';
    return { line, text, role: 'close' };
  });
}

/** @param {string} page */
function proseOf(page) {
  return rolesOf(page).filter(({ role }) => role === 'prose');
}

/** Level, text and anchor of each heading, in order. @param {string} page */
export function headingsOf(page) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return proseOf(page).flatMap(({ line, text }) => {
    const [, marks, content] = /^(#{1,6})\s+(.+?)\s*#*$/.exec(text) ?? [];
    if (marks === undefined || content === undefined) return [];
    const heading = plain(content);
    const slug = toSlug(heading);
    const earlier = seen.get(slug) ?? 0;
    seen.set(slug, earlier + 1);
    return [
      { line, level: marks.length, text: heading, anchor: earlier === 0 ? slug : `${slug}-${earlier}` },
    ];
  });
}

/** Every anchor that a link may name. @param {string} page @returns {Set<string>} */
export function anchorsOf(page) {
  const named = proseOf(page).flatMap(({ text }) => [
    ...text.replace(/`[^`]*`/g, '').matchAll(/<a\s+(?:id|name)="([^"]+)"/g),
  ]);
  return new Set([
    ...headingsOf(page).map(({ anchor }) => anchor),
    ...named.map(([, anchor]) => anchor ?? ''),
  ]);
}

/** Targets of links and pictures, those of a definition (`[name]: target`) and of HTML included. @param {string} page */
export function linksOf(page) {
  return proseOf(page).flatMap(({ line, text }) => {
    const prose = text.replace(/(`+)(?:.*?[^`])?\1(?!`)/g, (code) => '`'.repeat(code.length));
    const found = [
      ...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
      ...prose.matchAll(/^\s*\[[^\]]+\]:\s*(\S+)/g),
      ...prose.matchAll(/<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"/g),
    ];
    return found.map(([, target = '']) => ({ line, target }));
  });
}

/**
 * The code blocks of a page: info string, code without its indentation, the prose of the section that they stand in, and the last line of prose before
 * them. A block that nothing closes is none.
 * @param {string} page @returns {Block[]}
 */
export function blocksOf(page) {
  const lines = rolesOf(page);
  const starts = [1, ...headingsOf(page).map(({ line }) => line)];
  return lines.flatMap((opening, index) => {
    const length = lines.slice(index).findIndex(({ role }) => role === 'close');
    if (opening.role !== 'open' || length === -1) return [];
    const [, indent = '', info = ''] = /^(\s*)(?:`{3,}|~{3,})\s*(.*?)\s*$/.exec(opening.text) ?? [];
    const code = lines
      .slice(index + 1, index + length)
      .map(({ text }) => (text.startsWith(indent) ? text.slice(indent.length) : text));
    const from = starts.findLast((start) => start <= opening.line) ?? 1;
    const to = starts.find((start) => start > opening.line) ?? lines.length + 1;
    const prose = proseOf(page).filter(({ text }) => text.trim() !== '');
    return [
      {
        line: opening.line,
        info,
        code: `${code.join('\n')}\n`,
        section: prose
          .filter(({ line }) => line >= from && line < to)
          .map(({ text }) => text)
          .join('\n'),
        before: prose.findLast(({ line }) => line < opening.line)?.text ?? '',
      },
    ];
  });
}
