// Events and records: what happened, field by field, and the shapes that fields have.
import ts from 'typescript';
import { cell, codeCell, docsOf, fieldsOf, parse, table, typeText } from './sources.mjs';
import { toSlug } from './markdown.mjs';

const EVENTS = 'src/contract/call-event.ts';
const RECORDS = 'src/contract/call-record.ts';

/** @typedef {{ name: string, optional: boolean, type: string, prose: string }} Field */

/** @param {ts.PropertySignature | ts.MethodSignature} member @returns {Field} */
function toField(member) {
  return {
    name: member.name.getText(),
    optional: member.questionToken !== undefined,
    type: typeText(member.type),
    prose: docsOf(member).prose,
  };
}

/** @param {string} path @param {string} name */
function declaration(path, name) {
  const found = parse(path).statements.find(
    (node) => (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && node.name.text === name,
  );
  if (found === undefined) throw new Error(`There is no ${name} in ${path}.`);
  return found;
}

/** Fields of one member of the union, those of an interface that it is joined with included. @param {ts.TypeNode} type @returns {Field[]} */
function fieldsOfFact(type) {
  if (ts.isParenthesizedTypeNode(type)) return fieldsOfFact(type.type);
  if (ts.isIntersectionTypeNode(type)) return type.types.flatMap(fieldsOfFact);
  if (ts.isTypeLiteralNode(type)) return type.members.filter(ts.isPropertySignature).map(toField);
  const joined = declaration(EVENTS, type.getText());
  if (!ts.isInterfaceDeclaration(joined)) throw new Error(`${type.getText()} has no fields.`);
  return fieldsOf(joined).map(toField);
}

/** The comment that stands before a member of the union. @param {ts.TypeNode} type */
function commentOf(type) {
  const text = type.getSourceFile().getFullText();
  // It stands before the bar, which is no part of the member.
  const [, comment = ''] =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\|?\s*$/.exec(text.slice(0, type.getStart())) ?? [];
  return comment.replace(/^\s*\* ?/gm, '').trim();
}

/** Interfaces and sets of words of the record, by name. @returns {Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>} */
function shapes() {
  const found = parse(RECORDS).statements.filter(
    (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
  );
  return new Map(found.map((node) => [node.name.text, node]));
}

/** The type with links to the shapes that it names. @param {string} type */
function linked(type) {
  const known = shapes();
  const parts = type.split(/\b([A-Z]\w+)\b/);
  return parts
    .map((part, index) => {
      const code = part.trim() === '' ? part : codeCell(part);
      return index % 2 === 1 && known.has(part) ? `[\`${part}\`](#${toSlug(part)})` : code;
    })
    .join('')
    .replaceAll('``', '');
}

/** @param {readonly Field[]} fields */
function fieldTable(fields) {
  return table(
    ['field', 'type', 'meaning'],
    fields.map(({ name, optional, type, prose }) => [
      `\`${name}\`${optional ? ' (optional)' : ''}`,
      linked(type),
      cell(prose),
    ]),
  );
}

/** Type and fields of every fact, in the order of the contract. @returns {{ type: string, comment: string, fields: Field[] }[]} */
function facts() {
  const union = declaration(EVENTS, 'CallFact');
  if (!ts.isTypeAliasDeclaration(union) || !ts.isUnionTypeNode(union.type))
    throw new Error('CallFact is no union.');
  return union.type.types.map((member) => {
    const fields = fieldsOfFact(member);
    const type = fields.find(({ name }) => name === 'type')?.type.replaceAll("'", '') ?? '';
    return { type, comment: commentOf(member), fields: fields.filter(({ name }) => name !== 'type') };
  });
}

/** Envelope and events. */
export function eventSections() {
  const envelope = declaration(EVENTS, 'CallEventEnvelope');
  if (!ts.isInterfaceDeclaration(envelope)) throw new Error('CallEventEnvelope has no fields.');
  const fields = [
    { name: 'type', optional: false, type: 'string', prose: 'Which event it is.' },
    ...fieldsOf(envelope).map(toField),
  ];
  return [
    `### In every event\n\n${docsOf(envelope).prose.trim()}\n\n${fieldTable(fields)}`,
    ...facts().map(({ type, comment, fields: own }) =>
      [`### \`${type}\``, comment, own.length === 0 ? '' : fieldTable(own)].filter(Boolean).join('\n\n'),
    ),
  ].join('\n\n');
}

/** The words of a set, which may be those of a list. @param {ts.TypeAliasDeclaration} node */
function wordsOf(node) {
  const text = typeText(node.type);
  const list = /^\(typeof (\w+)\)\[number\]$/.exec(text)?.[1];
  if (list === undefined) return { words: text, prose: docsOf(node).prose };
  const variable = parse(RECORDS).statements.find(
    (each) => ts.isVariableStatement(each) && each.declarationList.declarations[0]?.name.getText() === list,
  );
  const words = [...(variable?.getText().matchAll(/'([\w-]+)'/g) ?? [])].map(([, word]) => `'${word}'`);
  return { words: words.join(' | '), prose: variable === undefined ? '' : docsOf(variable).prose };
}

/** The record of a call first, then every shape that it is made of, in the order of the alphabet. */
export function recordSections() {
  const all = [...shapes()].sort(([one], [other]) => one.localeCompare(other, 'en'));
  const record = all.filter(([name]) => name === 'CallRecord');
  const others = all.filter(([name]) => name !== 'CallRecord');
  return [...record, ...others]
    .map(([name, node]) => {
      if (ts.isInterfaceDeclaration(node))
        return [`### ${name}`, docsOf(node).prose.trim(), fieldTable(fieldsOf(node).map(toField))]
          .filter(Boolean)
          .join('\n\n');
      const { words, prose } = wordsOf(node);
      return [`### ${name}`, prose.trim(), words.replace(/'([^']+)'/g, '`$1`').replaceAll(' | ', ', ')]
        .filter(Boolean)
        .join('\n\n');
    })
    .join('\n\n');
}
