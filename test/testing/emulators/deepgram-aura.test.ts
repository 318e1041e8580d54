import { describe, expect, it } from 'vitest';
import { emulateDeepgramAura, type EmulateDeepgramAuraOptions } from '../../../src/testing/index.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const QUERY = 'model=aura-2-thalia-en&encoding=linear16&sample_rate=16000';

async function connect(query = QUERY, options: EmulateDeepgramAuraOptions = {}, key = 'test-key') {
  const emulator = closedAfterTest(await emulateDeepgramAura(options));
  const socket = await openRaw(`${emulator.url}/v1/speak?${query}`, { authorization: `Token ${key}` });
  const send = (message: object) => socket.send(JSON.stringify(message));
  return { emulator, socket, send };
}

describe('emulateDeepgramAura', () => {
  it.each([
    ['encoding=linear16&sample_rate=16000', 'test-key', '400 INVALID_MODEL'],
    ['model=aura-2-no-such-voice-en&encoding=linear16&sample_rate=16000', 'test-key', '400 INVALID_MODEL'],
    ['model=aura-2-thalia-en&encoding=mp3', 'test-key', '400 UNSUPPORTED_AUDIO_FORMAT'],
    [`${QUERY}&color=red`, 'test-key', '400 INVALID_QUERY_PARAMETER'],
    [QUERY, 'wrong', '401 INVALID_AUTH'],
  ])('answers %s with key %s as the vendor would', async (query, key, expected) => {
    expect((await connect(query, {}, key)).socket.end()).toBe(expected);
  });

  it('speaks in binary after a flush, and stops at a clear', async () => {
    const { socket, send } = await connect(QUERY, { chunkEveryMs: 20, lateChunks: 1 });
    send({ type: 'Speak', text: 'Hello, ' });
    send({ type: 'Speak', text: 'you.' });
    await soon(() => expect(socket.messages).toHaveLength(1));
    expect(socket.audio).toEqual([]);
    send({ type: 'Flush' });
    await soon(() => expect(socket.messages.at(-1)).toEqual({ type: 'Flushed', sequence_id: 0 }));
    expect(socket.audio.reduce((sum, { length }) => sum + length, 0)).toBe('Hello, you.'.length * 60 * 32);
    send({ type: 'Speak', text: 'This takes long.' });
    send({ type: 'Flush' });
    send({ type: 'Clear' });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'Cleared' }));
  });

  it('warns instead of flushing for the twenty-first time in a minute', async () => {
    const { emulator, socket, send } = await connect();
    for (let count = 0; count < 21; count += 1) send({ type: 'Flush' });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ type: 'Warning' }));
    expect(emulator.violations).toHaveLength(1);
  });

  it.each<[string, string | Uint8Array]>([
    ['an unknown message', '{"type":"Sing"}'],
    ['text that is not JSON', 'hello'],
    ['a Speak without text', '{"type":"Speak"}'],
    ['a text that is too long', JSON.stringify({ type: 'Speak', text: 'x'.repeat(2001) })],
    ['a binary message', new Uint8Array(2)],
  ])('closes after %s', async (_, message) => {
    const { emulator, socket } = await connect();
    socket.send(message);
    await soon(() => expect(socket.end()).toBe('1008 DATA-0000'));
    expect(emulator.violations).toHaveLength(1);
  });
});
