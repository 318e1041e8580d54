// A phone that rings for half a minute: what was ready before it still is, whatever the vendors do with idle connections.
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import { silentMeters } from '../../src/base/meters.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { CartesiaTextToSpeech, DeepgramAura, ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type Emulator,
  type EmulatorOptions,
  emulateCartesia,
  emulateDeepgram,
  emulateDeepgramAura,
  emulateElevenLabs,
} from '../../src/testing/index.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, FakeModel } from './call-rig.js';
import { passUntil } from '../support/pass-until.js';
import { untilQuiet } from '../support/virtual/quiet.js';

const FIRST = 'Hello, this is the front desk.';
const SECOND = 'What can I do for you today?';
const VOICES: readonly [
  string,
  (options: EmulatorOptions) => Promise<Emulator>,
  new (options: {
    apiKey: string;
    baseUrl: string;
  }) => DeepgramAura | CartesiaTextToSpeech | ElevenLabsTextToSpeech,
][] = [
  ['ElevenLabs', emulateElevenLabs, ElevenLabsTextToSpeech],
  ['Deepgram', emulateDeepgramAura, DeepgramAura],
  ['Cartesia', emulateCartesia, CartesiaTextToSpeech],
];

describe.each(VOICES)('a greeting by %s', (_name, emulate, Voice) => {
  it.each([
    ['kept', false],
    ['lost', true],
  ])('is heard at once behind a long ring, the connection %s', async (_case, isLost) => {
    const clock = new FakeClock();
    await using voice = await emulate({ clock });
    await using ears = await emulateDeepgram({ clock });
    const recipe = createPipelineRecipe({
      stt: new DeepgramSpeechToText({ apiKey: 'test-key', baseUrl: ears.url }),
      llm: new FakeModel(),
      tts: new Voice({ apiKey: 'test-key', baseUrl: voice.url }),
      firstMessage: `${FIRST} ${SECOND}`,
    });
    const preparation = recipe.prepare?.({
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'outbound',
      clock,
      logger: silentLogger,
      meters: silentMeters,
    });
    await passUntil(clock, 20, () => expect(voice.openSockets).toBe(1));
    for (let second = 0; second < 30; second += 1) {
      if (isLost && second === 15) voice.disconnectAll();
      await clock.advanceAsync(1000);
      await untilQuiet();
    }
    expect([voice.openSockets, ears.connectionCount]).toEqual([1, 0]);
    preparation?.answered?.();
    await passUntil(clock, 20, () => expect(ears.openSockets).toBe(1));

    const rig = await new CallRig({ clock, recipe, preparation }).start();
    expect(rig.pacer.pushedMs).toBeGreaterThan(1000);
    await passUntil(clock, 20, () => expect(rig.turns).toMatchObject([{ agentText: `${FIRST} ${SECOND}` }]));
    expect(rig.ended).toEqual([]);
    expect([...voice.violations, ...ears.violations]).toEqual([]);
    rig.engine.close();
  });
});
