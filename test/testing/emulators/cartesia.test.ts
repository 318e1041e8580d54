import { describe, expect, it } from 'vitest';
import { emulateCartesia, type EmulateCartesiaOptions } from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const HEADERS = { authorization: 'Bearer test-key', 'cartesia-version': '2026-08-14' };

async function connect(options: EmulateCartesiaOptions = {}, headers: Record<string, string> = HEADERS) {
  const emulator = closedAfterTest(await emulateCartesia(options));
  const socket = await openRaw(`${emulator.url}/tts/websocket`, headers);
  const send = (message: object) => socket.send(JSON.stringify(message));
  return { emulator, socket, send };
}

const REQUEST = {
  model_id: 'sonic-3.5',
  voice: { mode: 'id', id: 'voice' },
  output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
  add_timestamps: true,
};

describe('emulateCartesia', () => {
  it.each([
    [{ ...HEADERS, authorization: 'Bearer wrong' }, '401'],
    [{ authorization: 'Bearer test-key' }, '400'],
  ])('answers the headers %j as the vendor would', async (headers, expected) => {
    expect((await connect({}, headers as Record<string, string>)).socket.end()).toBe(expected);
  });

  it('joins the parts of a context, and is done after the last one', async () => {
    const { emulator, socket, send } = await connect();
    send({ ...REQUEST, context_id: 'a', transcript: 'One, ', continue: true });
    send({ ...REQUEST, context_id: 'a', transcript: 'two.', continue: true });
    send({ ...REQUEST, context_id: 'a', transcript: '', continue: false });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'done', context_id: 'a' }));
    expect(emulator.connections[0]?.texts.get('a')).toBe('One, two.');
    const bytes = socket.messages.map(({ data }) => Buffer.from(String(data ?? ''), 'base64').length);
    expect(bytes.reduce((sum, length) => sum + length, 0)).toBe('One, two.'.length * 60 * 32);
    expect(socket.messages.filter(({ type }) => type === 'timestamps')).toMatchObject([
      { word_timestamps: { words: ['One,'], start: [0], end: [0.24] } },
      { word_timestamps: { words: ['two.'], start: [0.3], end: [0.54] } },
    ]);
    expect(emulator.violations).toEqual([]);
  });

  it('says behind the audio that a flush is done, and counts them', async () => {
    const { emulator, socket, send } = await connect();
    const flush = { ...REQUEST, context_id: 'a', transcript: '', continue: true, flush: true };
    send({ ...REQUEST, context_id: 'a', transcript: 'One, ', continue: true });
    send(flush);
    send(flush);
    send({ ...REQUEST, context_id: 'a', transcript: 'two.', continue: false });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'done' }));
    const parts = socket.messages.map(({ type, flush_id = '' }) => `${type}${flush_id}`);
    const order = parts.filter((part, index) => part !== 'timestamps' && part !== parts[index - 1]);
    expect(order).toEqual(['chunk', 'flush_done1', 'flush_done2', 'chunk', 'done']);
    expect(emulator.violations).toEqual([]);
  });

  it.each<[string, object[], string]>([
    ['another voice within a context', [{}, { voice: { mode: 'id', id: 'other' } }], 'context_changed'],
    ['a part after the last one', [{ continue: false }, {}], 'context_'],
    ['an empty part that is not the last', [{ transcript: ' ' }], 'invalid_transcript'],
    ['a field that it does not know', [{ color: 'red' }], 'unknown_field'],
    ['another format', [{ output_format: { container: 'mp3' } }], 'invalid_output_format'],
    ['no context', [{ context_id: undefined }], 'invalid_request'],
    ['one context too many', [{ context_id: 'b' }, { context_id: 'c' }, {}], 'concurrency_limited'],
  ])('refuses %s', async (_, parts, code) => {
    const { emulator, socket, send } = await connect({ firstAudioMs: 1000 });
    for (const part of parts)
      send({ ...REQUEST, context_id: 'a', transcript: 'One. ', continue: true, ...part });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'error' }));
    expect(socket.messages.at(-1)?.error_code).toContain(code);
    expect(emulator.violations).toHaveLength(1);
  });

  it('forgets a context a second after its audio, and closes an idle socket after five minutes', async () => {
    const clock = new FakeClock();
    const { socket, send } = await connect({ clock });
    send({ ...REQUEST, context_id: 'a', transcript: 'One. ', continue: true });
    await soon(() => expect(socket.messages.length).toBeGreaterThan(1));
    clock.advance(1000);
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'done' }));
    send({ ...REQUEST, context_id: 'a', transcript: 'Two.', continue: false });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ error_code: 'context_expired' }));
    clock.advance(300_000);
    await soon(() => expect(socket.end()).toBe('1000 idle'));
  });

  it('does not understand binary messages', async () => {
    const { socket } = await connect();
    socket.send(new Uint8Array(2));
    await soon(() => expect(socket.end()).toMatch(/^1003/));
  });
});
