// Tables of options: one row for each field of an interface, in its own words.
import { cell, codeCell, docsOf, fieldsOf, findInterface, table, typeText } from './sources.mjs';

/** Handed in by tests alone. */
const INTERNAL = new Set(['clock', 'timing']);

/** @param {string} name Of the interface. */
export function optionTable(name) {
  const fields = fieldsOf(findInterface(name)).filter((field) => !INTERNAL.has(field.name.getText()));
  const rows = fields.map((field) => {
    const { prose, standard } = docsOf(field);
    const need = field.questionToken === undefined ? 'required' : '';
    return [
      `\`${field.name.getText()}\``,
      codeCell(typeText(field.type)),
      cell(standard) || need,
      cell(prose),
    ];
  });
  return table(['option', 'type', 'default', 'meaning'], rows);
}
