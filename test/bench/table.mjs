// Tables of the reports in Markdown, laid out as the formatter would: a report that is written anew changes its figures only.

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows @param {{ numbersFrom?: number }} [options] columns from this one on are numbers, to the right */
export function toTable(head, rows, { numbersFrom = head.length } = {}) {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => [...(row[column] ?? '')].length)),
  );
  const isNumber = (/** @type {number} */ column) => column >= numbersFrom;
  const line = (/** @type {readonly string[]} */ row) =>
    `| ${widths.map((width, column) => (isNumber(column) ? (row[column] ?? '').padStart(width) : (row[column] ?? '').padEnd(width))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
