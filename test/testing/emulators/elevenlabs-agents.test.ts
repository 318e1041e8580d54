import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { emulateElevenLabsAgents, type EmulateElevenLabsAgentsOptions } from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { eventually } from '../../support/carrier-phone.js';

type Message = Record<string, unknown>;

const PATH = '/v1/convai/conversation';
const INITIATION = { type: 'conversation_initiation_client_data' };

async function converse(options: EmulateElevenLabsAgentsOptions = {}) {
  const emulator = await emulateElevenLabsAgents(options);
  const socket = new WebSocket(`${emulator.url.replace('http', 'ws')}${PATH}?agent_id=agent-1`);
  const messages: Message[] = [];
  const closes: { code: number; reason: string }[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Message));
  socket.on('close', (code, reason) => closes.push({ code, reason: String(reason) }));
  await new Promise((resolve) => socket.once('open', resolve));
  return {
    emulator,
    messages,
    closes,
    say: (message: object | string | Buffer) =>
      socket.send(
        typeof message === 'object' && !Buffer.isBuffer(message) ? JSON.stringify(message) : message,
      ),
    types: () => messages.map(({ type }) => type),
    until: (type: string) => eventually(type, () => messages.find((message) => message.type === type)),
    closed: () => eventually('the end', () => closes[0]),
    async [Symbol.asyncDispose]() {
      socket.terminate();
      await emulator.close();
    },
  };
}

describe('an emulated agent', () => {
  it('tells the formats, greets, and marks what the caller has heard when they interrupt', async () => {
    await using scene = await converse({ firstMessage: 'Hello to everybody.', replies: [{ text: 'Yes.' }] });
    scene.say(INITIATION);
    await scene.until('audio');
    expect(scene.messages[0]).toEqual({
      type: 'conversation_initiation_metadata',
      conversation_initiation_metadata_event: {
        conversation_id: 'conv_1',
        agent_output_audio_format: 'ulaw_8000',
        user_input_audio_format: 'ulaw_8000',
      },
    });
    scene.say({ type: 'user_message', text: 'Wait' });
    const { agent_response_correction_event: event } = await scene.until('agent_response_correction');
    const { original_agent_response: whole, corrected_agent_response: heard } = event as Record<
      string,
      string
    >;
    expect(whole).toBe('Hello to everybody.');
    expect(whole?.startsWith(String(heard))).toBe(true);
    const last = scene.messages.find(({ type }) => type === 'interruption')?.interruption_event as {
      event_id: number;
    };
    const before = scene.messages.filter(
      ({ type, audio_event: audio }) =>
        type === 'audio' && (audio as { event_id: number }).event_id <= last.event_id,
    );
    expect(before.length).toBeGreaterThan(0);
    await scene.until('agent_response_complete');
    expect(scene.emulator.connections[0]?.items).toMatchObject([
      { role: 'assistant', text: heard, isTruncated: true },
      { role: 'user', text: 'Wait' },
      { role: 'assistant', text: 'Yes.' },
    ]);
    expect(scene.emulator.violations).toEqual([]);
  });

  it.each<[string, EmulateElevenLabsAgentsOptions, readonly (object | string | Buffer)[], string]>([
    ['a message before the first', {}, [{ type: 'user_activity' }], 'has not begun'],
    ['audio before the first', {}, [{ user_audio_chunk: 'AAAA' }], 'Audio before'],
    ['a second beginning', {}, [INITIATION, INITIATION], 'begun already'],
    ['an unknown field', {}, [{ ...INITIATION, prompt: 'x' }], 'Unknown field prompt.'],
    [
      'an unknown message',
      {},
      [INITIATION, { type: 'response.create' }],
      'Unknown message type response.create.',
    ],
    [
      'a result without its error',
      {},
      [INITIATION, { type: 'client_tool_result', tool_call_id: 'a', result: 'b' }],
      'needs is_error',
    ],
    [
      'a field that a message has not',
      {},
      [INITIATION, { type: 'pong', event_id: 1, at: 2 }],
      'Unknown field at of pong.',
    ],
    [
      'half a sample',
      { inputFormat: 'pcm_16000' },
      [INITIATION, { user_audio_chunk: Buffer.alloc(3).toString('base64') }],
      'Audio cannot be read.',
    ],
    ['what is not base64', {}, [INITIATION, { user_audio_chunk: '!' }], 'Audio cannot be read.'],
    ['what is not JSON', {}, ['hello'], 'parse'],
    ['a binary message', {}, [Buffer.from('{}')], 'Binary'],
    [
      'a variable that is missing',
      { variables: ['shop'] },
      [INITIATION],
      'Missing required dynamic variables: shop',
    ],
  ])('ends a conversation for %s', async (_, options, messages, sentence) => {
    await using scene = await converse(options);
    for (const message of messages) scene.say(message);
    expect(await scene.closed()).toEqual({ code: 1008, reason: expect.stringContaining(sentence) });
    expect(scene.types()).toContain('error');
    expect(scene.emulator.violations).toEqual([expect.stringContaining(sentence)]);
  });

  it.each([
    ['first_message', { agent: { first_message: 'Hi' } }],
    ['prompt', { agent: { prompt: { prompt: 'You bake.' } } }],
    ['language', { agent: { language: 'de' } }],
    ['voice_id', { tts: { voice_id: 'x' } }],
  ])('ends a conversation that replaces %s, where that is not allowed', async (field, override) => {
    await using scene = await converse({ allowedOverrides: [] });
    scene.say({ ...INITIATION, conversation_config_override: override });
    const reason = `Override for field '${field}' is not allowed by config.`;
    expect(await scene.closed()).toEqual({ code: 1008, reason });
  });

  it('ends a conversation whose pings are not answered, and complains about a pong to nothing', async () => {
    const clock = new FakeClock();
    await using scene = await converse({ clock, pongWithinMs: 1000 });
    scene.say(INITIATION);
    const { ping_event: ping } = await scene.until('ping');
    scene.say({ type: 'pong', event_id: 99 });
    scene.say({ type: 'pong', event_id: (ping as { event_id: number }).event_id });
    await eventually('the complaint', () => scene.emulator.violations[0]);
    clock.advance(1999);
    expect(scene.closes).toEqual([]);
    clock.advance(1001);
    expect(await scene.closed()).toMatchObject({ code: 1002 });
    expect(scene.emulator.violations).toEqual([
      'a pong to 99, which was no ping',
      'A ping was not answered in time.',
    ]);
  });

  it('goes on when its tools have their results, and complains about others', async () => {
    const toolCalls = [{ id: 'c1', name: 'look_up', arguments: '{"what":"price"}' }];
    await using scene = await converse({ replies: [{ text: 'One moment.', toolCalls }, { text: 'Ten.' }] });
    scene.say(INITIATION);
    scene.say({ type: 'user_message', text: 'What does it cost?' });
    const { client_tool_call: call } = await scene.until('client_tool_call');
    expect(call).toMatchObject({ tool_name: 'look_up', tool_call_id: 'c1', parameters: { what: 'price' } });
    for (const id of ['c2', 'c1'])
      scene.say({ type: 'client_tool_result', tool_call_id: id, result: '10', is_error: false });
    await eventually('the answer', () =>
      scene.emulator.connections[0]?.items.find(({ text }) => text === 'Ten.'),
    );
    expect(scene.emulator.violations).toEqual(['a result of c2, which the agent does not wait for']);
  });
});

describe('a private agent', () => {
  const handshake = (address: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(address);
      socket.on('open', () => {
        socket.close();
        resolve(101);
      });
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
      socket.on('error', () => {});
    });

  it('is spoken with at an address that was signed, once and for a while', async () => {
    const clock = new FakeClock();
    await using emulator = await emulateElevenLabsAgents({ isPrivate: true, signedUrlMs: 1000, clock });
    const plain = `${emulator.url.replace('http', 'ws')}${PATH}?agent_id=agent-1`;
    const sign = async () => {
      const url = `${emulator.url}${PATH}/get-signed-url?agent_id=agent-1`;
      const answer = await fetch(url, { headers: { 'xi-api-key': 'test-key' } });
      return ((await answer.json()) as { signed_url: string }).signed_url;
    };
    const [once, late] = [await sign(), await sign()];
    expect(await handshake(plain)).toBe(403);
    expect(await handshake(once)).toBe(101);
    expect(await handshake(once)).toBe(403);
    clock.advance(1000);
    expect(await handshake(late)).toBe(403);
    expect(emulator.violations).toHaveLength(2);
  });

  it('gives addresses to nobody else, and knows no other agent', async () => {
    await using emulator = await emulateElevenLabsAgents({});
    const status = async (query: string, key = 'test-key') =>
      (await fetch(`${emulator.url}${PATH}/get-signed-url?${query}`, { headers: { 'xi-api-key': key } }))
        .status;
    expect(await status('agent_id=agent-1', 'wrong')).toBe(401);
    expect(await status('agent_id=agent-2')).toBe(404);
    expect(await handshake(`${emulator.url.replace('http', 'ws')}${PATH}?agent_id=agent-2`)).toBe(404);
  });
});
