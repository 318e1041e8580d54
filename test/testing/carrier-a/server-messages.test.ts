import { describe, expect, it } from 'vitest';
import { readServerMessage } from '../../../src/testing/carrier-a/server-messages.js';

const SID = 'MZ22222222222222222222222222222222';
const read = (message: unknown) => readServerMessage(JSON.stringify(message), SID);
const media = (payload: unknown, extra: object = {}) => ({
  event: 'media',
  streamSid: SID,
  media: { payload },
  ...extra,
});

describe('readServerMessage', () => {
  it('reads media, mark and clear', () => {
    expect(read(media('/38='))).toEqual({ message: { type: 'media', payload: Buffer.from([0xff, 0x7f]) } });
    expect(read({ event: 'mark', streamSid: SID, mark: { name: 'a' } })).toEqual({
      message: { type: 'mark', name: 'a' },
    });
    expect(read({ event: 'clear', streamSid: SID })).toEqual({ message: { type: 'clear' } });
  });

  it.each([
    ['a list', [1], 'not a JSON object'],
    ['null', null, 'not a JSON object'],
    ['an unknown event', { event: 'audio', streamSid: SID }, 'unknown event'],
    ['a foreign stream', { ...media('/38='), streamSid: 'MZ1' }, 'foreign streamSid'],
    ['no stream', { event: 'clear' }, 'missing or foreign streamSid'],
    ['a surplus field', media('/38=', { track: 'outbound' }), 'surplus fields'],
    [
      'a surplus field inside',
      { event: 'media', streamSid: SID, media: { payload: '/38=', track: 'x' } },
      'surplus fields',
    ],
    ['a payload that is not text', media(7), 'canonical base64'],
    ['base64 without padding', media('/38'), 'canonical base64'],
    ['base64 of the other alphabet', media('_38='), 'canonical base64'],
    ['base64 with a line break', media('/38=\n'), 'canonical base64'],
    ['base64 with stray bits', media('/39='), 'canonical base64'],
    ['no audio', media(''), 'without audio'],
    ['a WAV header', media(Buffer.from('RIFF\x00\x00').toString('base64')), 'WAV header'],
    ['a clear with more', { event: 'clear', streamSid: SID, mark: {} }, 'surplus fields'],
    ['a mark without name', { event: 'mark', streamSid: SID, mark: { name: '' } }, 'without a name'],
    ['a mark with more', { event: 'mark', streamSid: SID, mark: { name: 'a', at: 1 } }, 'surplus fields'],
  ])('refuses %s', (_, message, sentence) => {
    expect(read(message)).toEqual({ violation: expect.stringContaining(sentence) });
  });

  it('refuses what is not JSON', () => {
    expect(readServerMessage('{"event":', SID)).toEqual({ violation: 'a message that is not JSON' });
  });
});
