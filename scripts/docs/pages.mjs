// Fills the parts of pages that are made from the code. What stands around them is written by hand.
import { eventSections, recordSections } from './events.mjs';
import { operationSections, schemaSections } from './http-api.mjs';
import { metricTable } from './metrics.mjs';
import { optionTable } from './options.mjs';
import { priceTable } from './prices.mjs';
import { cell, table } from './sources.mjs';

/**
 * What the code says of itself when it runs. Tests take it from the sources, the command from what was built of them.
 * @typedef {object} Facts
 * @property {Readonly<Record<string, string>>} errorCodes Meaning by code.
 * @property {Readonly<Record<string, number>>} httpStatuses By code.
 * @property {import('./http-api.mjs').ApiDocument} openApi
 * @property {import('./prices.mjs').PriceLists} prices
 * @property {readonly { name: string, help: string }[]} commands In the order of the command line's own help.
 */

/** @param {Facts} facts */
function errorTable({ errorCodes, httpStatuses }) {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => [
    `\`${code}\``,
    `${httpStatuses[code] ?? ''}`,
    cell(meaning),
  ]);
  return table(['code', 'HTTP', 'meaning'], rows);
}

/** @param {Facts} facts */
function commandSections({ commands }) {
  return commands
    .map(({ name, help }) => `### \`${name}\`\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``)
    .join('\n\n');
}

/** @type {Readonly<Record<string, (facts: Facts) => string>>} */
const PARTS = {
  'error-codes': errorTable,
  events: eventSections,
  record: recordSections,
  'http-api': ({ openApi }) => operationSections(openApi),
  'http-schemas': ({ openApi }) => schemaSections(openApi),
  cli: commandSections,
  prices: ({ prices }) => priceTable(prices),
  metrics: metricTable,
};

const MARKER = new RegExp(
  `^<!-- (?:options:(\\w+)|(${Object.keys(PARTS).join('|')})) -->\\n(?:[\\s\\S]*?^<!-- end -->$)?`,
  'gm',
);

/** The page with its generated parts as they should be. A marker without an end is filled, and gets one. @param {string} page @param {Facts} facts */
export function fillPage(page, facts) {
  return page.replace(MARKER, (_, options, part) => {
    const [marker, text] =
      options === undefined ? [part, PARTS[part]?.(facts)] : [`options:${options}`, optionTable(options)];
    return `<!-- ${marker} -->\n\n${text}\n\n<!-- end -->`;
  });
}

/** The names of the commands in the help of the command line. @param {string} help */
export function commandsIn(help) {
  const [, list = ''] = /\nCommands:\n([\s\S]*)/.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z]\S*)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');
}
