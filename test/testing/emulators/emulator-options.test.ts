import { describe, expect, it } from 'vitest';
import { emulateAnthropic } from '../../../src/testing/emulators/anthropic.js';
import { emulateChatCompletions } from '../../../src/testing/emulators/chat-completions.js';
import { emulateDeepgram } from '../../../src/testing/emulators/deepgram.js';
import { emulateElevenLabs } from '../../../src/testing/emulators/elevenlabs.js';
import { emulateGeminiLive } from '../../../src/testing/emulators/gemini-live.js';
import { emulateOpenAIRealtime } from '../../../src/testing/emulators/openai-realtime.js';

describe('the options of an emulator', () => {
  it.each([
    ['emulateChatCompletions', emulateChatCompletions, 'reply', 'replies'],
    ['emulateDeepgram', emulateDeepgram, 'uterances', 'utterances'],
    ['emulateElevenLabs', emulateElevenLabs, 'chunkByte', 'chunkBytes'],
    ['emulateGeminiLive', emulateGeminiLive, 'resumeable', 'resumable'],
    ['emulateOpenAIRealtime', emulateOpenAIRealtime, 'apikey', 'apiKey'],
  ])('%s knows by name', async (name, emulate, wrong, right) => {
    const isRefused = expect(emulate({ [wrong]: [] } as never)).rejects;
    await isRefused.toThrow(new RegExp(`^${name}\\(\\) has no option "${wrong}"\\. .*\\b${right}\\b`));
  });

  it.each([
    ['emulateChatCompletions', emulateChatCompletions],
    ['emulateAnthropic', emulateAnthropic],
    ['emulateOpenAIRealtime', emulateOpenAIRealtime],
  ])('%s takes replies that it knows how to give', async (_, emulate) => {
    await expect(emulate({ replies: 'x' } as never)).rejects.toThrow(
      /^replies must be a function, or a list/,
    );
    const misspelt = expect(emulate({ replies: [{ text: 'x' }, { txt: 'x' }] } as never)).rejects;
    await misspelt.toThrow('replies[1] has no option "txt". Did you mean text?');
  });

  it('say which key is taken, and one that is refused is a violation', async () => {
    for (const apiKey of [undefined, 'another']) {
      await using emulator = await emulateChatCompletions(apiKey === undefined ? {} : { apiKey });
      const ask = (key: string) =>
        fetch(`${emulator.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      expect((await ask(apiKey ?? 'test-key')).status).toBe(200);
      expect(emulator.violations).toEqual([]);
      expect((await ask('wrong')).status).toBe(401);
      expect(emulator.violations).toEqual([expect.stringMatching(/API key was refused.*test-key/)]);
    }
  });
});
