// Every code block of the pages, by the rules in CONTRIBUTING.md: as the compiler, the command line or the grammar of its format reads it.
import { readFileSync } from 'node:fs';
import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { type DocBlock, docBlocks, isProgram } from './blocks.js';
import { GRAMMARS } from './grammars.js';
import { repositoryFiles, ROOT } from './pages.js';
import { complaintOfShell } from './shell.js';

const blocks = docBlocks();

/** Names that an example may use without saying where they come from. */
const MADE_BEFORE = `
declare const phone: import('offhook').Offhook;
declare const agent: import('offhook').Agent;
declare const mistral: (model: string) => import('offhook/llm').AiSdkModel;
declare const MyStore: typeof import('offhook/stores').MemoryStore;
${namesOf({
  offhook: ['CarrierB'],
  'offhook/llm': ['AiSdkLanguageModel', 'ChatCompletions'],
  'offhook/realtime': ['ElevenLabsAgents', 'GeminiLive', 'OpenAIRealtime'],
  'offhook/stt': ['DeepgramSpeechToText', 'OpenAITranscription'],
  'offhook/tts': ['ElevenLabsTextToSpeech', 'OpenAISpeech'],
  'offhook/testing': ['testStore'],
  vitest: ['describe', 'it'],
})}
`;

function namesOf(entries: Record<string, readonly string[]>): string {
  const lines = Object.entries(entries).flatMap(([from, names]) =>
    names.map((name) => `declare const ${name}: typeof import('${from}').${name};`),
  );
  return lines.join('\n');
}

/** `ts` blocks by the place where they begin. Each is a module of its own, with what the text around it has made already. */
function examples(): Map<string, string> {
  return new Map(blocks.filter(({ language }) => language === 'ts').map(({ place, code }) => [place, code]));
}

/** The package's own names lead to what users have of it. */
function paths(): Record<string, string[]> {
  const entries = Object.entries(manifest.exports).flatMap(([name, target]): [string, string[]][] =>
    typeof target === 'string' ? [] : [[name.replace(/^\./, 'offhook'), [ROOT + target.types]]],
  );
  return Object.fromEntries(entries);
}

async function complaints(): Promise<string[]> {
  const modules = new Map([
    [`${ROOT}test/docs/made-before.d.ts`, MADE_BEFORE],
    // What the page on the HTTP API has its reader generate.
    [`${ROOT}test/docs/offhook-api.d.ts`, astToString(await openapiTypes(JSON.stringify(OPENAPI)))],
  ]);
  const places = new Map<string, string>();
  for (const [place, code] of examples()) {
    const path = `${ROOT}test/docs/example-${places.size}.ts`;
    places.set(path, place);
    modules.set(path, `${code}\nexport {};\n`);
  }
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => modules.has(path) || fileExists.call(host, path);
  host.readFile = (path) => modules.get(path) ?? readFile.call(host, path);
  host.getSourceFile = (path, version) => {
    const text = modules.get(path);
    return text === undefined
      ? getSourceFile.call(host, path, version)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram(
    [...modules.keys()],
    {
      ...options,
      noEmit: true,
      skipLibCheck: true,
      noUnusedLocals: false,
      noUnusedParameters: false,
      paths: paths(),
    },
    host,
  );
  return [...modules.keys()].flatMap((path) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(({ messageText, file, start = 0 }) => {
      const line = file?.getLineAndCharacterOfPosition(start).line ?? 0;
      return `${places.get(path) ?? path}, line ${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  );
}

/** The page that tells of a `tsconfig.json`, and the program that it is for: the first one of that page. */
function firstProgram(): { compilerOptions: object; code: string } {
  const config = blocks.find(
    ({ language, code }) => language === 'json' && code.includes('"compilerOptions"'),
  );
  const program = blocks.find(({ page, language }) => page === config?.page && language === 'ts');
  const { compilerOptions } = JSON.parse(config?.code ?? '') as { compilerOptions: object };
  return { compilerOptions, code: program?.code ?? '' };
}

/**
 * What that `tsconfig.json` says of that program, as `agent.ts` of a folder whose package.json has this `type`. The package is any: its types are
 * the other test's.
 */
function complaintsOfAgent(type: string): string[] {
  const { compilerOptions, code } = firstProgram();
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  const folder = `${ROOT}test/docs/agent`;
  const modules = new Map([
    [`${folder}/package.json`, JSON.stringify({ type })],
    [`${folder}/agent.ts`, code],
    [`${folder}/any.d.ts`, "declare module 'offhook';"],
  ]);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, directoryExists } = host;
  host.fileExists = (path) => modules.has(path) || fileExists.call(host, path);
  host.readFile = (path) => modules.get(path) ?? readFile.call(host, path);
  host.directoryExists = (path) => path === folder || directoryExists?.call(host, path) === true;
  const files = [`${folder}/agent.ts`, `${folder}/any.d.ts`];
  const program = ts.createProgram(
    files,
    { ...options, strict: false, skipLibCheck: true, noEmit: true },
    host,
  );
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(files[0] ?? ''))
    .map(({ code }) => `TS${code}`);
}

/** What a block may be marked with, besides its language. */
const MARKS = /^(run|untried|file=\S+)$/;

function complaintOfMarks({ language, marks, section }: DocBlock): string | undefined {
  const unknown = marks.find((mark) => !MARKS.test(mark));
  if (unknown !== undefined) return `has an unknown mark: ${unknown}`;
  if (marks.includes('run') && language !== 'ts') return 'cannot be run: only ts can';
  if (marks.includes('run') && marks.includes('untried')) return 'is run and untried';
  if (marks.includes('untried') && !/\buntried\b/i.test(section))
    return 'is untried, and its section does not say so';
  return undefined;
}

/** Lines of a block stand in its file, in a row. */
function complaintOfFile({ marks, code }: DocBlock): string | undefined {
  const path = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
  if (path === undefined) return undefined;
  if (!repositoryFiles().includes(path)) return `is of ${path}, which is not there`;
  const lines = (text: string) =>
    `\n${text
      .trim()
      .replace(/^[ \t]+/gm, '')
      .replace(/\n{2,}/g, '\n')}\n`;
  return lines(readFileSync(ROOT + path, 'utf8')).includes(lines(code)) ? undefined : `differs from ${path}`;
}

/** The one that `test/conversation/floor.test.ts` draws anew. */
const diagram = blocks.find(
  ({ page, language }) => page === 'ARCHITECTURE.md' && language === 'mermaid',
)?.code;

/** What a reader fills in. */
const BLANK = /…/g;

function complaintOfLanguage(block: DocBlock): string | undefined {
  const { language, marks, code } = block;
  const isTried = !marks.includes('untried');
  if (language === 'ts')
    return isTried && isProgram(code) && !marks.includes('run')
      ? 'is a whole program: mark it run'
      : undefined;
  if (language === 'sh') return isTried ? complaintOfShell(code.replace(BLANK, 'value')) : undefined;
  if (language === 'mermaid') return code === diagram ? undefined : 'is not the diagram of ARCHITECTURE.md';
  if (language === 'text')
    return /^(\$ |npm |npx |node |offhook )/m.test(code) && !code.startsWith('Usage: ')
      ? 'has a command in it: mark it sh'
      : undefined;
  const grammar = GRAMMARS[language];
  if (grammar === undefined) return language === '' ? 'names no language' : 'has a language without a rule';
  if (language !== 'json' && isTried && !marks.some((mark) => mark.startsWith('file=')))
    return 'needs untried or file=…';
  return grammar(code.replace(BLANK, 'value'));
}

it('every block of code keeps to the rules of its language and marks', () => {
  expect(blocks.length).toBeGreaterThan(15);
  const complaints = blocks.flatMap((block) =>
    [complaintOfMarks(block), complaintOfFile(block), complaintOfLanguage(block)]
      .filter((complaint) => complaint !== undefined)
      .map((complaint) => `${block.place} ${complaint}`),
  );
  expect(complaints).toEqual([]);
});

it('the first program that has a tsconfig.json beside it is one for it, in a folder of ES modules', {
  timeout: 60_000,
}, () => {
  expect(complaintsOfAgent('module')).toEqual([]);
  expect(new Set(complaintsOfAgent('commonjs'))).toContain('TS1309');
});

it('every example is one that the compiler takes', { timeout: 60_000 }, async () => {
  expect(examples().size).toBeGreaterThan(15);
  expect(await complaints()).toEqual([]);
});

it('a mistake in a block is seen, whatever its language', () => {
  const wrong: Readonly<Record<string, readonly string[]>> = {
    json: ['{ "a": 1, }'],
    yaml: ['a: [1', 'text', 'apiVersion: v1\nmetadata: {}\n'],
    nginx: ['listen 80', 'location / {\n  return 200;\n', '}'],
    caddyfile: ['example.com {\n  reverse_proxy :8000;\n}', 'example.com {'],
    ini: ['Restart=always', '[Service]\nRestart'],
    dockerfile: ['RUN ls', 'FROM node:22\nINSTALL x'],
    http: ['fetch /', 'POST / HTTP/1.1\nno header'],
    sql: ['select 1', 'selekt 1;'],
    python: ['print(1', 'if True:\nprint(1)'],
  };
  expect(Object.keys(wrong)).toEqual(Object.keys(GRAMMARS));
  for (const [language, codes] of Object.entries(wrong))
    for (const code of codes) expect(GRAMMARS[language]?.(code), code).toBeTypeOf('string');
  const commands = [
    'npm run nothing',
    'npx offhook simulate --nothing',
    'npx offhook simulate --calls many',
    'npx offhook call',
    'echo "$(telnet host)"',
    'node scripts/nothing.mjs',
    'A=1 telnet host > file',
    'curl http://127.0.0.1/ | telnet',
  ];
  for (const code of commands) expect(complaintOfShell(code), code).toBeTypeOf('string');
});
