// A command of offhook in this process, and what it says.
import { expect, it } from 'vitest';
import { runCli } from '../../src/cli/program.js';

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

export async function runCommand(
  args: readonly string[],
  signal: AbortSignal = new AbortController().signal,
  ask?: (question: string) => Promise<string>,
): Promise<CommandRun> {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await runCli(args, {
    out: (text) => out.push(text),
    error: (text) => errors.push(text),
    signal,
    ask,
  });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

/** Arguments that a command refuses, and what it says of them. */
export function itRefusesArguments(
  run: (...args: string[]) => Promise<CommandRun>,
  refused: readonly [args: string[], sentence: RegExp][],
): void {
  it.each(refused)('calls %j a usage error', async (args, sentence) => {
    const { code, errors } = await run(...args);
    expect(errors).toMatch(sentence);
    expect(code).toBe(2);
  });
}
