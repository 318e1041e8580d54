import { describe, expect, it } from 'vitest';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import {
  emulateOpenAIRealtime,
  type EmulateOpenAIRealtimeOptions,
  type OpenAIRealtimeEmulator,
  readTones,
} from '../../../src/testing/index.js';
import { speakInTones } from '../../../src/testing/tone-voice.js';
import { FakeClock } from '../../support/fake-clock.js';
import { openRaw } from './raw-socket.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

const KEY = { authorization: 'Bearer test-key' };
const MODEL = '?model=gpt-realtime-2.1';
const UPDATE = { type: 'session.update', session: { type: 'realtime' } };

const start = async (options: EmulateOpenAIRealtimeOptions = {}) =>
  closedAfterTest(await emulateOpenAIRealtime(options));

async function connect(
  emulator: OpenAIRealtimeEmulator,
  query = MODEL,
  headers: Record<string, string> = KEY,
) {
  const socket = await openRaw(`${emulator.url}/v1/realtime${query}`, headers);
  return Object.assign(socket, {
    say: (event: object) => socket.send(JSON.stringify(event)),
    types: () => socket.messages.map(({ type }) => String(type)),
    errors: () =>
      socket.messages.flatMap(({ type, error }) =>
        type === 'error' ? [(error as { code: string }).code] : [],
      ),
  });
}

/** 24 kHz PCM as base64. */
function sound(durationMs: number, silenceMs = 0): string {
  const speech = makeEmulatedSpeech({ durationMs, sampleRateHz: 24_000 });
  const samples = new Int16Array(speech.length + silenceMs * 24);
  samples.set(speech);
  return Buffer.from(samples.buffer).toString('base64');
}

describe('emulateOpenAIRealtime', () => {
  it.each([
    [MODEL, { authorization: 'Bearer wrong' }, '401'],
    [MODEL, {}, '401'],
    ['', KEY, '400'],
    ['?model=no-such-model', KEY, '404'],
    [MODEL, { ...KEY, 'openai-beta': 'realtime=v1' }, '400'],
  ])('answers %s %j as the vendor would', async (query, headers, expected) => {
    const socket = await connect(await start(), query, headers as Record<string, string>);
    expect(socket.end()).toMatch(new RegExp(`^${expected}`));
  });

  it.each<[string, object, string]>([
    ['an unknown event', { type: 'output_audio_buffer.clear' }, 'invalid_value'],
    ['an unknown field', { type: 'response.create', voice: 'marin' }, 'unknown_parameter'],
    ['a session without its type', { type: 'session.update', session: {} }, 'missing_required_parameter'],
    [
      'a field of the removed dialect',
      { type: 'session.update', session: { type: 'realtime', input_audio_format: 'g711_ulaw' } },
      'unknown_parameter',
    ],
    [
      'a rate that is not offered',
      {
        type: 'session.update',
        session: { type: 'realtime', audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } },
      },
      'invalid_value',
    ],
    ['audio that is not base64', { type: 'input_audio_buffer.append', audio: '*' }, 'invalid_value'],
    ['half a sample', { type: 'input_audio_buffer.append', audio: 'AAAA' }, 'invalid_value'],
    ['an item with the wrong kind of text', assistant('input_text'), 'invalid_value'],
    [
      'a result that nobody asked for',
      {
        type: 'conversation.item.create',
        item: { type: 'function_call_output', call_id: 'c1', output: '1' },
      },
      'invalid_tool_call_id',
    ],
    ['a cut of nothing', truncate('item_x', 10), 'item_truncate_invalid_item_id'],
  ])('complains of %s, and stays open', async (_, event, code) => {
    const emulator = await start();
    const socket = await connect(emulator);
    socket.say(UPDATE);
    socket.say(event);
    await soon(() => expect(socket.errors()).toEqual([code]));
    expect(emulator.violations).toHaveLength(1);
    expect(socket.end()).toBeUndefined();
  });

  it('complains of audio before the settings, and of a text that is not JSON', async () => {
    const emulator = await start();
    const socket = await connect(emulator);
    socket.say({ type: 'input_audio_buffer.append', audio: sound(20) });
    socket.send('hello');
    await soon(() => expect(emulator.violations).toHaveLength(2));
  });

  it('hears a turn, answers it, and tells what that cost', async () => {
    const socket = await connect(await start({ utterances: ['One two.'], replies: [{ text: 'Three.' }] }));
    const transcription = { model: 'gpt-transcribe' };
    socket.say({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription } } },
    });
    socket.say({ type: 'input_audio_buffer.append', audio: sound(600, 600) });
    await soon(() => expect(socket.types()).toContain('response.done'));
    const order = socket.types().filter((type) => !/delta|output_item|item\.added|rate_limits/.test(type));
    expect(order).toEqual([
      'session.created',
      'session.updated',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.done',
    ]);
    const { response } = socket.messages.at(-2) as { response: { usage: { input_tokens: number } } };
    expect(response.usage.input_tokens).toBe(112);
  });

  it('hears the words of a tone voice where it is told none', async () => {
    const socket = await connect(await start());
    socket.say({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription: { model: 'gpt-transcribe' } } } },
    });
    const tones = speakInTones('Two rolls', { sampleRateHz: 24_000 });
    socket.say({
      type: 'input_audio_buffer.append',
      audio: Buffer.from(tones.buffer).toString('base64'),
    });
    socket.say({ type: 'input_audio_buffer.append', audio: sound(0, 600) });
    await soon(() =>
      expect(socket.messages).toContainEqual(expect.objectContaining({ transcript: 'two rolls' })),
    );
  });

  it.each(['greeting', 'answer'])(
    'speaks its %s in tones that can be read back where it is told so',
    async (what) => {
      const text = 'Fresh rolls at nine';
      const socket = await connect(await start({ voice: 'tones', replies: [{ text }] }));
      socket.say(UPDATE);
      socket.say({
        type: 'response.create',
        ...(what === 'greeting' ? { response: { instructions: `Say this: "${text}"` } } : {}),
      });
      await soon(() => expect(socket.types()).toContain('response.done'));
      const audio = socket.messages.flatMap(({ type, delta }) =>
        type === 'response.output_audio.delta' ? [Buffer.from(String(delta), 'base64')] : [],
      );
      const { buffer } = Uint8Array.from(Buffer.concat(audio));
      const heard = readTones(new Int16Array(buffer), { sampleRateHz: 24_000 });
      expect(heard.map((word) => word.text)).toEqual(['fresh', 'rolls', 'at', 'nine']);
    },
  );

  it('stops when the caller speaks, sends what was on the way, and lets the answer be cut', async () => {
    const emulator = await start({ replies: [{ text: 'A long answer that is stopped.', chunkEveryMs: 50 }] });
    const socket = await connect(emulator);
    socket.say(UPDATE);
    socket.say({ type: 'response.create' });
    await soon(() => expect(socket.types()).toContain('response.output_audio.delta'));
    socket.say({ type: 'response.create' });
    socket.say({ type: 'input_audio_buffer.append', audio: sound(100) });
    await soon(() => expect(socket.types()).toContain('response.done'));
    const done = socket.messages.find(({ type }) => type === 'response.done');
    expect(done?.response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    await soon(() => expect(socket.types().at(-1)).toBe('response.output_audio.delta'));
    const item = emulator.connections[0]?.items.at(-1);
    socket.say(truncate(item?.id, (item?.audioMs ?? 0) + 1));
    socket.say(truncate(item?.id, 50));
    socket.say({ type: 'response.cancel' });
    await soon(() =>
      expect(socket.errors()).toEqual([
        'conversation_already_has_active_response',
        'invalid_value',
        'response_cancel_not_active',
      ]),
    );
    expect(emulator.connections[0]?.items.at(-1)).toMatchObject({ isTruncated: true, audioMs: 50, text: '' });
  });

  it('ends a session that has become too long', async () => {
    const clock = new FakeClock();
    const socket = await connect(await start({ clock, sessionMs: 1000 }));
    await soon(() => expect(clock.pending).toBe(1));
    clock.advance(1000);
    await soon(() => expect(socket.end()).toBe('1001 session expired'));
    expect(socket.errors()).toEqual(['session_expired']);
  });
});

function assistant(type: string): object {
  const item = { type: 'message', role: 'assistant', content: [{ type, text: 'Hello' }] };
  return { type: 'conversation.item.create', item };
}

function truncate(id: string | undefined, endMs: number): object {
  return { type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: endMs };
}
