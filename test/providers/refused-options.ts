import { expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';

/** Options that a constructor refuses, and what it says of them. */
export type RefusedOptions = readonly (readonly [options: object, sentence: RegExp | string])[];

export function itRefuses(create: (options: never) => unknown, refused: RefusedOptions): void {
  it.each(refused)('refuses %j', (options, sentence) => {
    const make = () => create(options as never);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(sentence);
  });
}
