import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emulateOpenAISpeech, type OpenAISpeechEmulator } from '../../../src/testing/index.js';

let emulator: OpenAISpeechEmulator;
beforeEach(async () => {
  emulator = await emulateOpenAISpeech();
});
afterEach(() => emulator.close());

const BODY = { model: 'm', voice: 'v', input: 'Hello', response_format: 'pcm' };
const post = (body: string, key = 'test-key') =>
  fetch(`${emulator.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  });

describe('emulateOpenAISpeech', () => {
  it('speaks 24 kHz PCM, 60 ms for a character', async () => {
    const answer = await post(JSON.stringify(BODY));
    expect((await answer.arrayBuffer()).byteLength).toBe(5 * 60 * 24 * 2);
    expect(emulator.violations).toEqual([]);
  });

  it('refuses a wrong key', async () => {
    expect((await post(JSON.stringify(BODY), 'wrong')).status).toBe(401);
  });

  it.each<[string, string]>([
    ['no JSON', '{'],
    ['an unknown field', JSON.stringify({ ...BODY, text: 'x' })],
    ['no voice', JSON.stringify({ ...BODY, voice: undefined })],
    ['another format', JSON.stringify({ ...BODY, response_format: 'mp3' })],
    ['a text that is too long', JSON.stringify({ ...BODY, input: 'x'.repeat(4097) })],
  ])('refuses %s', async (_, body) => {
    expect((await post(body)).status).toBe(400);
    expect(emulator.violations).toHaveLength(1);
  });
});
