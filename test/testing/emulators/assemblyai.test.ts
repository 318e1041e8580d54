import { describe, expect, it } from 'vitest';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import { emulateAssemblyAI, type EmulateAssemblyAIOptions } from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const QUERY = 'speech_model=universal-3-6-pro&encoding=pcm_s16le&sample_rate=16000';

async function connect(query = QUERY, options: EmulateAssemblyAIOptions = {}, key = 'test-key') {
  const emulator = closedAfterTest(await emulateAssemblyAI(options));
  const socket = await openRaw(`${emulator.url}/v3/ws?${query}`, { authorization: key });
  return { emulator, socket };
}

describe('emulateAssemblyAI', () => {
  it.each([
    [QUERY, 'wrong', 4001],
    [QUERY.replace('universal-3-6-pro', 'nova'), 'test-key', 3006],
    [QUERY.replace('16000', '8000'), 'test-key', 3006],
    [`${QUERY}&color=red`, 'test-key', 3006],
  ])('closes a session of %s with key %s after an error', async (query, key, code) => {
    const { socket } = await connect(query, {}, key);
    await soon(() => expect(socket.end()).toMatch(`${code}`));
    expect(socket.messages).toMatchObject([{ type: 'Error', error_code: code }]);
  });

  it.each<[string, string | Uint8Array, number]>([
    ['an unknown message', '{"type":"Sing"}', 3006],
    ['text that is not JSON', 'hello', 3006],
    ['a frame of 20 ms', new Uint8Array(640), 3007],
    ['more than a second', new Uint8Array(32_640), 3007],
    ['half a sample', new Uint8Array(1921), 3007],
    ['audio that is ahead of its time', new Uint8Array(32_000), 4029],
  ])('closes after %s', async (_, message, code) => {
    const { emulator, socket } = await connect(QUERY, { clock: new FakeClock() });
    socket.send(message);
    await soon(() => expect(socket.end()).toMatch(`${code}`));
    expect(emulator.violations).toHaveLength(1);
  });

  it('says when the session will be over, in seconds of the epoch', async () => {
    const clock = new FakeClock();
    const { socket } = await connect(QUERY, { clock });
    const expiresAt = Math.floor(clock.wallNow() / 1000) + 3 * 3600;
    await soon(() => expect(socket.messages[0]).toMatchObject({ type: 'Begin', expires_at: expiresAt }));
  });

  it('tells turns, ends one when it is asked to, and says what it has heard', async () => {
    const clock = new FakeClock();
    const { emulator, socket } = await connect(QUERY, { clock, utterances: ['One two.'] });
    await soon(() => expect(socket.messages).toMatchObject([{ type: 'Begin' }]));
    clock.advance(1000);
    const speech = makeEmulatedSpeech({ durationMs: 600, sampleRateHz: 16_000 });
    socket.send(new Uint8Array(speech.buffer));
    socket.send('{"type":"ForceEndpoint"}');
    socket.send('{"type":"Terminate"}');
    await soon(() => expect(socket.end()).toBe('1000'));
    expect(socket.messages.map(({ type }) => type)).toEqual([
      'Begin',
      'SpeechStarted',
      'Turn',
      'Turn',
      'Turn',
      'Termination',
    ]);
    expect(socket.messages[4]).toMatchObject({ turn_order: 0, end_of_turn: true, transcript: 'One two.' });
    expect(socket.messages[5]).toMatchObject({ audio_duration_seconds: 0.6 });
    expect(emulator.violations).toEqual([]);
  });

  it('has the last word of a turn end where the sound ends, however few or many they are', async () => {
    const clock = new FakeClock();
    const { socket } = await connect(QUERY, { clock, utterances: ['One.'] });
    await soon(() => expect(socket.messages).toMatchObject([{ type: 'Begin' }]));
    clock.advance(2000);
    const speech = makeEmulatedSpeech({ durationMs: 900, sampleRateHz: 16_000 });
    socket.send(new Uint8Array(speech.buffer));
    socket.send(new Uint8Array(12_800));
    const end = await soon(() => {
      const found = socket.messages.find(({ end_of_turn: isEnd }) => isEnd === true);
      expect(found).toBeDefined();
      return found;
    });
    const [word] = (end?.words ?? []) as { start: number; end: number }[];
    expect(word?.end).toBeGreaterThan(850);
    expect(word?.end).toBeLessThanOrEqual(900);
  });

  it('closes an idle session only where that was asked for', async () => {
    const clock = new FakeClock();
    const { socket } = await connect(`${QUERY}&inactivity_timeout=30`, { clock });
    await soon(() => expect(clock.pending).toBe(1));
    clock.advance(30_000);
    await soon(() => expect(socket.end()).toMatch(/^4031/));
  });
});
