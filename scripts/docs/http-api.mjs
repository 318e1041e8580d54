// The HTTP API in prose and tables, from its OpenAPI document.
import { toSlug } from './markdown.mjs';
import { cell, table } from './sources.mjs';

/**
 * What is read of a JSON Schema.
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string | readonly string[]} [type]
 * @property {string} [format]
 * @property {string} [description]
 * @property {readonly unknown[]} [enum]
 * @property {unknown} [const]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {Schema} [items]
 * @property {Readonly<Record<string, Schema>>} [properties]
 * @property {readonly string[]} [required]
 * @property {readonly Schema[]} [anyOf]
 * @property {readonly Schema[]} [oneOf]
 * @property {readonly Schema[]} [allOf]
 */
/** @typedef {Readonly<Record<string, { readonly schema?: Schema, readonly example?: unknown }>>} Content */
/**
 * @typedef {object} Operation
 * @property {string} summary
 * @property {string} [description]
 * @property {readonly { name: string, in: string, required?: boolean, description?: string, schema?: Schema }[]} [parameters]
 * @property {{ readonly required?: boolean, readonly content: Content }} [requestBody]
 * @property {Readonly<Record<string, { readonly description: string, readonly content?: Content }>>} responses
 */
/**
 * @typedef {object} ApiDocument
 * @property {Readonly<Record<string, Readonly<Record<string, Operation>>>>} paths
 * @property {{ readonly schemas: Readonly<Record<string, Schema>> }} components
 */

/** Words that belong to a value: range, default. @param {Schema} schema */
function bounds({ minimum, maximum, default: standard }) {
  // The last instant of a Date is no news to a reader.
  const most = maximum === 8.64e15 ? undefined : maximum;
  const range = [
    minimum !== undefined && most !== undefined ? `${minimum} to ${most}` : undefined,
    minimum !== undefined && most === undefined && minimum !== 0 ? `at least ${minimum}` : undefined,
    minimum === undefined && most !== undefined ? `at most ${most}` : undefined,
    standard === undefined ? undefined : `default ${JSON.stringify(standard)}`,
  ];
  return range.filter((part) => part !== undefined);
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  const { $ref, anyOf, oneOf, allOf, items } = schema;
  if ($ref !== undefined) {
    const name = $ref.replace(/^.*\//, '');
    return `[${name}](#${toSlug(name)})`;
  }
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (allOf !== undefined) return allOf.map(typeOf).join(' and ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any']);
  return types.join(' or ');
}

/** @param {Schema} schema */
function propertyTable({ properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    `\`${name}\`${required.includes(name) ? '' : ' (optional)'}`,
    cell(typeOf(schema)),
    cell([schema.description, bounds(schema).join(', ')].filter(Boolean).join(' ')),
  ]);
  return rows.length === 0 ? '' : table(['field', 'type', 'meaning'], rows);
}

/** @param {Content} content */
function contentText(content) {
  return Object.entries(content)
    .map(([type, { schema }]) => {
      const of = schema?.$ref !== undefined || schema?.items !== undefined ? `: ${typeOf(schema)}` : '';
      return `\`${type}\`${of}`;
    })
    .join(', ');
}

/** @param {Content} content */
function examplesOf(content) {
  return Object.values(content).flatMap(({ example }) =>
    example === undefined || typeof example === 'string'
      ? []
      : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``],
  );
}

/** @param {string} path @param {string} method @param {Operation} operation */
function operationSection(path, method, operation) {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const given = parameters.map(({ name, in: place, required, description: prose, schema = {} }) => [
    `\`${name}\``,
    `${place}${required === true ? ', required' : ''}`,
    cell(typeOf(schema)),
    cell([prose, bounds(schema).join(', ')].filter(Boolean).join(' ')),
  ]);
  const body = requestBody?.content ?? {};
  const answers = Object.entries(responses).map(([status, { description: prose, content = {} }]) => [
    status,
    cell(prose),
    cell(contentText(content)),
  ]);
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    summary,
    description ?? '',
    given.length === 0 ? '' : table(['parameter', 'in', 'type', 'meaning'], given),
    requestBody === undefined ? '' : `Body: ${contentText(body)}`,
    ...examplesOf(body),
    table(['status', 'meaning', 'body'], answers),
    // Every error looks the same, which the page says once.
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Number(status) < 400 ? examplesOf(content) : [],
    ),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Every operation. @param {ApiDocument} document */
export function operationSections({ paths }) {
  return Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => operationSection(path, method, operation)),
    )
    .join('\n\n');
}

/** Every named schema. @param {ApiDocument} document */
export function schemaSections({ components }) {
  return Object.entries(components.schemas)
    .map(([name, schema]) =>
      [
        `### ${name}`,
        schema.description ?? '',
        schema.properties === undefined ? `Type: ${typeOf(schema)}` : propertyTable(schema),
      ]
        .filter(Boolean)
        .join('\n\n'),
    )
    .join('\n\n');
}
