// A realtime model that speaks the telephone's own format: its bytes reach the carrier as they are.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { makeEmulatedSpeech } from '../../src/testing/emulators/emulated-speech.js';
import { emulateOpenAIRealtime } from '../../src/testing/index.js';
import { readWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { makeFolder } from '../support/data-folder.js';

const GREETING = 'Hello, this is the bakery.';
const ANSWER = 'They are ready at noon.';

// A call in real time: a shared machine that stops for longer than the pacer's lead makes a gap that nobody can mend.
it('plays the bytes of the model on carrier A, byte for byte', { timeout: 60_000 }, async () => {
  await using emulator = await emulateOpenAIRealtime({
    utterances: ['Three loaves of bread.'],
    replies: [{ text: ANSWER }],
  });
  const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${emulator.url}/v1` });
  await using running = await startCarrierPhone('carrier-a', { firstMessage: GREETING, engine });
  const recordTo = join(await makeFolder(), 'call.wav');
  const report = await running.simulator.call({
    recordTo,
    script: [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Three loaves of bread.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ],
  });
  expect(report).toMatchObject({ ok: true, recording: recordTo });
  const [, agent = new Int16Array(0)] = readWav(await readFile(recordTo)).channels;
  const played = Buffer.from(transcoder.mulawEncode(agent));
  const items = emulator.connections[0]?.items.filter(({ role }) => role === 'assistant') ?? [];
  const said = items.map(({ audioMs = 0 }) =>
    transcoder.mulawEncode(makeEmulatedSpeech({ durationMs: audioMs, sampleRateHz: 8000 })),
  );
  expect(said.map(({ length }) => length)).toEqual([GREETING.length * 480, ANSWER.length * 480]);
  let end = 0;
  for (const item of said) {
    const at = played.indexOf(item, end);
    expect(at).toBeGreaterThanOrEqual(end);
    end = at + item.length;
  }
});
