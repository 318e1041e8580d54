// Every line of the log is a static sentence with fields, whatever room says it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const LEVELS = ['debug', 'info', 'warn', 'error'];

interface LogCall {
  where: string;
  fields: ts.Expression | undefined;
  sentence: ts.Expression | undefined;
  count: number;
}

function parse(file: string, text = readFileSync(join(source, file), 'utf8')): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

function isMethod(node: ts.Expression): boolean {
  if (!ts.isPropertyAccessExpression(node)) return false;
  return LEVELS.includes(node.name.text) && /[lL]ogger$/.test(node.expression.getText());
}

/** Calls like `logger.warn(…)`, `this.#logger.warn(…)` and `logThrown({ … }, …)`. */
function logCalls(file: ts.SourceFile): LogCall[] {
  const found: LogCall[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node)) return;
    const isThrown = ts.isIdentifier(node.expression) && node.expression.text === 'logThrown';
    if (!isThrown && !isMethod(node.expression)) return;
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const said = isThrown ? node.arguments.slice(1) : node.arguments;
    const [fields, sentence] = said;
    found.push({ where: `${file.fileName}:${line}`, fields, sentence, count: said.length });
  };
  visit(file);
  return found;
}

/** A text of ours, a choice between two, or the name of one. */
function isStatic(node: ts.Expression | undefined): boolean {
  if (node === undefined) return false;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return true;
  if (ts.isConditionalExpression(node)) return isStatic(node.whenTrue) && isStatic(node.whenFalse);
  if (ts.isElementAccessExpression(node)) return /^[A-Z_]+$/.test(node.expression.getText());
  return ts.isIdentifier(node) && /^([A-Z_]+|sentence)$/.test(node.text);
}

/** Named, or in an object that is made just before. */
function namesCall({ fields }: LogCall, file: ts.SourceFile): boolean {
  if (fields === undefined) return false;
  if (!ts.isIdentifier(fields)) return /\bcallId\b/.test(fields.getText());
  return new RegExp(`const ${fields.text} = \\{[^}]*\\bcallId\\b`).test(file.text);
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => /\.tsx?$/.test(file) && /[lL]ogger|logThrown/.test(readFileSync(join(source, file), 'utf8')),
  )
  .map((file) => parse(file));
const lines = files.flatMap((file) => logCalls(file).map((call) => ({ file, call })));

describe('lines of the log', () => {
  it('are found at all', () => {
    expect(lines.length).toBeGreaterThan(50);
    const built = [
      'logger.warn({}, `to $' + '{number}`)',
      "this.#logger.info(x, 'a' + b)",
      'logger.error(e)',
      "logThrown({ logger, thrown }, x, 'a' + b)",
    ];
    const bad = parse('bad.ts', built.join(';'));
    expect(logCalls(bad).map(({ sentence }) => isStatic(sentence))).toEqual([false, false, false, false]);
  });

  it('have fields and a static sentence', () => {
    const built = lines.filter(({ call }) => call.count !== 2 || !isStatic(call.sentence));
    expect(built.map(({ call }) => call.where)).toEqual([]);
  });

  it('say of the calls’ own rooms which call they are about', () => {
    // Budgets and prices are those of all calls. The engines' logger names the call by itself.
    const areOfAllCalls = ['calls/money/budget.ts', 'calls/money/pricing.ts'];
    const silent = lines.filter(
      ({ call, file }) =>
        file.fileName.startsWith('calls/') &&
        !areOfAllCalls.includes(file.fileName) &&
        !namesCall(call, file),
    );
    expect(silent.map(({ call }) => call.where)).toEqual([]);
  });
});
