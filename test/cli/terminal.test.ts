import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StoppedError } from '../../src/cli/context.js';
import { openAsk } from '../../src/cli/terminal.js';

function openTerminal({ input = true, output = true } = {}) {
  const controller = new AbortController();
  const keyboard = Object.assign(new PassThrough(), { isTTY: input });
  const screen = Object.assign(new PassThrough(), { isTTY: output });
  const ask = openAsk({ input: keyboard, output: screen, signal: controller.signal });
  return { controller, keyboard, screen, ask };
}

describe('questions on the terminal', () => {
  it('are there only where both ends are a terminal', () => {
    expect(openTerminal({ input: false }).ask).toBeUndefined();
    expect(openTerminal({ output: false }).ask).toBeUndefined();
  });

  it('are shown, and answered by a line each', async () => {
    const { ask, keyboard, screen } = openTerminal();
    for (const answer of ['first', 'second']) {
      const asked = ask?.('Who? ');
      keyboard.write(`${answer}\n`);
      expect(await asked).toBe(answer);
    }
    expect(String(screen.read())).toContain('Who? ');
  });

  it('end with Ctrl-C, with Ctrl-D and with a signal', async () => {
    for (const key of ['\u0003', '\u0004']) {
      const { ask, keyboard } = openTerminal();
      const asked = ask?.('Who? ');
      keyboard.write(key);
      await expect(asked).rejects.toBeInstanceOf(StoppedError);
    }
    const { ask, controller } = openTerminal();
    const asked = ask?.('Who? ');
    controller.abort();
    await expect(asked).rejects.toBeInstanceOf(StoppedError);
    await expect(ask?.('And now? ')).rejects.toBeInstanceOf(StoppedError);
  });
});
