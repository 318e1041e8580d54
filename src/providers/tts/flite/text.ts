// Text as Flite can read it: ASCII, in pieces that it is quick with.

/** Longest text for one request. The synthesizer looks at all of it before the first sample, and cannot be interrupted. */
export const MAX_REQUEST_CHARS = 300;

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201A\u2032\u00B4]/g, "'"],
  [/[\u201C\u201D\u201E\u2033\u00AB\u00BB]/g, '"'],
  [/[\u2013\u2014\u2212]/g, ' - '],
  [/\u2026/g, '...'],
  [/\u20AC\s*(\d[\d.,]*\d|\d)/g, '$1 euros'],
  [/\u00A3\s*(\d[\d.,]*\d|\d)/g, '$1 pounds'],
  [/\u20AC/g, ' euros'],
  [/\u00A3/g, ' pounds'],
  [/\u00B0/g, ' degrees'],
  [/\u00DF/g, 'ss'],
  [/\u00E6/g, 'ae'],
  [/\u00C6/g, 'Ae'],
  [/\u0153/g, 'oe'],
  [/\u0152/g, 'Oe'],
  [/\u00F8/g, 'o'],
  [/\u00D8/g, 'O'],
  [/\u0142/g, 'l'],
  [/\u0141/g, 'L'],
];

/** Pieces of at most 300 ASCII characters. Letters lose their accents, other scripts are left out; none when nothing can be said. */
export function toFliteRequests(text: string): string[] {
  let plain = text;
  for (const [pattern, replacement] of REPLACEMENTS) plain = plain.replace(pattern, replacement);
  plain = plain
    .normalize('NFKD')
    .replace(/[^\x20-\x7E]+/g, (other) => (/^\p{M}+$/u.test(other) ? '' : ' '))
    .replace(/\s+/g, ' ')
    .trim();
  const pieces: string[] = [];
  while (plain.length > MAX_REQUEST_CHARS) {
    const space = plain.lastIndexOf(' ', MAX_REQUEST_CHARS);
    const end = space > 0 ? space : MAX_REQUEST_CHARS;
    pieces.push(plain.slice(0, end));
    plain = plain.slice(end).trim();
  }
  pieces.push(plain);
  return pieces.filter((piece) => /[a-z0-9]/i.test(piece));
}
