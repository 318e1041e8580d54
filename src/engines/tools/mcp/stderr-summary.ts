// What a program that is an MCP server says of its end: one line of its standard error, for the error of the one who started it.
import type { McpProgram } from './options.js';
import { toPlainLine } from './plain-text.js';
import { nameOfScript } from './script-name.js';

const MAX_CHARS = 200;

/** Of each line, before keys are looked for. */
const MAX_READ_CHARS = 2000;

/** `Error: …`, `ModuleNotFoundError: …`, `Error [ERR_…]: …`: interpreters write stacks and versions behind it. */
function namesError(line: string): boolean {
  const [named = '', ...said] = line
    .trim()
    .replace(/^Uncaught /, '')
    .split(':');
  const [name = ''] = named.split(' ');
  return said.length > 0 && (name.endsWith('Error') || name.endsWith('Exception'));
}

/** Shorter ones are in every text. */
const SHORTEST_KEY = 6;

export class StderrSummary {
  readonly #keys: readonly (readonly [name: string, value: string])[];
  #last: string | undefined;
  #lastError: string | undefined;

  /** What the program was given in its environment or as an argument is replaced by its name: it may be a key, or an address with one. */
  constructor({ command, args, env }: Pick<McpProgram, 'command' | 'args' | 'env'>) {
    const script = nameOfScript(command, args);
    const options = args.flatMap((arg, place) => {
      const before = args[place - 1] ?? '';
      const option = before.startsWith('-') ? before : `args[${place}]`;
      const [, name = option, value = arg] = /^(-[^=]*)=(.*)$/s.exec(arg) ?? [];
      const isPlain =
        value === arg && (arg.startsWith('-') || (script !== undefined && arg.includes(script)));
      return isPlain ? [] : [[name.replace(/^-+/, ''), value] as const];
    });
    this.#keys = [...Object.entries(env), ...options]
      .filter(([, value]) => value.length >= SHORTEST_KEY)
      .sort(([, a], [, b]) => b.length - a.length);
  }

  add(line: string): void {
    this.#last = line.slice(0, MAX_READ_CHARS);
    if (namesError(this.#last)) this.#lastError = this.#last;
  }

  /** The last error that it named, else its last line: plain, short and without keys; undefined where it wrote nothing. */
  get line(): string | undefined {
    const said = this.#lastError ?? this.#last;
    if (said === undefined) return undefined;
    let line = said;
    for (const [name, value] of this.#keys) line = line.replaceAll(value, `[${name}]`);
    return toPlainLine(line, MAX_CHARS);
  }
}
