// Commands of code blocks: those of this project are parsed, those of others are on a list.
import { existsSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { createProgram } from '../../src/cli/program.js';
import { ROOT } from './pages.js';

/** Programs that every reader has, or has to have for what the page is about. */
const OTHERS = new Set([
  ...[
    'base64',
    'cat',
    'cd',
    'chmod',
    'cp',
    'curl',
    'echo',
    'export',
    'ffplay',
    'git',
    'grep',
    'head',
    'ln',
    'ls',
    'mkdir',
  ],
  ...[
    'mv',
    'openssl',
    'rm',
    'set',
    'source',
    'systemctl',
    'tail',
    'tar',
    'tee',
    'test',
    'touch',
    'tsc',
    'cargo',
  ],
  ...[
    'pip',
    'openapi-python-client',
    'promtool',
    'redis-server',
    'python3',
    'rustup',
    '.node/zig/bin/python',
  ],
]);

/** What npm does by itself. */
const NPM = new Set(['ci', 'init', 'install', 'pack', 'pkg', 'uninstall', 'view', 'create', 'exec']);

const SCRIPTS: Readonly<Record<string, string>> = manifest.scripts;

/** The simple commands of a block, as words without quotes; what a substitution runs is among them. */
export function commandsOf(code: string): string[][] {
  const text = code.replace(/\\\n\s*/g, ' ');
  return text.split('\n').flatMap((line) => commandsOfLine(line));
}

function commandsOfLine(line: string): string[][] {
  const commands: string[][] = [[]];
  const inner: string[][] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index] ?? '';
    if (char === '#' && word === undefined) break;
    if (char === "'") {
      const close = line.indexOf("'", index + 1);
      word = (word ?? '') + line.slice(index + 1, close);
      index = close === -1 ? line.length : close;
    } else if (char === '"') {
      const close = closingQuote(line, index);
      const quoted = line.slice(index + 1, close);
      for (const [, code = ''] of quoted.matchAll(/\$\(([^()]*)\)/g)) inner.push(...commandsOfLine(code));
      word = (word ?? '') + quoted;
      index = close;
    } else if (line.startsWith('$(', index)) {
      const close = line.indexOf(')', index);
      inner.push(...commandsOfLine(line.slice(index + 2, close)));
      word = (word ?? '') + line.slice(index, close + 1);
      index = close;
    } else if (/[|&;]/.test(char)) {
      end();
      commands.push([]);
    } else if (/\s/.test(char)) end();
    else word = (word ?? '') + char;
  }
  end();
  return [...commands, ...inner].map(withoutRedirections).filter((words) => words.length > 0);
}

/** Quotes may stand in a substitution within quotes. */
function closingQuote(line: string, from: number): number {
  let depth = 0;
  for (let index = from + 1; index < line.length; index += 1) {
    if (line.startsWith('$(', index)) depth += 1;
    else if (line[index] === ')' && depth > 0) depth -= 1;
    else if (line[index] === '"' && depth === 0 && line[index - 1] !== '\\') return index;
  }
  return line.length;
}

/** Variables that stand before a command, and where its output goes. */
function withoutRedirections(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (/^\d?[<>]{1,2}$/.test(word)) index += 1;
    else if (/^\d?[<>]/.test(word)) continue;
    else if (kept.length > 0 || !/^\w+=/.test(word)) kept.push(word);
  }
  return kept;
}

/** What the command line says of these arguments. Nothing is done. */
function complaintOfOffhook(args: readonly string[]): string | undefined {
  const said: string[] = [];
  const { signal } = new AbortController();
  const program = createProgram({ out: () => {}, error: (text) => void said.push(text), signal }, () => {});
  for (const command of program.commands) command.action(() => {});
  try {
    program.parse([...args], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'exitCode' in error && error.exitCode === 0) return undefined;
    return said.join(' ') || String(error);
  }
}

function complaintOfNpm([verb = '', ...rest]: readonly string[]): string | undefined {
  const name = verb === 'run' ? rest.find((word) => !word.startsWith('-')) : verb;
  if (name !== undefined && Object.hasOwn(SCRIPTS, name)) return undefined;
  return verb !== 'run' && NPM.has(verb) ? undefined : `no npm script ${name ?? ''}`;
}

/** Our own files are there; a file of the reader's is theirs. */
function complaintOfNode(args: readonly string[]): string | undefined {
  const file = args.find((word) => !word.startsWith('-'));
  if (file === undefined || !/^(scripts|src|test|examples|dist)\//.test(file)) return undefined;
  return file.startsWith('dist/') || existsSync(ROOT + file) ? undefined : `there is no ${file}`;
}

function complaintOf([name = '', ...args]: readonly string[]): string | undefined {
  if (name === 'npx') {
    const [program = '', ...rest] = args.filter((word) => word !== '--yes' && word !== '-y');
    if (program === 'offhook') return complaintOfOffhook(rest);
    return ['tsc', 'vitest', 'tsx', 'openapi-typescript'].includes(program)
      ? undefined
      : `npx ${program} is not on the list`;
  }
  if (name === 'offhook') return complaintOfOffhook(args);
  if (name === 'npm') return complaintOfNpm(args);
  if (name === 'node') return complaintOfNode(args);
  return OTHERS.has(name) ? undefined : `${name} is not on the list`;
}

/** What is wrong with the commands of a block. */
export function complaintOfShell(code: string): string | undefined {
  const commands = commandsOf(code);
  if (commands.length === 0) return 'has no command';
  const [complaint] = commands.flatMap((words) => {
    const why = complaintOf(words);
    return why === undefined ? [] : [`${words.join(' ')}: ${why}`];
  });
  return complaint;
}
