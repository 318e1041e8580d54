// The official client of AssemblyAI against the emulated recognizer. It speaks wss alone.
import { AssemblyAI, type StreamingTranscriber } from 'assemblyai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AssemblyAIEmulator, emulateAssemblyAI } from '../../../src/testing/index.js';
import { speechAndSilence } from './streams.js';

let emulator: AssemblyAIEmulator;
beforeEach(async () => {
  // The client has no option for a certificate.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  emulator = await emulateAssemblyAI({ tls: true, utterances: ['Three loaves, please.', 'And a tart.'] });
});
afterEach(async () => {
  await emulator.close();
  vi.unstubAllEnvs();
});

function open(apiKey = 'test-key'): StreamingTranscriber {
  return new AssemblyAI({ apiKey }).streaming.transcriber({
    websocketBaseUrl: `${emulator.url.replace('https', 'wss')}/v3/ws`,
    speechModel: 'universal-3-6-pro',
    sampleRate: 16_000,
    encoding: 'pcm_s16le',
    formatTurns: true,
    maxConnectionRetries: 0,
  });
}

async function speak(transcriber: StreamingTranscriber, pauseMs: number): Promise<void> {
  for (const chunk of speechAndSilence(700, pauseMs)) {
    transcriber.sendAudio(new Uint8Array(chunk).buffer);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('the official client of AssemblyAI', () => {
  it('hears a turn, ends another by hand, and terminates', async () => {
    const transcriber = open();
    const turns: { text: string; isEnd: boolean }[] = [];
    transcriber.on('turn', ({ transcript, end_of_turn }) =>
      turns.push({ text: transcript, isEnd: end_of_turn }),
    );
    const begun = await transcriber.connect();
    expect(begun.id).toBeTypeOf('string');
    expect(begun.expires_at * 1000).toBeGreaterThan(Date.now());
    const ends = () => turns.filter(({ isEnd }) => isEnd).map(({ text }) => text);
    await speak(transcriber, 500);
    await expect.poll(ends).toEqual(['Three loaves, please.']);
    expect(turns[0]).toEqual({ text: 'Three', isEnd: false });
    await speak(transcriber, 100);
    transcriber.forceEndpoint();
    await expect.poll(ends).toEqual(['Three loaves, please.', 'And a tart.']);
    await transcriber.close();
    expect(emulator.connections[0]?.controls.at(-1)).toBe('Terminate');
    expect(emulator.violations).toEqual([]);
  });

  it('is refused with a wrong key', async () => {
    await expect(open('wrong').connect()).rejects.toMatchObject({ code: 4001 });
  });
});
