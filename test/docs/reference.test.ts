// What is generated of the documentation belongs to today's sources.
import { expect, it } from 'vitest';
import { commandsIn, type Facts, fillPage } from '../../scripts/docs/pages.mjs';
import { filesBelow, parse } from '../../scripts/docs/sources.mjs';
import { ERROR_CODES, HTTP_STATUSES } from '../../src/base/errors.js';
import { runCli } from '../../src/cli/program.js';
import { FREE } from '../../src/contract/price.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { createBuiltInTools } from '../../src/engines/tools/built-in-tools.js';
import { carrierPrices } from '../../src/carriers/index.js';
import { MODEL_PRICES } from '../../src/options/price-list.js';
import { allPages } from './pages.js';

const pages = allPages();

function reference(name: string): string {
  return pages.get(`docs/reference/${name}.md`) ?? '';
}

async function helpOf(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const { signal } = new AbortController();
  const write = (text: string) => void lines.push(text);
  expect(await runCli([...args, '--help'], { out: write, error: write, signal })).toBe(0);
  return lines.join('\n');
}

async function facts(): Promise<Facts> {
  const help = await helpOf();
  const commands = commandsIn(help).map(async (name) => ({
    name: `offhook ${name}`,
    help: await helpOf(name),
  }));
  return {
    errorCodes: ERROR_CODES,
    httpStatuses: HTTP_STATUSES,
    openApi: OPENAPI as unknown as Facts['openApi'],
    prices: { models: MODEL_PRICES, calls: carrierPrices() },
    commands: [{ name: 'offhook', help }, ...(await Promise.all(commands))],
  };
}

it('every generated part is what the code says: npm run docs:reference fills them', async () => {
  const today = await facts();
  for (const [path, page] of pages) {
    if (!/^(docs|src)\//.test(path)) continue;
    expect(fillPage(page, today), path).toBe(page);
  }
});

it('the reference has each generated part', () => {
  const parts = ['error-codes', 'events', 'record', 'http-api', 'http-schemas', 'cli', 'prices', 'metrics'];
  const all = [...pages].filter(([path]) => path.startsWith('docs/reference/')).map(([, page]) => page);
  for (const part of parts)
    expect(
      all.filter((page) => page.includes(`<!-- ${part} -->`)),
      part,
    ).toHaveLength(1);
});

it('the page of options has every interface of options that an application fills in', () => {
  const shown = [...reference('options').matchAll(/<!-- options:(\w+) -->/g)].map(([, name]) => name);
  const declared = [
    ...filesBelow('src/options'),
    ...filesBelow('src/carriers').filter((path) => path.endsWith('/index.ts')),
    ...filesBelow('src/providers').filter((path) => /^src\/providers\/\w+\/([\w-]+)\/\1\.ts$/.test(path)),
  ].flatMap((path) =>
    [
      ...parse(path)
        .getFullText()
        .matchAll(/^export interface ((?!Checked)\w+Options)\b/gm),
    ].map(([, name]) => name),
  );
  expect(declared.length).toBeGreaterThan(15);
  // What tests script, and never an application.
  const scripted = ['ScriptedLanguageModelOptions'];
  expect(declared.filter((name) => !shown.includes(name ?? '') && !scripted.includes(name ?? ''))).toEqual(
    [],
  );
});

it('names every error code, every command, and every path of the API in a heading or row of its own', () => {
  for (const code of Object.keys(ERROR_CODES)) expect(reference('errors')).toContain(`\n| \`${code}\` |`);
  for (const name of ['demo', 'dashboard', 'simulate', 'doctor'])
    expect(reference('cli')).toContain(`\n### \`offhook ${name}\`\n`);
  for (const [path, methods] of Object.entries(OPENAPI.paths))
    for (const method of Object.keys(methods as object))
      expect(reference('http-api')).toContain(`\n### \`${method.toUpperCase()} ${path}\`\n`);
  for (const name of Object.keys(OPENAPI.components.schemas))
    expect(reference('http-api')).toContain(`\n### ${name}\n`);
});

it('has a section with fields for each event that the API can send', () => {
  const schemas = OPENAPI.components.schemas as unknown as Record<string, { properties: object }>;
  const { discriminator } = schemas.CallEvent as unknown as { discriminator: { mapping: object } };
  const events = Object.entries(discriminator.mapping).map(([type, place]) => ({
    type,
    fields: Object.keys(schemas[String(place).split('/').at(-1) ?? '']?.properties ?? {}),
  }));
  expect(events.length).toBeGreaterThan(10);
  for (const { type, fields } of events) {
    const [, section = ''] = reference('events').split(`\n### \`${type}\`\n`);
    const shown = [...(section.split('\n### ')[0] ?? '').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    const envelope = ['type', 'callId', 'nodeId', 'term', 'originId', 'seq', 'at'];
    expect(shown.sort(), type).toEqual(fields.filter((name) => !envelope.includes(name)).sort());
  }
});

it('names every unit of a price', () => {
  for (const unit of [...Object.keys(FREE), 'perMinute', 'stepSeconds'])
    expect(reference('prices')).toContain(`\`${unit}\``);
});

it('one table names each built-in tool with its parameters: who configures an agent at its vendor enters them by hand', () => {
  const readable = [...pages].filter(([path]) => /^(README\.md$|docs\/)/.test(path)).map(([, page]) => page);
  const rows = readable.flatMap((page) => [...page.matchAll(/^\| `(\w+)` \| (none|`\w+`: [^|]*) \|/gm)]);
  const documented = rows.map(([, name, parameters = '']) => [
    name,
    [...parameters.matchAll(/`(\w+)`: /g)].map(([, parameter]) => parameter),
  ]);
  const builtIns = createBuiltInTools({ sales: '+15550123' }, { billing: 'questions about bills' });
  const tools = [...builtIns.values()].map(({ definition }) => [
    definition.name,
    Object.keys(definition.parameters.properties ?? {}),
  ]);
  expect(documented.sort()).toEqual(tools.sort());
});

it('every field of every event and record has a meaning', () => {
  const rows = reference('events')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(150);
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([]);
});
