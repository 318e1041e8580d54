// The examples of the READMEs, as the compiler reads them: each is a module of its own, with what the text around it has made already.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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

/** `ts` blocks by the place where they begin. */
function examples(): Map<string, string> {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' });
  const found = new Map<string, string>();
  for (const file of files.trim().split('\n')) {
    const text = readFileSync(ROOT + file, 'utf8');
    for (const { index, 1: code = '' } of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
      const line = text.slice(0, index).split('\n').length;
      found.set(`${file}:${line}`, code);
    }
  }
  return found;
}

/** The package's own names lead to what users have of it. */
function paths(): Record<string, string[]> {
  const entries = Object.entries(manifest.exports).flatMap(([name, target]): [string, string[]][] =>
    typeof target === 'string' ? [] : [[name.replace(/^\./, 'offhook'), [ROOT + target.types]]],
  );
  return Object.fromEntries(entries);
}

function complaints(): string[] {
  const modules = new Map<string, string>([[`${ROOT}test/docs/made-before.d.ts`, MADE_BEFORE]]);
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

/**
 * What the README's `tsconfig.json` says of its first program, as `agent.ts` of a folder whose package.json has this `type`. The package is
 * any: its types are the other test's.
 */
function complaintsOfAgent(type: string): string[] {
  const readme = readFileSync(`${ROOT}README.md`, 'utf8');
  const block = /^with this `tsconfig\.json`:\n\n```json\n([\s\S]*?)^```$/m.exec(readme)?.[1];
  const { compilerOptions } = JSON.parse(block ?? '') as { compilerOptions: object };
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  const folder = `${ROOT}test/docs/agent`;
  const modules = new Map([
    [`${folder}/package.json`, JSON.stringify({ type })],
    [`${folder}/agent.ts`, examples().values().next().value ?? ''],
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

it("the README's first program is one for the tsconfig.json beside it, in a folder of ES modules", {
  timeout: 60_000,
}, () => {
  expect(complaintsOfAgent('module')).toEqual([]);
  expect(new Set(complaintsOfAgent('commonjs'))).toContain('TS1309');
});

it('every example is one that the compiler takes', { timeout: 60_000 }, () => {
  expect(examples().size).toBeGreaterThan(15);
  expect(complaints()).toEqual([]);
});
