// Fills the tables of the README from the docstrings of the options and from the table of error codes.
// `--check` only compares, and exits with 1 when they differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} path */
function parse(path) {
  return ts.createSourceFile(path, readFileSync(`${root}/${path}`, 'utf8'), ts.ScriptTarget.ES2022, true);
}

/** @param {string} text */
function cell(text) {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}

/** @param {ts.PropertySignature | ts.MethodSignature} member */
function optionRow(member) {
  const tags = ts.getJSDocTags(member);
  const standard = tags.find((tag) => tag.tagName.text === 'default');
  const docs = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const prose = docs.map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '').join(' ');
  const fallback = standard === undefined ? '' : (ts.getTextOfJSDocComment(standard.comment) ?? '');
  const need = member.questionToken === undefined ? 'required' : '';
  return `| \`${member.name.getText()}\` | ${cell(fallback) || need} | ${cell(prose)} |`;
}

/** @param {string} name */
function optionTable(name) {
  const file = name.replace('Options', '').replace(/(?<=[a-z])[A-Z]/g, '-$&');
  const path = `src/options/${file.toLowerCase()}.ts`;
  const source = parse(path);
  const found = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
  if (found === undefined || !ts.isInterfaceDeclaration(found))
    throw new Error(`no interface ${name} in ${path}`);
  const members = found.members.filter(
    (member) => ts.isPropertySignature(member) || ts.isMethodSignature(member),
  );
  return ['| option | default | meaning |', '|---|---|---|', ...members.map(optionRow)].join('\n');
}

function errorTable() {
  /** @type {string[]} */
  const rows = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'ERROR_CODES' && node.initializer) {
      const literal = ts.isAsExpression(node.initializer) ? node.initializer.expression : node.initializer;
      if (!ts.isObjectLiteralExpression(literal)) return;
      for (const property of literal.properties) {
        if (!ts.isPropertyAssignment(property) || !ts.isStringLiteralLike(property.initializer)) continue;
        rows.push(`| \`${property.name.getText()}\` | ${cell(property.initializer.text)} |`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(parse('src/base/errors.ts'));
  return ['| code | meaning |', '|---|---|', ...rows].join('\n');
}

/** @param {string} readme */
export function fillReadme(readme) {
  return readme.replace(
    /<!-- (options:(\w+)|error-codes) -->\n(?:[\s\S]*?<!-- end -->)?/g,
    (_, marker, name) =>
      `<!-- ${marker} -->\n\n${name === undefined ? errorTable() : optionTable(name)}\n\n<!-- end -->`,
  );
}

const path = `${root}/README.md`;
const before = readFileSync(path, 'utf8');
const after = fillReadme(before);
if (process.argv.includes('--check')) {
  if (after !== before) {
    console.error('README.md is behind the code: run npm run docs');
    process.exitCode = 1;
  }
} else {
  writeFileSync(path, after);
}
