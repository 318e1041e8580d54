import { expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.js';

/** Options that a constructor refuses, and what it says of them. */
export type RefusedOptions = readonly (readonly [options: object | null, sentence: RegExp | string])[];

export function itRefuses(type: new (options: never) => unknown, refused: RefusedOptions): void {
  it.each(refused)('refuses %j', (options, sentence) => {
    const make = () => new type(options as never);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(sentence);
  });
}
