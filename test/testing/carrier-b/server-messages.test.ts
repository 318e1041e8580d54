import { describe, expect, it } from 'vitest';
import { readServerMessage } from '../../../src/testing/carrier-b/server-messages.js';

const read = (value: unknown) => readServerMessage(JSON.stringify(value));

describe('readServerMessage', () => {
  it('reads the three messages', () => {
    expect(read({ event: 'media', media: { payload: 'AAEC' } })).toEqual({
      message: { type: 'media', payload: Buffer.from([0, 1, 2]) },
    });
    expect(read({ event: 'mark', mark: { name: 'turn-1' } })).toEqual({
      message: { type: 'mark', name: 'turn-1' },
    });
    expect(read({ event: 'clear' })).toEqual({ message: { type: 'clear' } });
  });

  it.each<[string, unknown, number]>([
    ['a list', [], 100003],
    ['an unknown event', { event: 'dance' }, 100003],
    ['media without media', { event: 'media' }, 100003],
    ['a payload that is not text', { event: 'media', media: { payload: 7 } }, 100003],
    ['a mark without a name', { event: 'mark', mark: {} }, 100003],
    ['a payload with white space', { event: 'media', media: { payload: 'AA EC' } }, 100004],
    ['an unpadded payload', { event: 'media', media: { payload: 'AAE' } }, 100004],
    ['an empty payload', { event: 'media', media: { payload: '' } }, 100004],
    [
      'a WAV file',
      { event: 'media', media: { payload: Buffer.from('RIFF....').toString('base64') } },
      100004,
    ],
  ])('refuses %s', (_, value, code) => {
    const reading = read(value);
    expect(reading).toMatchObject({ code, violation: expect.any(String) });
    expect(reading.message).toBeUndefined();
  });

  it('refuses what is not JSON', () => {
    expect(readServerMessage('{')).toMatchObject({ code: 100003 });
  });

  it('takes messages with surplus fields and says so', () => {
    const readings = [
      read({ event: 'media', stream_id: 'x', media: { payload: 'AAEC' } }),
      read({ event: 'mark', mark: { name: 'a', label: 'b' } }),
      read({ event: 'clear', stream_id: 'x' }),
    ];
    for (const reading of readings) {
      expect(reading).toMatchObject({ code: null, violation: expect.stringContaining('surplus') });
      expect(reading.message).toBeDefined();
    }
  });
});
