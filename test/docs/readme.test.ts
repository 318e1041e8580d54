import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createBuiltInTools } from '../../src/engines/tools/built-in-tools.js';

it('the tables of the README are those of the options and error codes', () => {
  const script = fileURLToPath(new URL('../../scripts/gen-readme.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [script, '--check'], { stdio: 'pipe' })).not.toThrow();
});

it('the README names each built-in tool with its parameters: who configures an agent at its vendor enters them by hand', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| `(\w+)` \| (?:none|`(\w+)`: [^|]*) \|/gm)];
  const documented = rows.map(([, name, parameter]) => [name, parameter === undefined ? [] : [parameter]]);
  const tools = [...createBuiltInTools({ sales: '+15550123' }).values()].map(({ definition }) => [
    definition.name,
    Object.keys(definition.parameters.properties ?? {}),
  ]);
  expect(documented.sort()).toEqual(tools.sort());
});
