// Server, carrier, vendors and test share one clock that moves by itself: the system's is replaced where it is made, so that nothing goes
// by real time. It waits for code that is loaded in the middle of a call.
import { join, resolve } from 'node:path';
import type { Plugin } from 'vitest/config';

const CLOCK = 'export const systemClock: Clock =';
const LOADED_LATER = /\bawait import\(('[^']+')\)/g;

/** For a group of tests whose setup is that of this folder. `root`: of the project */
export function virtualTime(root: string): Plugin {
  const clock = resolve(root, 'src/base/clock.ts');
  const sources = join(root, 'src/');
  const virtual = join(root, 'test/support/virtual/clock.ts');
  const modules = join(root, 'test/support/virtual/modules.ts');
  return {
    name: 'virtual-time',
    enforce: 'pre',
    transform(code, id) {
      if (id !== clock) return id.startsWith(sources) ? countLoaded(code, modules) : null;
      if (!code.includes(CLOCK)) throw new Error(`there is no \`${CLOCK}\` in ${clock}`);
      const replaced = code.replace(CLOCK, `${CLOCK} virtualClock;\nexport const realClock: Clock =`);
      return `import { virtualClock } from '${virtual}';\n${replaced}`;
    },
  };
}

/** Its modules that are loaded later are counted until they are there. */
function countLoaded(code: string, modules: string): string | null {
  const counted = code.replace(LOADED_LATER, 'await countedModule(import($1))');
  return counted === code ? null : `import { counted as countedModule } from '${modules}';\n${counted}`;
}
