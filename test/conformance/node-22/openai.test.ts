// The official client of OpenAI against the emulated vendor. Its realtime socket speaks wss alone.
import OpenAI, { AuthenticationError, toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterEach, describe, expect, it } from 'vitest';
import {
  emulateChatCompletions,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
  emulateOpenAITranscription,
  type Emulator,
  writeWav,
} from '../../../src/testing/index.js';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import { speechAndSilence } from '../providers/streams.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function start<T extends Emulator>(starting: Promise<T>): Promise<{ emulator: T; client: OpenAI }> {
  const emulator = await starting;
  open.push(emulator);
  return { emulator, client: toClient(emulator) };
}

const toClient = ({ url }: Emulator, apiKey = 'test-key') =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

const SPEECH = makeEmulatedSpeech({ durationMs: 500, sampleRateHz: 16_000 });
const PARAMETERS = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const CALL = { id: 'call_7', name: 'find_slot', arguments: '{"day": "Friday"}' };

describe("the official client of OpenAI's chat", () => {
  const question = { role: 'user', content: 'Is Friday free?' } as const;
  const ask = (client: OpenAI, messages: OpenAI.ChatCompletionMessageParam[] = [question]) =>
    client.chat.completions.stream({
      model: 'gpt-6-luna',
      reasoning_effort: 'none',
      max_completion_tokens: 400,
      stream_options: { include_usage: true, include_obfuscation: false },
      messages: [{ role: 'developer', content: 'You answer for a dentist.' }, ...messages],
      tools: [{ type: 'function', function: { name: 'find_slot', parameters: PARAMETERS } }],
    });

  it('streams text, calls a tool, and goes on with its result', async () => {
    const { emulator, client } = await start(
      emulateChatCompletions({ replies: [{ text: 'Let me look.', toolCalls: [CALL] }, { text: 'At ten.' }] }),
    );
    const first = await ask(client).finalChatCompletion();
    expect(first).toMatchObject({ object: 'chat.completion', model: 'gpt-6-luna' });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.content).toBe('Let me look.');
    expect(choice?.message.tool_calls).toMatchObject([
      { id: 'call_7', type: 'function', function: { name: 'find_slot', arguments: CALL.arguments } },
    ]);
    expect(first.usage?.completion_tokens).toBeGreaterThan(0);
    const second = ask(client, [
      question,
      { role: 'assistant', content: 'Let me look.', tool_calls: choice?.message.tool_calls ?? [] },
      { role: 'tool', tool_call_id: 'call_7', content: '["10:00"]' },
    ]);
    expect(await second.finalContent()).toBe('At ten.');
    expect(emulator.violations).toEqual([]);
  });

  it('is told what is wrong with the key and with a request, and stops in the middle', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
    const { emulator, client } = await start(emulateChatCompletions({ replies: [{ text, tokenMs: 20 }] }));
    const refused = ask(toClient(emulator, 'wrong')).finalChatCompletion();
    await expect(refused).rejects.toThrow(AuthenticationError);
    await expect(refused).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await expect(
      ask(client, [{ role: 'tool', tool_call_id: 'x', content: '' }]).done(),
    ).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
    });
    const streaming = ask(client);
    await new Promise((resolve) => streaming.once('content', resolve));
    streaming.abort();
    await expect(streaming.done()).rejects.toThrow(/abort/i);
    await expect.poll(() => emulator.exchanges[0]?.aborted).toBe(true);
  });
});

describe("the official client of OpenAI's speech", () => {
  const speech = { model: 'kokoro', voice: 'af_bella', input: 'Good day.', response_format: 'pcm' } as const;

  it('speaks', async () => {
    const { emulator, client } = await start(emulateOpenAISpeech());
    const answer = await client.audio.speech.create(speech);
    expect((await answer.arrayBuffer()).byteLength).toBe('Good day.'.length * 60 * 48);
    expect(emulator.violations).toEqual([]);
  });

  it('is refused with a wrong key', async () => {
    const { emulator } = await start(emulateOpenAISpeech());
    const refused = toClient(emulator, 'wrong').audio.speech.create(speech);
    await expect(refused).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  });
});

describe("the official client of OpenAI's transcription", () => {
  const ask = async () => ({
    file: await toFile(writeWav({ channels: [SPEECH], sampleRateHz: 16_000 }), 'speech.wav'),
    model: 'gpt-transcribe',
    language: 'en',
  });

  it('gets a text whole, and word by word', async () => {
    const utterances = ['Three loaves, please.', 'And a tart.'];
    const { emulator, client } = await start(emulateOpenAITranscription({ utterances }));
    expect(await client.audio.transcriptions.create(await ask())).toEqual({ text: 'Three loaves, please.' });
    const events: string[] = [];
    for await (const event of await client.audio.transcriptions.create({ ...(await ask()), stream: true }))
      events.push(event.type === 'transcript.text.delta' ? event.delta : event.type);
    expect(events).toEqual(['And', ' a', ' tart.', 'transcript.text.done']);
    expect(emulator.violations).toEqual([]);
  });

  it('is refused with a wrong key', async () => {
    const { emulator } = await start(emulateOpenAITranscription());
    const refused = toClient(emulator, 'wrong').audio.transcriptions.create(await ask());
    await expect(refused).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  });
});

describe("the official client of OpenAI's realtime socket", () => {
  const SESSION = {
    type: 'realtime',
    output_modalities: ['audio'],
    instructions: 'You answer for a dentist.',
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: { model: 'gpt-transcribe' },
        turn_detection: { type: 'server_vad', silence_duration_ms: 500 },
      },
      output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'marin' },
    },
    tools: [{ type: 'function', name: 'find_slot', description: 'Free slots', parameters: PARAMETERS }],
  } as const;

  async function connect(starting: ReturnType<typeof emulateOpenAIRealtime>) {
    const { emulator, client } = await start(starting);
    const options = { rejectUnauthorized: false };
    const realtime = new OpenAIRealtimeWS({ model: 'gpt-realtime-2.1-mini', options }, client);
    open.push(realtime);
    const events: RealtimeServerEvent[] = [];
    const errors: (string | undefined)[] = [];
    realtime.on('event', (event) => void events.push(event));
    realtime.on('error', ({ error }) => void errors.push(error?.code ?? 'none'));
    const has = (type: string, count = 1) =>
      expect
        .poll(() => events.filter((event) => event.type === type).length, { timeout: 5000 })
        .toBeGreaterThanOrEqual(count);
    return { emulator, realtime, events, errors, has };
  }

  it('hears, speaks, calls a tool and is interrupted', async () => {
    const { emulator, realtime, events, errors, has } = await connect(
      emulateOpenAIRealtime({
        tls: true,
        utterances: ['Is Friday free?'],
        replies: [{ text: 'Let me look.', toolCalls: [CALL] }, { text: 'At ten.' }],
      }),
    );
    await has('session.created');
    realtime.send({
      type: 'session.update',
      session: { ...SESSION, output_modalities: ['audio'], tools: [...SESSION.tools] },
    });
    await has('session.updated');
    for (const chunk of speechAndSilence(700, 1000))
      realtime.send({ type: 'input_audio_buffer.append', audio: chunk.toString('base64') });
    await has('response.done');
    await has('conversation.item.input_audio_transcription.completed');
    const types = events.map(({ type }) => type);
    for (const type of [
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'response.created',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.function_call_arguments.done',
    ])
      expect(types).toContain(type);
    const done = events.find((event) => event.type === 'response.done');
    expect(done?.response.usage?.total_tokens).toBeGreaterThan(0);
    const item = { type: 'function_call_output', call_id: 'call_7', output: '["10:00"]' } as const;
    realtime.send({ type: 'conversation.item.create', item });
    realtime.send({ type: 'response.create' });
    await has('response.done', 2);
    const spoken = events.findLast((event) => event.type === 'response.output_audio_transcript.done');
    expect(spoken?.transcript).toBe('At ten.');
    realtime.send({
      type: 'conversation.item.truncate',
      item_id: spoken?.item_id ?? '',
      content_index: 0,
      audio_end_ms: 100,
    });
    await has('conversation.item.truncated');
    expect(errors).toEqual([]);
    expect(emulator.violations).toEqual([]);
    realtime.close();
    await expect.poll(() => emulator.openSockets).toBe(0);
  });

  it('is told what it did wrong, and that its key is', async () => {
    const { emulator, realtime, events, errors, has } = await connect(emulateOpenAIRealtime({ tls: true }));
    await has('session.created');
    realtime.send({ type: 'response.cancel' });
    await expect.poll(() => errors).toEqual(['response_cancel_not_active']);
    expect(events.at(-1)?.type).toBe('error');
    const options = { rejectUnauthorized: false };
    const refused = new OpenAIRealtimeWS({ model: 'gpt-realtime-2.1', options }, toClient(emulator, 'wrong'));
    const failure = await new Promise<Error>((resolve) => refused.on('error', resolve));
    expect(failure.message).toContain('401');
  });
});
