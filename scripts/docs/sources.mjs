// TypeScript as the generated parts of the documentation read it: interfaces with the docstrings of their fields.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where public options are declared. */
const OPTION_FOLDERS = [
  'src/options',
  'src/engines/tools/mcp',
  'src/carriers',
  'src/providers',
  'src/contract',
  'src/stores',
  'src/testing',
];

/** @type {Map<string, ts.SourceFile>} */
const parsed = new Map();

/** @param {string} path */
export function parse(path) {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(
    path,
    readFileSync(`${root}/${path}`, 'utf8'),
    ts.ScriptTarget.ES2022,
    true,
  );
  parsed.set(path, source);
  return source;
}

/** Sources that are there, new ones included. @param {...string} folders */
export function filesBelow(...folders) {
  const flags = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const found = execFileSync('git', [...flags, ...folders], { cwd: root, encoding: 'utf8' });
  return found
    .trim()
    .split('\n')
    .filter((path) => path.endsWith('.ts') && ts.sys.fileExists(`${root}/${path}`));
}

/** Text of a cell: no line ends, no bars, and nothing outside of code that a page could take for a tag. @param {string} text */
export function cell(text) {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '{ {')))
    .join('')
    .replaceAll('|', '\\|');
}

/** Code in a cell. @param {string} code */
export function codeCell(code) {
  return `\`${code.replaceAll('|', '\\|')}\``;
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** Prose and `@default` of a declaration. @param {ts.Node} node */
export function docsOf(node) {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const standard = ts.getJSDocTags(node).find((tag) => tag.tagName.text === 'default');
  return {
    prose: docs.map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '').join(' '),
    standard: standard === undefined ? '' : (ts.getTextOfJSDocComment(standard.comment) ?? ''),
  };
}

/** A type in the reader's words: without what TypeScript's strictest settings ask for. @param {ts.TypeNode | undefined} type */
export function typeText(type) {
  const text = (type?.getText() ?? '')
    .replace(/\s+/g, ' ')
    .replace(/ \| undefined$/, '')
    .replace(/^\| /, '');
  return /^\((\(.*\) => [^()]*)\)$/.exec(text)?.[1] ?? text;
}

/**
 * The interface of this name, from the folders of public options and records.
 * @param {string} name @returns {ts.InterfaceDeclaration} @throws Error where there is none, or more than one.
 */
export function findInterface(name) {
  const found = filesBelow(...OPTION_FOLDERS)
    .filter((path) => ts.sys.readFile(`${root}/${path}`)?.includes(`interface ${name}`))
    .flatMap((path) => [...parse(path).statements])
    .filter((node) => ts.isInterfaceDeclaration(node))
    .filter((node) => node.name.text === name);
  const [only, another] = found;
  if (only === undefined)
    throw new Error(`There is no interface ${name} below ${OPTION_FOLDERS.join(', ')}.`);
  if (another !== undefined) throw new Error(`There are two interfaces ${name}.`);
  return only;
}

/** Its fields, those of the interfaces that it extends first. @param {ts.InterfaceDeclaration} node @returns {(ts.PropertySignature | ts.MethodSignature)[]} */
export function fieldsOf(node) {
  const inherited = (node.heritageClauses ?? [])
    .flatMap((clause) => [...clause.types])
    .flatMap(inheritedFields);
  const own = node.members.filter((member) => ts.isPropertySignature(member) || ts.isMethodSignature(member));
  const all = [...inherited, ...own];
  // One that several bases have is one option.
  return all.filter(
    (field, index) => all.findIndex((other) => other.name.getText() === field.name.getText()) === index,
  );
}

/** Those of `Base`, or of `Omit<Base, 'one' | 'other'>`. @param {ts.ExpressionWithTypeArguments} type */
function inheritedFields(type) {
  if (type.expression.getText() !== 'Omit') return fieldsOf(findInterface(type.getText()));
  const [base, names] = type.typeArguments ?? [];
  return fieldsOf(findInterface(base?.getText() ?? '')).filter(
    (field) => !names?.getText().includes(`'${field.name.getText()}'`),
  );
}
