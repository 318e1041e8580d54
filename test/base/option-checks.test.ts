import { describe, expect, it } from 'vitest';
import { checkOptions } from '../../src/base/option-checks.js';
import { refusal } from '../options/refusal.js';

const names = { known: ['model', 'voice', 'speed'], needed: ['model', 'voice'] };
const check = (options: unknown) => checkOptions(options as object, names, 'new Voice()');

describe('options of a call', () => {
  it.each([[undefined], [null], ['alloy'], [[]]])(
    '%j are none, and what is needed is said first',
    (options) => {
      expect(refusal(() => check(options))).toMatchObject({
        code: 'CONFIG_INVALID',
        message: 'new Voice() takes an object. It needs model and voice, and takes: speed.',
      });
    },
  );

  it('are listed where none is needed', () => {
    const given = null as unknown as object;
    const { message } = refusal(() => checkOptions(given, { known: ['port'] }, 'serve()'));
    expect(message).toBe('serve() takes an object. It takes: port.');
  });

  it('have names that are known', () => {
    expect(() => check({ model: 'm' })).not.toThrow();
    expect(refusal(() => check({ modle: 'm' })).message).toBe(
      'new Voice() has no option "modle". Did you mean model?',
    );
  });
});
