// The table of metrics, from where they are made.
import ts from 'typescript';
import { cell, filesBelow, parse, table } from './sources.mjs';

/** @typedef {{ name: string, kind: string, labels: string[], help: string }} Described */

/** @param {ts.ObjectLiteralExpression} literal @param {string} name */
function initializerOf(literal, name) {
  const property = literal.properties.find((each) => each.name?.getText() === name);
  return property !== undefined && ts.isPropertyAssignment(property) ? property.initializer : undefined;
}

/** An object with a name and a help is a metric; what it is made into says its kind. @param {ts.Node} node @returns {Described[]} */
function metricsIn(node) {
  const inner = node.getChildren().flatMap((child) => metricsIn(child));
  if (!ts.isObjectLiteralExpression(node)) return inner;
  const [name, help, labels, type] = ['name', 'help', 'labels', 'type'].map((each) =>
    initializerOf(node, each),
  );
  if (name === undefined || help === undefined) return inner;
  if (!ts.isStringLiteralLike(name) || !ts.isStringLiteralLike(help)) return inner;
  const made = ts.isNewExpression(node.parent) ? node.parent.expression.getText().toLowerCase() : 'gauge';
  const kind = type !== undefined && ts.isStringLiteralLike(type) ? type.text : made;
  const words = labels !== undefined && ts.isArrayLiteralExpression(labels) ? labels.elements : [];
  const texts = [...words].filter(ts.isStringLiteralLike).map(({ text }) => text);
  return [...inner, { name: name.text, kind, labels: texts, help: help.text }];
}

export function metricTable() {
  const found = filesBelow('src/observability', 'src/dashboard/metrics.ts').flatMap((path) =>
    metricsIn(parse(path)),
  );
  const rows = found
    .sort((one, other) => one.name.localeCompare(other.name, 'en'))
    .map(({ name, kind, labels, help }) => [
      `\`${name}\``,
      kind,
      labels.map((label) => `\`${label}\``).join(', '),
      cell(help),
    ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}
