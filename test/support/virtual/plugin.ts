// Server, carrier, vendors and test share one clock that moves by itself: the system's is replaced where it is made, so that nothing goes
// by real time.
import { join, resolve } from 'node:path';
import type { Plugin } from 'vitest/config';

const CLOCK = 'export const systemClock: Clock =';

/** For a group of tests whose setup is that of this folder. `root`: of the project */
export function virtualTime(root: string): Plugin {
  const clock = resolve(root, 'src/base/clock.ts');
  const virtual = join(root, 'test/support/virtual/clock.ts');
  return {
    name: 'virtual-time',
    enforce: 'pre',
    transform(code, id) {
      if (id !== clock) return null;
      if (!code.includes(CLOCK)) throw new Error(`there is no \`${CLOCK}\` in ${clock}`);
      const replaced = code.replace(CLOCK, `${CLOCK} virtualClock;\nexport const realClock: Clock =`);
      return `import { virtualClock } from '${virtual}';\n${replaced}`;
    },
  };
}
