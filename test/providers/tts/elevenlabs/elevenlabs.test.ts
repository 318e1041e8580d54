import { describe, expect, it } from 'vitest';
import {
  ElevenLabsTextToSpeech,
  type ElevenLabsTextToSpeechOptions,
} from '../../../../src/providers/tts/index.js';
import {
  type ElevenLabsEmulator,
  emulateElevenLabs,
  type EmulateElevenLabsOptions,
} from '../../../../src/testing/index.js';
import { collect, never, pass, spoken } from '../listener.js';
import { describeConnection, describeOptions, describeSentences, VoiceBench } from '../voice-bench.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';

describe('ElevenLabsTextToSpeech', () => {
  const bench = new VoiceBench<ElevenLabsEmulator, EmulateElevenLabsOptions, ElevenLabsTextToSpeechOptions>({
    variables: 'ELEVENLABS',
    emulate: emulateElevenLabs,
    type: ElevenLabsTextToSpeech,
  });
  const voice = {
    vendor: 'ElevenLabs',
    keyVariable: 'ELEVENLABS_API_KEY',
    name: 'elevenlabs/eleven_flash_v2_5',
    refused: [
      [{ voice: 'x' }, /Did you mean voiceId/],
      [{ voiceId: 'Sarah Smith' }, /voiceId/],
      [{ voiceSettings: { stabilty: 1 } }, /Did you mean stability/],
      [{ voiceSettings: { speed: 3 } }, /speed/],
      [{ voiceSettings: { useSpeakerBoost: 1 } }, /useSpeakerBoost/],
    ],
  } as const;
  describeOptions(bench, voice);
  describeConnection(bench, voice);

  it('connects when a call opens, with what a telephone needs', async () => {
    await bench.start({
      language: 'en-GB',
      provider: { voiceId: 'voice1', voiceSettings: { speed: 1.1, similarityBoost: 0.75 } },
    });
    await soon(() => expect(bench.emulator.connections[0]?.messages).toHaveLength(1));
    const [request] = bench.emulator.requests;
    expect(request?.url.pathname).toBe('/v1/text-to-speech/voice1/multi-stream-input');
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      model_id: 'eleven_flash_v2_5',
      output_format: 'pcm_16000',
      inactivity_timeout: '180',
      sync_alignment: 'true',
      auto_mode: 'true',
      language_code: 'en',
    });
    expect(request?.headers['xi-api-key']).toBe('test-key');
    expect(bench.emulator.connections[0]?.messages[0]).toMatchObject({
      voice_settings: { speed: 1.1, similarity_boost: 0.75 },
    });
  });

  it('does not tell a language to a model that cannot be told', async () => {
    await bench.start({ language: 'de', provider: { model: 'eleven_multilingual_v2' } });
    await soon(() => expect(bench.emulator.requests).toHaveLength(1));
    expect(bench.emulator.requests[0]?.url.searchParams.has('language_code')).toBe(false);
  });

  describeSentences(bench, {
    ways: [
      ['with empty messages', { emptyMessages: true }, {}],
      ['without alignment', { withoutAlignment: true }, {}],
    ],
    said: ({ connections: [first] }) => [...(first?.texts.values() ?? [])],
    check({ connections: [first] }) {
      expect(first).toMatchObject({ openContexts: 1, mostContexts: 2 });
    },
  });

  it.each(['', '   '])('says nothing for %j', async (text) => {
    const { session } = await bench.start();
    expect(await collect(session.synthesize(text, never))).toEqual([]);
  });

  it('keeps within five contexts when one sentence after the other is cut off', async () => {
    const { clock, session } = await bench.start({ emulator: { firstAudioMs: 100, chunkEveryMs: 50 } });
    for (let count = 0; count < 12; count += 1) {
      const abort = new AbortController();
      const reading = collect(session.synthesize(`This is sentence number ${count}.`, abort.signal));
      await passUntil(clock, 100, () => {
        expect(bench.emulator.connections[0]?.texts.size).toBe(count + 1);
      });
      abort.abort();
      await reading;
    }
    expect(bench.emulator.connections).toHaveLength(1);
    expect(bench.emulator.connections[0]?.mostContexts).toBeLessThanOrEqual(5);
    expect(bench.emulator.violations).toEqual([]);
  });

  it('stays connected through a long silence, and speaks after it', async () => {
    const { clock, session } = await bench.start();
    await soon(() => expect(bench.emulator.openSockets).toBe(1));
    await pass(clock, 400_000);
    expect(bench.emulator.connections).toHaveLength(1);
    expect(await collect(session.synthesize('Still here.', never))).toEqual(spoken('Still here.'));
    expect(bench.emulator.violations).toEqual([]);
  });

  it('comes back after the vendor has closed an idle socket', async () => {
    const { clock, session } = await bench.start();
    await soon(() => expect(bench.emulator.openSockets).toBe(1));
    await pass(clock, 5000);
    bench.emulator.disconnectAll(1008, 'input_timeout_exceeded');
    await passUntil(clock, 10, () => {
      expect(bench.emulator.connections).toHaveLength(2);
    });
    expect(await collect(session.synthesize('Here again.', never))).toEqual(spoken('Here again.'));
  });

  it('goes on with the rest of a sentence when the connection breaks in it', async () => {
    const { clock, session } = await bench.start({ emulator: { chunkEveryMs: 100 } });
    const text = 'This is a sentence that is long enough to break.';
    const reading = collect(session.synthesize(text, never));
    await soon(() => expect(bench.emulator.connections[0]?.texts.size).toBe(1));
    await pass(clock, 1000);
    bench.emulator.disconnectAll();
    await passUntil(clock, 100, () => {
      expect(bench.emulator.connections[1]?.texts.size).toBe(1);
    });
    const rest = [...(bench.emulator.connections[1]?.texts.values() ?? [])][0] ?? '';
    expect(text.endsWith(rest)).toBe(true);
    expect(rest.length).toBeLessThan(text.length);
    await passUntil(clock, 100, () => {
      expect(bench.emulator.connections[1]?.openContexts).toBe(1);
    });
    const samples = await reading;
    // Not a word twice, and at most the broken one missing.
    expect(samples.length).toBeLessThanOrEqual(spoken(text).length);
    expect(samples.length).toBeGreaterThan(spoken(text).length - 12 * 960);
  });

  it('closes the socket at the end of the call', async () => {
    const { session } = await bench.start();
    await soon(() => expect(bench.emulator.connections[0]?.messages).toHaveLength(1));
    session.close();
    await soon(() => expect(bench.emulator.openSockets).toBe(0));
    expect(bench.emulator.connections[0]?.messages.at(-1)).toEqual({ close_socket: true });
  });
});
