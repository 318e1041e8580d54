// Questions on the terminal, each with an interface of its own, so that nothing holds the process open between them.
import { createInterface } from 'node:readline/promises';
import { StoppedError } from './context.js';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Aborted by a signal from outside: then nobody answers any more. */
  readonly signal: AbortSignal;
}

/** A function that asks, and rejects with a StoppedError at Ctrl-C and Ctrl-D; undefined unless both ends are a terminal. */
export function openAsk({
  input,
  output,
  signal,
}: Terminal): ((question: string) => Promise<string>) | undefined {
  if (input.isTTY !== true || output.isTTY !== true) return undefined;
  return async (question) => {
    const lines = createInterface({ input, output });
    const close = () => lines.close();
    // While a question is open, Ctrl-C comes as an event of the interface.
    lines.once('SIGINT', close);
    signal.addEventListener('abort', close);
    try {
      return await new Promise((resolve, reject) => {
        const stop = () => {
          output.write('\n');
          reject(new StoppedError('Stopped. Nothing was written.'));
        };
        // A closed interface leaves its question open.
        lines.once('close', stop);
        if (signal.aborted) return lines.close();
        lines.question(question).then((answer) => {
          lines.off('close', stop);
          resolve(answer);
        }, reject);
      });
    } finally {
      signal.removeEventListener('abort', close);
      lines.close();
    }
  };
}
