// The official client of Deepgram against the emulated recognizer and the emulated voice.
import { DeepgramClient } from '@deepgram/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { emulateDeepgram, emulateDeepgramAura } from '../../../src/testing/index.js';
import { type Message, speechAndSilence } from './streams.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function keep<T extends { close(): unknown }>(each: T): T {
  open.push(each);
  return each;
}

const LISTEN = {
  model: 'nova-3',
  language: 'en',
  encoding: 'linear16',
  sample_rate: 16_000,
  interim_results: 'true',
  endpointing: 300,
  utterance_end_ms: 1000,
  vad_events: 'true',
  smart_format: 'true',
  reconnectAttempts: 0,
} as const;

describe("the official client of Deepgram's recognizer", () => {
  it('hears two utterances, finishes a third by hand, and closes', async () => {
    const utterances = ['Three loaves, please.', 'And a tart.', 'Good bye.'];
    const emulator = keep(await emulateDeepgram({ utterances }));
    const client = new DeepgramClient({ apiKey: 'test-key', baseUrl: emulator.url, reconnect: false });
    const socket = await client.listen.v1.connect({ ...LISTEN, Authorization: 'Token test-key' });
    const told: Message[] = [];
    let closed: number | undefined;
    socket.on('message', (message) => void told.push({ ...message }));
    socket.on('close', ({ code }) => {
      closed = code;
    });
    socket.connect();
    await socket.waitForOpen();
    const finals = () =>
      told.flatMap((each) => (each.is_final === true ? [transcriptOf(each)] : [])).filter(Boolean);
    for (const [index, pauseMs] of [1300, 1300, 100].entries()) {
      for (const chunk of speechAndSilence(700, pauseMs)) socket.sendMedia(chunk);
      if (index === 2) socket.sendFinalize({ type: 'Finalize' });
      await expect.poll(finals).toHaveLength(index + 1);
    }
    expect(finals()).toEqual(utterances);
    const types = new Set(told.map(({ type }) => type));
    expect([...types].sort()).toEqual(['Results', 'SpeechStarted', 'UtteranceEnd']);
    socket.sendKeepAlive({ type: 'KeepAlive' });
    socket.sendCloseStream({ type: 'CloseStream' });
    await expect.poll(() => closed).toBe(1000);
    expect(told.at(-1)).toMatchObject({ type: 'Metadata', channels: 1 });
    expect(emulator.connections[0]?.controls).toEqual(['Finalize', 'KeepAlive', 'CloseStream']);
    expect(emulator.violations).toEqual([]);
  });

  it('is refused with a wrong key, and with a parameter that cannot be', async () => {
    const emulator = keep(await emulateDeepgram());
    const client = new DeepgramClient({ apiKey: 'wrong', baseUrl: emulator.url, reconnect: false });
    for (const wrong of [
      { Authorization: 'Token wrong' },
      { Authorization: 'Token test-key', model: 'no-such-model' },
    ]) {
      const socket = await client.listen.v1.connect({ ...LISTEN, ...wrong });
      const failures: string[] = [];
      socket.on('error', ({ message }) => void failures.push(message));
      socket.connect();
      await expect.poll(() => failures.join()).toMatch(/401|400/);
      socket.close();
    }
    expect(emulator.connections).toEqual([]);
  });
});

describe("the official client of Deepgram's voice", () => {
  it('speaks, drops what is queued, and closes', async () => {
    const emulator = keep(await emulateDeepgramAura({ chunkEveryMs: 5 }));
    const client = new DeepgramClient({ apiKey: 'test-key', baseUrl: emulator.url, reconnect: false });
    const socket = await client.speak.v1.connect({
      model: 'aura-2-thalia-en',
      encoding: 'linear16',
      sample_rate: '16000',
      Authorization: 'Token test-key',
      reconnectAttempts: 0,
    });
    const types: string[] = [];
    let bytes = 0;
    let closed: number | undefined;
    socket.on('message', (message) => {
      // Audio comes as a blob, which the types do not say, and which has an empty `type` as well.
      if ((message as unknown) instanceof Blob) bytes += (message as unknown as Blob).size;
      else if (typeof message === 'object') types.push(String(message.type));
    });
    socket.on('close', ({ code }) => {
      closed = code;
    });
    socket.connect();
    await socket.waitForOpen();
    socket.sendText({ type: 'Speak', text: 'Good day.' });
    socket.sendFlush({ type: 'Flush' });
    await expect.poll(() => types).toEqual(['Metadata', 'Flushed']);
    expect(bytes).toBe('Good day.'.length * 60 * 32);
    socket.sendText({ type: 'Speak', text: 'This is a longer sentence, of which nothing is wanted.' });
    socket.sendFlush({ type: 'Flush' });
    socket.sendClear({ type: 'Clear' });
    await expect.poll(() => types).toEqual(['Metadata', 'Flushed', 'Cleared']);
    socket.sendClose({ type: 'Close' });
    await expect.poll(() => closed).toBe(1000);
    expect(emulator.violations).toEqual([]);
  });
});

function transcriptOf(message: Message): string {
  const { alternatives = [] } = (message.channel ?? {}) as { alternatives?: { transcript: string }[] };
  return alternatives[0]?.transcript ?? '';
}
