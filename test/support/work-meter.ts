// Counts the work that a piece of the house does with a text: steps of its expressions (by a matcher that counts), signs that methods of
// strings go through, and runs of its loops (as the engine's own coverage counts them). No clock is asked.
import { Session } from 'node:inspector/promises';
import { nativeExec, runRegex, TooMuchWork, type Work } from './regex-machine.js';

/** Work that one sign of input may make at most, before it counts as endless. */
const LIMIT = 60_000_000;

const METHODS = [
  'indexOf lastIndexOf includes startsWith endsWith slice substring trim trimStart trimEnd toLowerCase toUpperCase split',
  'replaceAll normalize repeat concat',
]
  .join(' ')
  .split(' ');

const NATIVE = new Map(
  METHODS.map((name) => [name, Reflect.get(String.prototype, name) as (...args: unknown[]) => unknown]),
);

let work: Work | undefined;

/** Signs that a method has gone through, by what it was given and gave. */
function signsOf(name: string, text: string, args: unknown[], result: unknown): number {
  if (name === 'indexOf')
    return typeof result === 'number' && result >= 0
      ? result - Number(args[1] ?? 0) + 1
      : text.length - Number(args[1] ?? 0);
  if (name === 'lastIndexOf')
    return (
      Math.min(text.length, Number(args[1] ?? text.length)) - (typeof result === 'number' ? result : 0) + 1
    );
  if (name === 'startsWith' || name === 'endsWith') return String(args[0]).length;
  if (name === 'trim' || name === 'trimStart' || name === 'trimEnd')
    return text.length - String(result).length + 1;
  // What is cut out of a text shares its signs.
  if (name === 'slice' || name === 'substring') return 1;
  return text.length;
}

function install(): () => void {
  for (const [name, native] of NATIVE)
    Reflect.set(String.prototype, name, function (this: string, ...args: unknown[]) {
      const result = native.apply(this, args);
      if (work !== undefined) work.steps += signsOf(name, String(this), args, result);
      return result;
    });
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const counted = work;
    if (counted === undefined) return nativeExec.call(this, text);
    // Of one sign there is one thing to ask.
    if (String(text).length <= 2) {
      counted.steps += 1;
      return nativeExec.call(this, text);
    }
    work = undefined;
    try {
      const from = this.global || this.sticky ? this.lastIndex : 0;
      const slots = runRegex(this, String(text), from, counted, LIMIT);
      // An expression that takes too long is never asked of the engine itself.
      const answer = nativeExec.call(this, text);
      if (answer?.index !== slots?.[0] || (answer !== null && answer.index + answer[0].length !== slots?.[1]))
        throw new Error(`the matcher does not read ${this} as the engine does`);
      return answer;
    } finally {
      work = counted;
    }
  };
  return () => {
    for (const [name, native] of NATIVE) Reflect.set(String.prototype, name, native);
    RegExp.prototype.exec = nativeExec;
  };
}

/** Counts what `task` does. The files of the house must have been loaded after `start`. */
export class WorkMeter {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Steps of `task`; infinite where it does not come to an end. */
  async count(task: () => unknown): Promise<number> {
    await this.#loops();
    const counted: Work = { steps: 0 };
    const restore = install();
    work = counted;
    try {
      await task();
    } catch (error) {
      if (error instanceof TooMuchWork) return Number.POSITIVE_INFINITY;
      throw error;
    } finally {
      work = undefined;
      restore();
    }
    return counted.steps + (await this.#loops());
  }

  async stop(): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** How often the parts of the house's files ran since the last time. */
  async #loops(): Promise<number> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    let sum = 0;
    for (const { url, functions } of result)
      if (/\/src\/[^?]*$/.test(url.replace(/\?.*$/, '')) && !url.includes('node_modules'))
        for (const { ranges } of functions) for (const { count } of ranges) sum += count;
    return sum;
  }
}
