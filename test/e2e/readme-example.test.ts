// The whole call of the page on testing, run as it stands there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import * as offhook from '../../src/index.js';
import * as llm from '../../src/providers/llm/index.js';
import * as stt from '../../src/providers/stt/index.js';
import * as tts from '../../src/providers/tts/index.js';
import * as testing from '../../src/testing/index.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';

const MODULES: Readonly<Record<string, object>> = {
  offhook,
  'offhook/llm': llm,
  'offhook/stt': stt,
  'offhook/testing': testing,
  'offhook/tts': tts,
};

const README = new URL('../../docs/testing.md', import.meta.url);

/** The first example of a README as the body of a function that gets `load` and `console`. */
function firstExample(): string {
  const [, code = ''] = /^```ts run\n([\s\S]*?)^```$/m.exec(readFileSync(README, 'utf8')) ?? [];
  const { target, module } = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target, module, verbatimModuleSyntax: true },
  });
  return outputText.replaceAll(/^import (\{[^}]*\}) from ('[^']*');$/gm, 'const $1 = load($2);');
}

/** Replaces what must be another one in a test, and is there. */
function replaced(code: string, from: string, to: string): string {
  expect(code).toContain(from);
  return code.replaceAll(from, to);
}

it('is a call that is interrupted, and that nobody complains of', async () => {
  const recording = join(await makeFolder(), 'call.wav');
  let code = replaced(firstExample(), '8000', String(await freePort()));
  code = replaced(code, "'call.wav'", JSON.stringify(recording));
  code = replaced(code, 'dataDir: false', 'dataDir: false, logger');
  const logged: unknown[][] = [];
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await AsyncFunction(
    'load',
    'console',
    'logger',
    code,
  )((name: string) => MODULES[name], { log: (...values: unknown[]) => logged.push(values) }, silentLogger);
  expect(logged).toEqual([
    [
      [
        'agent: Hello, this is the bakery.',
        'user: what do you have?',
        expect.stringMatching(/^agent: We have tarts\b/),
        'user: wait, i have a question.',
        'agent: Yes, of course.',
      ],
    ],
    [
      true,
      [{ atMs: expect.any(Number), clearAfterMs: expect.any(Number), silentAfterMs: expect.any(Number) }],
    ],
    [[]],
    [[]],
    [[]],
  ]);
  expect(testing.readWav(readFileSync(recording)).channels).toHaveLength(2);
});
