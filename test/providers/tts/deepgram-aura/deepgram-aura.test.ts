import { describe, expect, it } from 'vitest';
import { DeepgramAura, type DeepgramAuraOptions } from '../../../../src/providers/tts/index.js';
import {
  type AuraEmulator,
  emulateDeepgramAura,
  type EmulateDeepgramAuraOptions,
} from '../../../../src/testing/index.js';
import { collect, listen, never, pass, spoken } from '../listener.js';
import {
  describeConnection,
  describeOptions,
  describeSentences,
  itKeepsLateAudioOut,
  VoiceBench,
} from '../voice-bench.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';

describe('DeepgramAura', () => {
  const bench = new VoiceBench<AuraEmulator, EmulateDeepgramAuraOptions, DeepgramAuraOptions>({
    variables: 'DEEPGRAM',
    emulate: emulateDeepgramAura,
    type: DeepgramAura,
  });
  const voice = {
    vendor: 'Deepgram',
    keyVariable: 'DEEPGRAM_API_KEY',
    headers: { 'dg-error': 'SOME_CODE' },
    shown: ', SOME_CODE',
    name: 'deepgram/aura-2-thalia-en',
    refused: [
      [{ voice: 'x' }, /no option "voice"/],
      [{ model: 'flux-alexis-en' }, /Aura family/],
      [{ mipOptOut: 1 }, /mipOptOut/],
      [{ baseUrl: 'nowhere' }, /base URL/],
    ],
  } as const;
  describeOptions(bench, voice);
  describeConnection(bench, voice);

  it('connects when a call opens, with key and address of the environment', async () => {
    await bench.startByEnvironment({ model: 'aura-2-andromeda-en', mipOptOut: true }, { query: '?tag=mine' });
    await soon(() => expect(bench.emulator.openSockets).toBe(1));
    expect(Object.fromEntries(bench.emulator.requests[0]?.url.searchParams ?? [])).toEqual({
      tag: 'mine',
      model: 'aura-2-andromeda-en',
      encoding: 'linear16',
      sample_rate: '16000',
      mip_opt_out: 'true',
    });
    expect(bench.emulator.requests[0]?.headers.authorization).toBe('Token test-key');
  });

  describeSentences(bench, { said: ({ connections: [first] }) => first?.texts ?? [] });

  itKeepsLateAudioOut(bench, ({ connections }) => {
    expect(connections).toHaveLength(1);
    expect(connections[0]?.types).toEqual(['Speak', 'Flush', 'Clear', 'Speak', 'Flush']);
  });

  it('takes another connection before the vendor refuses to flush', async () => {
    const { clock, session } = await bench.start();
    for (let count = 0; count < 45; count += 1) {
      clock.advance(100);
      const reading = listen(session, 'Yes.');
      await passUntil(clock, 0, () => {
        expect(reading.over).toBe(true);
      });
      expect(reading).toMatchObject({ samples: spoken('Yes.'), error: undefined });
    }
    expect(bench.emulator.connections).toHaveLength(3);
    expect(bench.emulator.violations).toEqual([]);
  });

  it('says a text that is longer than a message allows', async () => {
    const { session } = await bench.start({ emulator: { msPerCharacter: 1 } });
    const text = `${'word '.repeat(900)}${'👋'.repeat(1500)}.`;
    await collect(session.synthesize(text, never));
    expect(bench.emulator.connections[0]?.texts).toEqual([text]);
    expect(bench.emulator.violations).toEqual([]);
  });

  it('stays connected through a long silence', async () => {
    const { clock, session } = await bench.start();
    await soon(() => expect(bench.emulator.openSockets).toBe(1));
    await pass(clock, 300_000);
    expect(await collect(session.synthesize('Still here.', never))).toEqual(spoken('Still here.'));
    expect(bench.emulator.connections).toHaveLength(1);
  });

  it('ends a sentence whose end is not told, and goes on over another connection', async () => {
    const { clock, session } = await bench.start({ emulator: { withoutFlushed: true } });
    for (const text of ['One.', 'Two.']) {
      const reading = listen(session, text);
      await soon(() => expect(reading.samples).toEqual(spoken(text)));
      clock.advance(3000);
      await soon(() => expect(reading.over).toBe(true));
      clock.advance(0);
    }
    expect(bench.emulator.connections.length).toBeGreaterThan(1);
  });

  it('says goodbye at the end of the call', async () => {
    const { session } = await bench.start();
    await collect(session.synthesize('Bye.', never));
    session.close();
    await soon(() => expect(bench.emulator.openSockets).toBe(0));
    expect(bench.emulator.connections[0]?.types).toEqual(['Speak', 'Flush', 'Close']);
  });
});
