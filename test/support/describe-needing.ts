// Tests that need a program which not every machine has.
import { describe, it } from 'vitest';
import { readEnv } from '../../src/base/env.js';

/**
 * `describe` where the program is there. Elsewhere its tests are skipped, which standard error says; where everything must be proved (CI is
 * `true`) a test fails instead.
 */
export function describeNeeding(program: string, isThere: boolean): typeof describe | typeof describe.skip {
  if (isThere) return describe;
  if (readEnv('CI') === 'true') {
    it(`finds ${program}`, () => {
      throw new Error(`${program} is missing, without which these tests prove nothing`);
    });
  }
  process.stderr.write(`\nSKIPPED: ${program} is missing, and tests that need it do not run.\n\n`);
  return describe.skip;
}
