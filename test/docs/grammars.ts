// Grammars of the formats that code blocks have, as far as a short look can tell. Each answers with a complaint, or with nothing.
import { parseAllDocuments } from 'yaml';

export type Grammar = (code: string) => string | undefined;

function json(code: string): string | undefined {
  try {
    JSON.parse(code);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function yaml(code: string): string | undefined {
  const documents = parseAllDocuments(code);
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) return error.message;
  const values = documents.map((document) => document.toJS() as unknown);
  const isMapping = (value: unknown) => typeof value === 'object' && value !== null;
  if (!values.every(isMapping)) return 'is no mapping and no list';
  const halves = (values as object[]).filter((value) => 'kind' in value !== 'apiVersion' in value);
  return halves.length === 0 ? undefined : 'has a Kubernetes object with only one of kind and apiVersion';
}

/** Without comments, which begin at the start of a line or behind a blank. */
function withoutComments(code: string): string[] {
  return code.split('\n').map((line) => line.replace(/(^|\s)#.*$/, '').trim());
}

function balanced(lines: readonly string[]): string | undefined {
  let depth = 0;
  for (const line of lines) {
    // A variable like {name} is no block.
    const braces = line.replace(/\$?\{[\w.]+\}/g, '').replace(/[^{}]/g, '');
    for (const brace of braces) depth += brace === '{' ? 1 : -1;
    if (depth < 0) return `closes a block that nothing opened: ${line}`;
  }
  return depth === 0 ? undefined : 'leaves a block open';
}

function nginx(code: string): string | undefined {
  const lines = withoutComments(code).filter(Boolean);
  // A directive may go on for lines; what counts is how each statement ends.
  const statements = lines
    .join(' ')
    .replace(/"[^"]*"|'[^']*'/g, 'text')
    .split(/(?<=[;{}])/)
    .map((part) => part.trim())
    .filter(Boolean);
  const wrong = statements.find((part) => part !== '}' && !/^[a-z][\w-]*(\s[^;{}]*)?[;{]$/.test(part));
  return wrong === undefined ? balanced(lines) : `is no directive: ${wrong}`;
}

function caddyfile(code: string): string | undefined {
  const lines = withoutComments(code).filter(Boolean);
  const wrong = lines.find((line) => line.endsWith(';'));
  return wrong === undefined ? balanced(lines) : `has a semicolon, which Caddy does not know: ${wrong}`;
}

function ini(code: string): string | undefined {
  let section = '';
  for (const line of code.split('\n').map((each) => each.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue;
    const [, name] = /^\[([^\]]+)\]$/.exec(line) ?? [];
    if (name !== undefined) section = name;
    else if (!/^[A-Za-z][\w.-]*\s*=/.test(line)) return `is no setting: ${line}`;
    // Files of variables have no sections; their names are in capitals.
    else if (section === '' && !/^[A-Z][A-Z0-9_]*=/.test(line)) return `stands before any section: ${line}`;
  }
  return undefined;
}

const INSTRUCTIONS =
  /^(ADD|ARG|CMD|COPY|ENTRYPOINT|ENV|EXPOSE|FROM|HEALTHCHECK|LABEL|RUN|SHELL|STOPSIGNAL|USER|VOLUME|WORKDIR)\s+\S/;

function dockerfile(code: string): string | undefined {
  const instructions = code
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const wrong = instructions.find((line) => !INSTRUCTIONS.test(line));
  if (wrong !== undefined) return `is no instruction: ${wrong}`;
  const first = instructions.find((line) => !line.startsWith('ARG'));
  return first?.startsWith('FROM') === true ? undefined : 'does not begin with FROM';
}

function http(code: string): string | undefined {
  const [first = '', ...rest] = code.trimEnd().split('\n');
  if (!/^([A-Z]+ \S+( HTTP\/1\.1)?|HTTP\/1\.1 \d{3}.*)$/.test(first)) return `is no request: ${first}`;
  const end = rest.indexOf('');
  const headers = end === -1 ? rest : rest.slice(0, end);
  const wrong = headers.find((line) => !/^[\w-]+: /.test(line));
  return wrong === undefined ? undefined : `is no header: ${wrong}`;
}

function sql(code: string): string | undefined {
  const statements = code
    .replace(/--.*$/gm, '')
    .replace(/'[^']*'/g, 'text')
    .split(';')
    .map((each) => each.trim());
  if (statements.pop() !== '') return 'has a statement without a semicolon';
  const wrong = statements.find(
    (each) => !/^(alter|begin|commit|create|delete|drop|grant|insert|select|update|with)\s/i.test(each),
  );
  return wrong === undefined ? undefined : `is no statement: ${wrong}`;
}

/** As its file is run by a test, only what a hand breaks easily: brackets, and a line that opens a block. */
function python(code: string): string | undefined {
  const text = code.replace(/"""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*'/g, 'text').replace(/#.*$/gm, '');
  let brackets = text.replace(/[^()[\]{}]/g, '');
  while (/\(\)|\[\]|\{\}/.test(brackets)) brackets = brackets.replace(/\(\)|\[\]|\{\}/g, '');
  if (brackets !== '') return `has brackets without their like: ${brackets}`;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const depthOf = (line = '') => line.search(/\S/);
  const empty = lines.find(
    (line, index) => line.trimEnd().endsWith(':') && depthOf(lines[index + 1]) <= depthOf(line),
  );
  return empty === undefined ? undefined : `opens a block without a line: ${empty}`;
}

/** By language. */
export const GRAMMARS: Readonly<Record<string, Grammar>> = {
  json,
  yaml,
  nginx,
  caddyfile,
  ini,
  dockerfile,
  http,
  sql,
  python,
};
