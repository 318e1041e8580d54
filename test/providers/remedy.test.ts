import { describe, expect, it } from 'vitest';
import { toPayee } from '../../src/providers/remedy.js';

describe('toPayee', () => {
  it('says of a provider who is paid, and nothing else', () => {
    const provider = { name: 'v/one', price: { perAudioMinute: 1 }, open: () => undefined };
    expect(toPayee(provider)).toEqual({ name: 'v/one', price: { perAudioMinute: 1 } });
  });
});
