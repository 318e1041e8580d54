import { describe, expect, it } from 'vitest';
import {
  emulateElevenLabs,
  type ElevenLabsEmulator,
  type EmulateElevenLabsOptions,
} from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const QUERY = 'model_id=m&output_format=pcm_16000';

async function connect(query = QUERY, options: EmulateElevenLabsOptions = {}, key = 'test-key') {
  const emulator: ElevenLabsEmulator = closedAfterTest(await emulateElevenLabs(options));
  const path = `/v1/text-to-speech/voice/multi-stream-input?${query}`;
  const socket = await openRaw(emulator.url + path, { 'xi-api-key': key });
  const send = (message: object) => socket.send(JSON.stringify(message));
  return { emulator, socket, send };
}

describe('emulateElevenLabs', () => {
  it.each([
    ['output_format=mp3', 'test-key', '400'],
    [`${QUERY}&inactivity_timeout=181`, 'test-key', '400'],
    [`${QUERY}&color=red`, 'test-key', '400'],
    [QUERY, 'wrong', '401'],
  ])('answers %s with key %s as the vendor would', async (query, key, expected) => {
    expect((await connect(query, {}, key)).socket.end()).toBe(expected);
  });

  it('speaks after a flush, and says that a context is over only after it was closed', async () => {
    const { socket, send } = await connect();
    send({ text: ' ', context_id: 'a' });
    send({ text: 'Hello. ', context_id: 'a' });
    send({ context_id: 'b', text: ' ' });
    send({ context_id: 'b', flush: true });
    send({ context_id: 'b', close_context: true });
    await soon(() => expect(socket.messages).toEqual([{ isFinal: true, contextId: 'b' }]));
    send({ context_id: 'a', flush: true });
    await soon(() => expect(socket.messages.length).toBeGreaterThan(1));
    const bytes = () =>
      socket.messages.reduce((sum, { audio }) => sum + Buffer.from(String(audio ?? ''), 'base64').length, 0);
    await soon(() => expect(bytes()).toBe('Hello.'.length * 60 * 32));
    expect(socket.messages.filter(({ isFinal }) => isFinal === true)).toHaveLength(1);
    send({ context_id: 'a', close_context: true });
    await soon(() => expect(socket.messages.at(-1)).toEqual({ isFinal: true, contextId: 'a' }));
  });

  it('halts behind commas when it is told to, and its alignment tells of it, from 0 in each chunk', async () => {
    // Chunks of 200 ms.
    const { socket, send } = await connect(`${QUERY}&sync_alignment=true`, { pauseMs: 400 });
    send({ text: ' ', context_id: 'a' });
    send({ text: 'One, two. ', context_id: 'a' });
    send({ context_id: 'a', close_context: true });
    await soon(() => expect(socket.messages.at(-1)).toMatchObject({ isFinal: true }));
    const chunks = socket.messages.slice(0, -1);
    const sounds = chunks.map(({ audio }) => Buffer.from(String(audio), 'base64'));
    expect(Buffer.concat(sounds)).toHaveLength((9 * 60 + 400) * 32);
    expect(sounds[2]?.every((byte) => byte === 0)).toBe(true);
    expect(chunks.map(({ alignment }) => alignment)).toEqual([
      {
        chars: ['O', 'n', 'e', ','],
        charStartTimesMs: [0, 60, 120, 180],
        charDurationsMs: [60, 60, 60, 460],
      },
      null,
      null,
      { chars: [' ', 't', 'w'], charStartTimesMs: [40, 100, 160], charDurationsMs: [60, 60, 60] },
      { chars: ['o', '.'], charStartTimesMs: [20, 80], charDurationsMs: [60, 60] },
    ]);
    expect(chunks[0]?.normalizedAlignment).toMatchObject({ chars: [' ', 'O', 'n', 'e', ','] });
  });

  it('closes after a sixth context', async () => {
    const { emulator, socket, send } = await connect();
    for (const id of 'abcdef') send({ text: ' ', context_id: id });
    await soon(() => expect(socket.end()).toBe('1008 max_active_contexts_exceeded'));
    expect(socket.messages.at(-1)).toMatchObject({ error: 'max_active_contexts_exceeded' });
    expect(emulator.violations).toHaveLength(1);
  });

  it('closes a socket that is idle for longer than was asked for', async () => {
    const clock = new FakeClock();
    const { socket } = await connect(`${QUERY}&inactivity_timeout=30`, { clock });
    await soon(() => expect(clock.pending).toBe(1));
    clock.advance(29_999);
    expect(socket.end()).toBeUndefined();
    clock.advance(1);
    await soon(() => expect(socket.end()).toBe('1008 input_timeout_exceeded'));
  });

  it.each<[string, object]>([
    ['a text that does not end in a blank', { text: 'Hello.', context_id: 'a' }],
    ['a flush of a context that is not there', { context_id: 'a', flush: true }],
    ['a field that it does not know', { txt: 'x' }],
  ])('complains about %s', async (_, message) => {
    const { emulator, send } = await connect();
    send(message);
    await soon(() => expect(emulator.violations).toHaveLength(1));
  });
});
