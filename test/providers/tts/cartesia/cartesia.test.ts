import { describe, expect, it } from 'vitest';
import {
  CartesiaTextToSpeech,
  type CartesiaTextToSpeechOptions,
} from '../../../../src/providers/tts/index.js';
import {
  type CartesiaEmulator,
  emulateCartesia,
  type EmulateCartesiaOptions,
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

describe('CartesiaTextToSpeech', () => {
  const bench = new VoiceBench<CartesiaEmulator, EmulateCartesiaOptions, CartesiaTextToSpeechOptions>({
    variables: 'CARTESIA',
    emulate: emulateCartesia,
    type: CartesiaTextToSpeech,
  });
  const voice = {
    vendor: 'Cartesia',
    keyVariable: 'CARTESIA_API_KEY',
    name: 'cartesia/sonic-3.5',
    refused: [
      [{ voice: 'x' }, /Did you mean voiceId/],
      [{ voiceId: 'Some Body' }, /voiceId/],
      [{ speed: 3 }, /speed/],
      [{ baseUrl: 'nowhere' }, /base URL/],
    ],
  } as const;
  describeOptions(bench, voice);
  describeConnection(bench, voice);

  it('asks for what a telephone needs, with key and address of the environment', async () => {
    const session = await bench.startByEnvironment({ voiceId: 'voice1', speed: 1.2 }, { language: 'de-AT' });
    await collect(session.synthesize('Guten Tag.', never));
    expect(bench.emulator.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer test-key',
      'cartesia-version': '2026-08-14',
    });
    expect(bench.emulator.connections[0]?.messages).toEqual([
      {
        model_id: 'sonic-3.5',
        voice: { mode: 'id', id: 'voice1' },
        language: 'de',
        output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
        max_buffer_delay_ms: 0,
        add_timestamps: true,
        generation_config: { speed: 1.2 },
        context_id: 's1',
        transcript: 'Guten Tag.',
        continue: false,
      },
    ]);
  });

  describeSentences(bench, {
    ways: [['without timestamps', { withoutTimestamps: true }, {}]],
    said: ({ connections: [first] }) => [...(first?.texts.values() ?? [])],
  });

  itKeepsLateAudioOut(bench, ({ connections: [first] }) => {
    expect(first?.messages[1]).toEqual({ context_id: 's1', cancel: true });
  });

  it('goes on with the rest of a sentence when the connection breaks in it', async () => {
    const { clock, session } = await bench.start({ emulator: { chunkEveryMs: 100 } });
    const text = 'This is a sentence, that is long enough to break.';
    const reading = listen(session, text);
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(16_000);
    });
    bench.emulator.disconnectAll();
    await passUntil(clock, 100, () => {
      expect(reading.over).toBe(true);
    });
    const rest = [...(bench.emulator.connections[1]?.texts.values() ?? [])][0] ?? '';
    expect(text.endsWith(rest)).toBe(true);
    expect(rest).toMatch(/^\w/);
    expect(rest.length).toBeLessThan(text.length);
    expect(reading.samples.length).toBeLessThanOrEqual(spoken(text).length);
    expect(reading.samples.length).toBeGreaterThan(spoken(text).length - 12 * 960);
  });

  it('comes back after the vendor has closed an idle socket', async () => {
    const { clock, session } = await bench.start();
    await collect(session.synthesize('Hello.', never));
    // Nothing that the protocol knows keeps it open.
    await pass(clock, 310_000);
    const reading = listen(session, 'Here again.');
    await passUntil(clock, 10, () => {
      expect(reading.over).toBe(true);
    });
    expect(reading.samples).toEqual(spoken('Here again.'));
    expect(bench.emulator.connections.length).toBeGreaterThan(1);
  });

  it('takes a sentence as said whose end is not told', async () => {
    const { clock, session } = await bench.start({ emulator: { withoutDone: true } });
    const reading = listen(session, 'One.');
    await soon(() => expect(reading.samples).toEqual(spoken('One.')));
    clock.advance(3000);
    await soon(() => expect(reading).toMatchObject({ over: true, error: undefined }));
  });

  it.each([
    [
      { voiceId: 'no-such-voice' },
      'Cartesia knows no such address, model, voice or agent (HTTP 404, voice_not_found).',
    ],
    [{ model: 'no-such-model' }, 'Cartesia refused the request (HTTP 400, model_not_found).'],
  ])('says what is wrong with %j, once', async (provider, message) => {
    const { session } = await bench.start({ provider });
    await expect(collect(session.synthesize('Hello.', never))).rejects.toMatchObject({
      message,
      retryable: false,
    });
    expect(bench.emulator.violations).toHaveLength(1);
  });

  it('waits a moment when too much is generated at a time, once', async () => {
    const { clock, session } = await bench.start({ emulator: { maxGenerating: 0 } });
    const reading = listen(session, 'Hello.');
    await passUntil(clock, 20, () => {
      expect(reading.error).toMatchObject({
        message: 'Cartesia is asked for too much at a time (HTTP 429, concurrency_limited).',
        status: 429,
        retryable: true,
      });
    });
    expect(bench.emulator.connections[0]?.messages).toHaveLength(2);
  });
});
