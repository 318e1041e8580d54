import { afterEach, describe, expect, it } from 'vitest';
import {
  emulateAnthropic,
  emulateChatCompletions,
  emulateDeepgram,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
  emulateOpenAITranscription,
  type Emulator,
} from '../../../src/testing/index.js';
import { openRaw } from './raw-socket.js';

let emulator: Emulator;
afterEach(() => emulator.close());

const HEADERS = { authorization: 'Bearer test-key', 'x-api-key': 'test-key' };

describe('an address that the vendor does not have', () => {
  it.each<[string, () => Promise<Emulator>, string[], string]>([
    ['chat', emulateChatCompletions, ['/chat/completions', '/v2/chat/completions'], '/v1/models'],
    ['Anthropic', emulateAnthropic, ['/messages', '/v1/message'], '/v1/models'],
    ['speech', emulateOpenAISpeech, ['/audio/speech', '/v2/audio/speech'], '/v1/audio/speech'],
    ['transcription', emulateOpenAITranscription, ['/audio/transcriptions'], '/v1/audio/transcriptions'],
  ])('is refused and listed: %s', async (_, emulate, wrong, right) => {
    emulator = await emulate();
    const ask = async (path: string) => (await fetch(emulator.url + path, { headers: HEADERS })).status;
    for (const path of wrong) expect(await ask(path)).toBe(404);
    const violations = wrong.map((path) => `${path} is no address of the vendor`);
    expect(emulator.violations).toEqual(violations);
    expect(await ask(right)).not.toBe(404);
    expect(await ask(`/proxy${right}`)).not.toBe(404);
    expect(emulator.violations.filter((each) => each.includes('address'))).toEqual(violations);
  });

  it.each<[string, () => Promise<Emulator>, string]>([
    ['realtime', emulateOpenAIRealtime, '/realtime'],
    ['Deepgram', emulateDeepgram, '/v2/listen'],
  ])('is refused to sockets and listed: %s', async (_, emulate, path) => {
    emulator = await emulate();
    const { end } = await openRaw(`${emulator.url}${path}?model=m`, HEADERS);
    expect(end()).toBe('404');
    expect(emulator.violations).toEqual([`${path} is no address of the vendor`]);
  });
});
