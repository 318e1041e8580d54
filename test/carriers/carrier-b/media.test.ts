import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALAW_8K, MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { openMediaDialect } from '../../../src/carriers/carrier-b/media.js';
import type { MediaDialect } from '../../../src/carriers/carrier.js';
import { runs } from '../../support/depth.js';
import { MALFORMED_SPOKEN_TEXTS } from '../spoken-texts.js';

const STREAM = 'c1c1c1c1-0000-4000-8000-000000000004';
const L16 = { encoding: 'L16', sample_rate: 16000, channels: 1 };

const startWith = (over: object) => ({
  event: 'start',
  sequence_number: '1',
  start: {
    user_id: '7a7a7a7a-0000-4000-8000-000000000003',
    call_control_id: 'v3:Zm9vYmFyYmF6',
    call_session_id: '9d2f7a10-aaaa-4bbb-8ccc-000000000002',
    from: '+15005550020',
    to: '+15005550010',
    tags: [],
    client_state: 'eyJjYWxsSWQiOiJjYWxsLTEifQ==',
    custom_parameters: {},
    media_format: L16,
    ...over,
  },
  stream_id: STREAM,
});
const mediaWith = (over: object) => ({
  event: 'media',
  sequence_number: '4',
  media: { track: 'inbound', chunk: '1', timestamp: '20', payload: 'AAEC', ...over },
  stream_id: STREAM,
});
const open = (over: Partial<Parameters<typeof openMediaDialect>[0]> = {}) =>
  openMediaDialect({ codec: 'preferred', l16ByteOrder: 'little', ...over });

function decode(dialect: MediaDialect, message: unknown) {
  return dialect.decode(typeof message === 'string' ? message : JSON.stringify(message));
}

function started(mediaFormat: unknown = L16, options: Parameters<typeof open>[0] = {}): MediaDialect {
  const dialect = open(options);
  decode(dialect, { event: 'connected', version: '1.0.0' });
  decode(dialect, startWith({ media_format: mediaFormat }));
  return dialect;
}

const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64');

describe('decode', () => {
  it('reads a whole stream', () => {
    const dialect = open();
    const frame = Buffer.alloc(640, 7);
    const messages = [
      { event: 'connected', version: '1.0.0' },
      startWith({}),
      mediaWith({ payload: frame.toString('base64') }),
      {
        event: 'dtmf',
        stream_id: STREAM,
        occurred_at: '2026-11-21T06:00:05.500000Z',
        sequence_number: '250',
        dtmf: { digit: '1' },
      },
      { event: 'mark', stream_id: STREAM, sequence_number: '251', mark: { name: 'turn-1' } },
      { event: 'spoken-text', stream_id: STREAM, spokenText: { id: 's1', text: 'Hello', final: true } },
      { event: 'stop', sequence_number: '900', stop: { call_control_id: 'v3:x' }, stream_id: STREAM },
    ];
    expect(messages.map((message) => decode(dialect, message))).toEqual([
      { type: 'connected' },
      {
        type: 'start',
        carrierCallId: 'v3:Zm9vYmFyYmF6',
        streamId: STREAM,
        format: PCM_16K,
        outboundFormat: PCM_16K,
        codec: 'L16/16000/1',
        parameters: { caller: '+15005550020', callee: '+15005550010' },
      },
      { type: 'audio', payload: frame },
      { type: 'dtmf', digit: '1' },
      { type: 'mark', name: 'turn-1' },
      { type: 'spoken-text', id: 's1', text: 'Hello', final: true },
      { type: 'stop' },
    ]);
  });

  const PCM_8K = { encoding: 'pcm', sampleRateHz: 8000 };
  it.each([
    [{ encoding: 'PCMU', sample_rate: 8000, channels: 1 }, MULAW_8K],
    [{ encoding: 'pcmu', sample_rate: '8000', channels: '1' }, MULAW_8K],
    [{ encoding: 'audio/x-mulaw', sample_rate: 8000 }, MULAW_8K],
    [{ encoding: 'audio/PCMU' }, MULAW_8K],
    [{ encoding: 'PCMA', sample_rate: 8000, channels: 1 }, ALAW_8K],
    [{ encoding: 'audio/x-alaw', sample_rate: null, channels: null }, ALAW_8K],
    [L16, PCM_16K],
    [{ encoding: 'audio/l16', sample_rate: 8000, channels: 1 }, PCM_8K],
    [{ encoding: 'l16' }, PCM_16K],
    [{ encoding: 'G722', sample_rate: 8000, channels: 1 }, null],
    [{ encoding: 'OPUS', sample_rate: 16000, channels: 1 }, null],
    [{ encoding: 'PCMU', sample_rate: 16000, channels: 1 }, null],
    [{ encoding: 'L16', sample_rate: 44100, channels: 1 }, null],
    [{ encoding: 'L16', sample_rate: 16000, channels: 2 }, null],
    [{ encoding: 'constructor' }, null],
    [{ encoding: ['PCMU'], sample_rate: { valueOf: 1 } }, null],
    [{ encoding: 'L16', sample_rate: { valueOf: 1, toString: 1 } }, null],
    [null, null],
    ['L16', null],
  ])('reads the format %j', (mediaFormat, format) => {
    const dialect = open({ codec: 'fallback' });
    expect(decode(dialect, startWith({ media_format: mediaFormat }))).toMatchObject({
      type: 'start',
      format,
      outboundFormat: MULAW_8K,
    });
  });

  it('names a codec that it does not speak, in plain letters', () => {
    const start = startWith({ media_format: { encoding: 'audio/<G722>', sample_rate: 8000, channels: 1 } });
    expect(decode(open(), start)).toMatchObject({ format: null, codec: 'audio/G722/8000/1' });
    expect(decode(open(), startWith({ media_format: null }))).toMatchObject({ codec: '?/?/?' });
  });

  it.each([
    ['an object', { caller: 'a', x: 'y', n: 5 }],
    [
      'a list',
      [{ name: 'caller', value: 'a' }, { name: 'x', value: 'y' }, { name: 'n', value: 5 }, null, 'z'],
    ],
  ])('reads parameters that are %s; they outrank what the carrier states', (_, custom) => {
    expect(decode(open(), startWith({ custom_parameters: custom }))).toHaveProperty('parameters', {
      caller: 'a',
      callee: '+15005550010',
      x: 'y',
    });
  });

  it('bounds the parameters', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`p${index}`, 'x']));
    const message = decode(open(), startWith({ custom_parameters: many }));
    expect(message.type === 'start' && Object.keys(message.parameters)).toHaveLength(66);
  });

  it('puts pieces in order, several in one', () => {
    const dialect = started();
    const heard = ['1', '3', '3', '2', '1', '4'].map((chunk) =>
      decode(dialect, mediaWith({ chunk, payload: base64(Number(chunk), 0) })),
    );
    expect(heard).toEqual([
      { type: 'audio', payload: Buffer.from([1, 0]) },
      { type: 'ignored' },
      { type: 'ignored' },
      { type: 'audio', payload: Buffer.from([2, 0, 3, 0]) },
      { type: 'ignored' },
      { type: 'audio', payload: Buffer.from([4, 0]) },
    ]);
  });

  it('reads audio that is not numbered', () => {
    const dialect = started();
    const media = { track: undefined, chunk: undefined, timestamp: undefined, payload: base64(1, 0) };
    expect(decode(dialect, mediaWith(media))).toMatchObject({ type: 'audio' });
    expect(decode(dialect, { ...mediaWith(media), stream_id: null })).toMatchObject({ type: 'audio' });
  });

  it('never carries half a sample over', () => {
    const dialect = started();
    expect(decode(dialect, mediaWith({ payload: base64(1, 2, 3) }))).toEqual({
      type: 'audio',
      payload: Buffer.from([1, 2]),
    });
    expect(decode(dialect, mediaWith({ chunk: '2', payload: base64(4, 5) }))).toEqual({
      type: 'audio',
      payload: Buffer.from([4, 5]),
    });
    expect(decode(dialect, mediaWith({ chunk: '3', payload: base64(6) }))).toMatchObject({
      type: 'unexpected',
    });
  });

  it('leaves bytes of G.711 alone, also an odd number of them', () => {
    const dialect = started({ encoding: 'PCMU' }, { l16ByteOrder: 'big' });
    expect(decode(dialect, mediaWith({ payload: base64(1, 2, 3) }))).toMatchObject({
      payload: Buffer.from([1, 2, 3]),
    });
  });

  it('turns the bytes of PCM in network order', () => {
    const dialect = started(L16, { l16ByteOrder: 'big' });
    expect(decode(dialect, mediaWith({ payload: base64(1, 2, 3, 4, 5) }))).toMatchObject({
      payload: Buffer.from([2, 1, 4, 3]),
    });
  });

  it('ignores our own voice', () => {
    expect(decode(started(), mediaWith({ track: 'outbound' }))).toEqual({ type: 'ignored' });
  });

  const before = [
    ['what is not JSON', 'x', 'message is not a JSON object'],
    ['a list', [], 'message is not a JSON object'],
    ['a message without an event', {}, 'message without an event'],
    ['an event that nobody knows', { event: 'teleport' }, 'unknown event'],
    ['audio before the start', mediaWith({}), 'message before start'],
    ['a stop before the start', { event: 'stop' }, 'message before start'],
    ['a start that names no call', startWith({ call_control_id: null }), 'start without its ids'],
    ['a start that names no stream', { ...startWith({}), stream_id: null }, 'start without its ids'],
    ['a start without anything', { event: 'start' }, 'start without its ids'],
  ] as const;
  it.each(before)('counts %s', (_, message, reason) => {
    expect(decode(open(), message)).toEqual({ type: 'unexpected', reason });
  });

  it.each([
    ['a second start', startWith({}), 'second start'],
    ['a late greeting', { event: 'connected' }, 'connected is not the first message'],
    ['a foreign stream', { ...mediaWith({}), stream_id: 'other' }, 'message of a foreign stream'],
    ['an unknown track', mediaWith({ track: 'both' }), 'media of an unknown track'],
    ['audio without audio', mediaWith({ payload: null }), 'media without a payload'],
    ['what is not base64', mediaWith({ payload: '%%%' }), 'media payload is not base64'],
    ['base64 without its end', mediaWith({ payload: 'AAE' }), 'media payload is not base64'],
    ['minutes of audio', mediaWith({ payload: 'A'.repeat(128_004) }), 'media payload too long'],
    ['a key that is none', { event: 'dtmf', dtmf: { digit: 'x' } }, 'dtmf without a digit'],
    ['a mark without a name', { event: 'mark', mark: null }, 'mark without a name'],
    ...MALFORMED_SPOKEN_TEXTS,
    ['malformed', { event: 'error', payload: { code: 100003 } }, 'the carrier reports a malformed frame'],
    ['a flood', { event: 'error', payload: { code: '100005' } }, 'the carrier reports too many frames'],
    ['another error', { event: 'error', payload: { title: 'secret' } }, 'the carrier reports an error'],
  ])('counts %s, and goes on', (_, message, reason) => {
    const dialect = started();
    expect(decode(dialect, message)).toEqual({ type: 'unexpected', reason });
    expect(decode(dialect, mediaWith({}))).toMatchObject({ type: 'audio' });
  });

  it('counts what follows the stop', () => {
    const dialect = started();
    decode(dialect, { event: 'stop' });
    for (const message of [mediaWith({}), startWith({}), { event: 'stop' }]) {
      expect(decode(dialect, message)).toMatchObject({ type: 'unexpected' });
    }
  });

  it('never throws, and never says what was in a message', () => {
    const events = ['connected', 'start', 'media', 'dtmf', 'mark', 'stop', 'error', 'spoken-text'];
    const field = fc.constantFrom('media', 'start', 'dtmf', 'mark', 'payload', 'spokenText', 'stream_id');
    const message = fc
      .tuple(fc.constantFrom(...events), fc.dictionary(field, fc.jsonValue()))
      .map(([event, fields]) => ({ ...fields, event }));
    const change = fc.oneof(fc.constant(null), fc.jsonValue());
    const starts = fc
      .dictionary(
        fc.constantFrom('media_format', 'custom_parameters', 'from', 'to', 'call_control_id'),
        change,
      )
      .map(startWith);
    const media = fc.dictionary(fc.constantFrom('track', 'chunk', 'payload'), change).map(mediaWith);
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.oneof(message, starts, media).map((each) => JSON.stringify(each)),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(texts), (isStarted, all) => {
        const dialect = isStarted ? started() : open({ l16ByteOrder: 'big' });
        for (const text of all) {
          const decoded = dialect.decode(text);
          if (decoded.type === 'unexpected') expect(decoded.reason).toMatch(/^[a-zA-Z0-9 ]+$/);
          if (decoded.type === 'audio') expect(decoded.payload.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: runs(150, 500) },
    );
  });
});

describe('encode', () => {
  it('writes audio, marks and clear without ids', () => {
    const dialect = started();
    expect(dialect.encodeAudio(Uint8Array.of(1, 2))).toBe('{"event":"media","media":{"payload":"AQI="}}');
    expect(JSON.parse(dialect.encodeMark('a"b'))).toEqual({ event: 'mark', mark: { name: 'a"b' } });
    expect(dialect.encodeClear()).toBe('{"event":"clear"}');
  });

  const sent = (dialect: MediaDialect, bytes: Uint8Array) => [
    ...Buffer.from(JSON.parse(dialect.encodeAudio(bytes)).media.payload, 'base64'),
  ];

  it('turns PCM round where the carrier wants it so, and leaves the bytes of the caller alone', () => {
    const bytes = Uint8Array.of(0, 1, 2, 3, 4).subarray(1);
    expect(sent(started(L16, { l16ByteOrder: 'big' }), bytes)).toEqual([2, 1, 4, 3]);
    expect(sent(started(), bytes)).toEqual([1, 2, 3, 4]);
    expect([...bytes]).toEqual([1, 2, 3, 4]);
  });

  it('never sends half a sample', () => {
    expect(sent(started(), Uint8Array.of(1, 2, 3))).toEqual([1, 2]);
  });

  it('sends what was asked for, whatever comes in', () => {
    const dialect = started(L16, { codec: 'fallback', l16ByteOrder: 'big' });
    expect(sent(dialect, Uint8Array.of(1, 2, 3))).toEqual([1, 2, 3]);
  });

  it('gives back what it is given, in either order', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 2, maxLength: 700 }), fc.boolean(), (bytes, isBig) => {
        const dialect = started(L16, { l16ByteOrder: isBig ? 'big' : 'little' });
        const { payload } = JSON.parse(dialect.encodeAudio(bytes)).media;
        expect(decode(dialect, mediaWith({ payload }))).toEqual({
          type: 'audio',
          payload: Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))),
        });
      }),
    );
  });
});
