// The official client of Cartesia against the emulated voice. Its socket speaks wss alone.
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CartesiaEmulator, emulateCartesia } from '../../../src/testing/index.js';
import type { Message } from './streams.js';

/** Its ES modules do not find the socket library. */
const require = createRequire(import.meta.url);
const { Cartesia } = require('@cartesia/cartesia-js') as typeof import('@cartesia/cartesia-js');
const { TTSWS } =
  require('@cartesia/cartesia-js/resources/tts/ws') as typeof import('@cartesia/cartesia-js/resources/tts/ws');

const VOICE = {
  model_id: 'sonic-3.5',
  voice: { mode: 'id', id: 'a0e99841-438c-4a64-b679-ae501e7d6091' },
  output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
} as const;

let emulator: CartesiaEmulator;
beforeEach(async () => {
  emulator = await emulateCartesia({ tls: true });
});
afterEach(() => emulator.close());

async function connect() {
  const client = new Cartesia({ apiKey: 'test-key', baseURL: emulator.url });
  const socket = await client.tts.websocket({ rejectUnauthorized: false });
  const errors: Message[] = [];
  socket.on('error', ({ error }) => void errors.push({ ...error }));
  return { socket, errors };
}

describe('the official client of Cartesia', () => {
  it('speaks in two parts, with the times of the words', async () => {
    const { socket, errors } = await connect();
    const context = socket.context({
      ...VOICE,
      language: 'en',
      add_timestamps: true,
      max_buffer_delay_ms: 0,
    });
    await context.push({ transcript: 'Friday at three ' });
    await context.flush();
    await context.push({ transcript: 'is free.' });
    await context.no_more_inputs();
    let bytes = 0;
    const words: string[] = [];
    const types = new Set<string>();
    for await (const event of context.receive({ timeout: 5000 })) {
      types.add(event.type);
      if (event.type === 'chunk') bytes += Buffer.from(event.data, 'base64').length;
      if (event.type === 'timestamps') words.push(...(event.word_timestamps?.words ?? []));
    }
    expect([...types].sort()).toEqual(['chunk', 'done', 'flush_done', 'timestamps']);
    expect(words).toEqual(['Friday', 'at', 'three', 'is', 'free.']);
    expect(bytes).toBeGreaterThan(1000);
    expect([...(emulator.connections[0]?.texts.values() ?? [])]).toEqual(['Friday at three is free.']);
    expect([errors, emulator.violations]).toEqual([[], []]);
    socket.close();
    await expect.poll(() => emulator.openSockets).toBe(0);
  });

  it('cancels, and is told what is wrong', async () => {
    const { socket, errors } = await connect();
    const context = socket.context(VOICE);
    await context.push({ transcript: 'Nobody wants to hear this.' });
    await context.cancel();
    await expect.poll(() => emulator.connections[0]?.messages.at(-1)).toMatchObject({ cancel: true });
    const other = socket.context({ ...VOICE, voice: { mode: 'id', id: 'no-such-voice' } });
    await other.push({ transcript: 'Hello.' });
    const receiving = async () => {
      for await (const event of other.receive({ timeout: 5000 })) expect(event.type).toBe('error');
    };
    await expect(receiving()).rejects.toThrow('A sentence of the vendor');
    expect(errors).toMatchObject([{ status_code: 404, error_code: 'voice_not_found' }]);
    socket.close();
  });

  it('is refused with a wrong key', async () => {
    const client = new Cartesia({ apiKey: 'wrong', baseURL: emulator.url });
    const socket = new TTSWS(client, { rejectUnauthorized: false });
    const told = new Promise<Error>((resolve) => socket.on('error', resolve));
    await expect(socket.connect()).rejects.toThrow(/401/);
    expect((await told).message).toContain('401');
  });
});
