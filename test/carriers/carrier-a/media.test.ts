import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.js';
import { openMediaDialect } from '../../../src/carriers/carrier-a/media.js';
import type { MediaDialect } from '../../../src/carriers/carrier.js';
import { MALFORMED_SPOKEN_TEXTS } from '../spoken-texts.js';

const MZ = 'MZ22222222222222222222222222222222';
const frame = Buffer.alloc(160, 0xff);

const start = {
  event: 'start',
  sequenceNumber: '1',
  streamSid: MZ,
  start: {
    accountSid: 'AC3',
    streamSid: MZ,
    callSid: 'CA1',
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { caller: '+15005550020', callee: '+15005550010' },
  },
};
const media = {
  event: 'media',
  sequenceNumber: '2',
  streamSid: MZ,
  media: { track: 'inbound', chunk: '1', timestamp: '20', payload: frame.toString('base64') },
};
const mediaOf = (over: object) => ({ ...media, media: { ...media.media, ...over } });

function decode(dialect: MediaDialect, message: unknown) {
  return dialect.decode(typeof message === 'string' ? message : JSON.stringify(message));
}

function started(): MediaDialect {
  const dialect = openMediaDialect();
  decode(dialect, { event: 'connected', protocol: 'Call', version: '1.0.0' });
  decode(dialect, start);
  return dialect;
}

describe('decode', () => {
  it('reads a whole stream', () => {
    const dialect = openMediaDialect();
    const messages = [
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      start,
      media,
      { event: 'dtmf', streamSid: MZ, dtmf: { track: 'inbound_track', digit: '5' } },
      { event: 'mark', streamSid: MZ, mark: { name: 'm1' } },
      { event: 'spoken-text', streamSid: MZ, spokenText: { id: 's1', text: 'Hello', final: true } },
      { event: 'stop', streamSid: MZ, stop: { callSid: 'CA1' } },
    ];
    expect(messages.map((message) => decode(dialect, message))).toEqual([
      { type: 'connected' },
      {
        type: 'start',
        carrierCallId: 'CA1',
        streamId: MZ,
        format: MULAW_8K,
        outboundFormat: MULAW_8K,
        codec: 'audio/x-mulaw/8000/1',
        parameters: { caller: '+15005550020', callee: '+15005550010' },
      },
      { type: 'audio', payload: frame },
      { type: 'dtmf', digit: '5' },
      { type: 'mark', name: 'm1' },
      { type: 'spoken-text', id: 's1', text: 'Hello', final: true },
      { type: 'stop' },
    ]);
  });

  it.each([
    ['numbers as text', { encoding: 'audio/x-mulaw', sampleRate: '8000', channels: '1' }, MULAW_8K],
    ['nothing', undefined, MULAW_8K],
    ['another codec', { encoding: 'audio/x-l16', sampleRate: 16000, channels: 1 }, null],
    ['two channels', { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 2 }, null],
    ['garbage', { encoding: 7, sampleRate: {}, channels: null }, null],
  ])('reads a media format of %s', (_, mediaFormat, format) => {
    const message = { ...start, start: { ...start.start, mediaFormat } };
    const decoded = decode(openMediaDialect(), message);
    expect(decoded).toMatchObject({ type: 'start', format, outboundFormat: MULAW_8K });
  });

  it.each([1, 2, 159, 161, 4000])('takes %i bytes of audio', (length) => {
    const payload = Buffer.alloc(length, 0x55);
    const message = mediaOf({ payload: payload.toString('base64') });
    expect(decode(started(), message)).toEqual({ type: 'audio', payload });
  });

  it.each([
    ['5', '5'],
    [5, '5'],
    ['d', 'D'],
    ['*', '*'],
  ])('reads the key %j as %s', (digit, key) => {
    const message = { event: 'dtmf', streamSid: MZ, dtmf: { track: 'inbound_track', digit } };
    expect(decode(started(), message)).toEqual({ type: 'dtmf', digit: key });
  });

  it('needs no connected before start', () => {
    expect(decode(openMediaDialect(), start)).toMatchObject({ type: 'start', streamId: MZ });
  });

  it('reads numbers where text is usual, and messages without the stream id', () => {
    const dialect = started();
    const lenient = { event: 'media', sequenceNumber: 2, media: { chunk: 1, payload: '////' } };
    expect(decode(dialect, lenient)).toEqual({ type: 'audio', payload: Buffer.from('////', 'base64') });
  });

  it('takes only texts as stream parameters', () => {
    const customParameters = JSON.parse('{"a":"1","b":2,"c":null,"__proto__":"x"}') as object;
    const decoded = decode(openMediaDialect(), { ...start, start: { ...start.start, customParameters } });
    const parameters = decoded.type === 'start' ? decoded.parameters : {};
    expect(Object.entries(parameters)).toEqual([
      ['a', '1'],
      ['__proto__', 'x'],
    ]);
  });

  it('ignores our own audio on the outbound track', () => {
    expect(decode(started(), mediaOf({ track: 'outbound' }))).toEqual({ type: 'ignored' });
  });

  it.each([
    ['no JSON', '{"event":', 'message is not a JSON object'],
    ['an empty message', '', 'message is not a JSON object'],
    ['an array', '[]', 'message is not a JSON object'],
    ['null', 'null', 'message is not a JSON object'],
    ['no event', {}, 'message without an event'],
    ['an event that is not text', { event: 1 }, 'message without an event'],
    ['an unknown event', { event: 'constructor', streamSid: MZ }, 'unknown event'],
    ['a second connected', { event: 'connected' }, 'connected is not the first message'],
    ['a second start', start, 'second start'],
    ['a foreign stream', { ...media, streamSid: 'MZ9' }, 'message of a foreign stream'],
    ['a stream id that is not text', { ...media, streamSid: 9 }, 'message of a foreign stream'],
    ['no payload', mediaOf({ payload: undefined }), 'media without a payload'],
    ['an empty payload', mediaOf({ payload: '' }), 'media without a payload'],
    ['no media', { event: 'media', streamSid: MZ }, 'media without a payload'],
    ['an unknown track', mediaOf({ track: 'sideways' }), 'media of an unknown track'],
    ['a payload that is not base64', mediaOf({ payload: '!!!!' }), 'media payload is not base64'],
    ['a payload in URL-safe base64', mediaOf({ payload: '____' }), 'media payload is not base64'],
    ['a payload without padding', mediaOf({ payload: '//8' }), 'media payload is not base64'],
    ['a payload with spare bits', mediaOf({ payload: '//9=' }), 'media payload is not base64'],
    ['a payload with a line break', mediaOf({ payload: '//\n//' }), 'media payload is not base64'],
    ['an endless payload', mediaOf({ payload: 'A'.repeat(32_772) }), 'media payload too long'],
    ['two digits', { event: 'dtmf', streamSid: MZ, dtmf: { digit: '55' } }, 'dtmf without a digit'],
    [
      'a long number for a digit',
      { event: 'dtmf', streamSid: MZ, dtmf: { digit: 55 } },
      'dtmf without a digit',
    ],
    ['no digit', { event: 'dtmf', streamSid: MZ }, 'dtmf without a digit'],
    ['a mark without a name', { event: 'mark', streamSid: MZ, mark: {} }, 'mark without a name'],
    ...MALFORMED_SPOKEN_TEXTS,
    [
      'an endless spoken text',
      { event: 'spoken-text', spokenText: { id: 'a', text: 'x'.repeat(10_001), final: true } },
      'spoken text too long',
    ],
  ])('counts %s as unexpected', (_, message, reason) => {
    const dialect = started();
    expect(decode(dialect, message)).toEqual({ type: 'unexpected', reason });
    expect(decode(dialect, media)).toEqual({ type: 'audio', payload: frame });
  });

  it.each([
    ['media', media],
    ['stop', { event: 'stop', streamSid: MZ }],
    ['spoken text', { event: 'spoken-text', spokenText: { id: 's', text: 'x', final: true } }],
  ])('counts %s before start as unexpected', (_, message) => {
    const dialect = openMediaDialect();
    expect(decode(dialect, message)).toEqual({ type: 'unexpected', reason: 'message before start' });
    expect(decode(dialect, start)).toMatchObject({ type: 'start' });
  });

  it.each([
    ['without a call', { ...start, start: { ...start.start, callSid: '' } }, 'start without its ids'],
    ['without anything', { event: 'start' }, 'start without its ids'],
    [
      'of a call with half a character for a name',
      { ...start, start: { ...start.start, callSid: 'CA\ud800' } },
      'start without its ids',
    ],
    ['of two streams', { ...start, streamSid: 'MZ9' }, 'start of a foreign stream'],
  ])('counts a start %s as unexpected, and waits for a right one', (_, message, reason) => {
    const dialect = openMediaDialect();
    expect(decode(dialect, message)).toEqual({ type: 'unexpected', reason });
    expect(decode(dialect, start)).toMatchObject({ type: 'start' });
  });

  it('expects nothing after stop', () => {
    const dialect = started();
    decode(dialect, { event: 'stop', streamSid: MZ });
    expect(decode(dialect, media)).toEqual({ type: 'unexpected', reason: 'message after stop' });
    expect(decode(dialect, start)).toEqual({ type: 'unexpected', reason: 'second start' });
  });

  it('never throws', () => {
    const word = fc.constantFrom('connected', 'start', 'media', 'dtmf', 'mark', 'stop', 'spoken-text');
    const message = fc.record(
      { event: word, streamSid: fc.jsonValue(), start: fc.jsonValue(), media: fc.jsonValue() },
      { requiredKeys: ['event'] },
    );
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      message.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
        const dialect = started();
        for (const each of texts) expect(typeof dialect.decode(each).type).toBe('string');
      }),
    );
  });
});

describe('encode', () => {
  it('writes exactly the fields that the carrier takes', () => {
    const dialect = started();
    // A view in the middle of a larger buffer: only its own bytes may travel.
    const view = Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4);
    expect(dialect.encodeAudio(view)).toBe(
      `{"event":"media","streamSid":"${MZ}","media":{"payload":"AQID"}}`,
    );
    expect(dialect.encodeMark('a"b')).toBe(`{"event":"mark","streamSid":"${MZ}","mark":{"name":"a\\"b"}}`);
    expect(dialect.encodeClear()).toBe(`{"event":"clear","streamSid":"${MZ}"}`);
  });

  it('gives back through decode what it was given', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 2000 }), (payload) => {
        const dialect = started();
        expect(decode(dialect, dialect.encodeAudio(payload))).toEqual({
          type: 'audio',
          payload: Buffer.from(payload),
        });
      }),
    );
  });
});
