// What an emulator can be told to break at one moment, as its client sees it.
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import {
  emulateChatCompletions,
  emulateDeepgram,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
  type DeepgramEmulator,
} from '../../../src/testing/index.js';
import { mixUp } from '../../../src/testing/emulators/foreign-fields.js';
import { troubleAnswer } from '../../../src/testing/emulators/socket-trouble.js';
import { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { soon } from '../../support/soon.js';

/** What came over a socket, and how it ended. */
interface Seen {
  readonly messages: (string | Buffer)[];
  end: string | undefined;
}

async function open(emulator: DeepgramEmulator, options: { maxPayload?: number } = {}): Promise<Seen> {
  const url = `${emulator.url.replace('http', 'ws')}/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000`;
  const socket = new WebSocket(url, { headers: { authorization: 'Token test-key' }, ...options });
  onTestFinished(() => socket.terminate());
  const seen: Seen = { messages: [], end: undefined };
  let isOpen = false;
  socket.on('open', () => {
    isOpen = true;
  });
  socket.on('message', (data, isBinary) => seen.messages.push(isBinary ? (data as Buffer) : String(data)));
  socket.on('error', (error) => {
    seen.end ??= error.message;
  });
  socket.on('close', (code) => {
    seen.end ??= String(code);
  });
  await soon(() => expect(isOpen || seen.end).toBeTruthy());
  return seen;
}

const ears = async () => closedAfterTest(await emulateDeepgram());

async function ask(url: string): Promise<{ text: string; end: string }> {
  let text = '';
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key' },
      body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString('latin1');
    return { text, end: 'over' };
  } catch {
    return { text, end: 'cut' };
  }
}

describe('a socket of an emulator', () => {
  it.each([1000, 1001, 1005, 1006, 1008, 1011, 1012, 1013, 4000, 4999])('is closed with %i', async (code) => {
    const emulator = await ears();
    const seen = await open(emulator);
    emulator.break(code);
    await soon(() => expect(seen.end).toBe(String(code)));
  });

  it('is cut, alone among others', async () => {
    const emulator = await ears();
    const [first, second] = [await open(emulator), await open(emulator)];
    emulator.break('reset', { socket: 1 });
    await soon(() => expect(second.end).toBe('1006'));
    expect([first.end, emulator.openSockets]).toEqual([undefined, 1]);
  });

  it('is sent what nobody can read, and stays open', async () => {
    const emulator = await ears();
    const seen = await open(emulator);
    emulator.break('garbage');
    emulator.break('binary-garbage');
    emulator.break({ send: { type: 'Error' } });
    await soon(() => expect(seen.messages).toHaveLength(3));
    expect(() => JSON.parse(String(seen.messages[0]))).toThrow();
    expect(seen.messages[1]).toBeInstanceOf(Buffer);
    expect(seen.messages[2]).toBe('{"type":"Error"}');
    expect(seen.end).toBeUndefined();
  });

  it('is sent a message that is longer than a client takes', async () => {
    const emulator = await ears();
    const seen = await open(emulator, { maxPayload: 16 * 1024 * 1024 });
    emulator.break('oversized');
    await soon(() => expect(seen.end).toContain('Max payload'));
  });

  it('says nothing any more when it is frozen', async () => {
    const emulator = await ears();
    const seen = await open(emulator);
    emulator.break('freeze');
    emulator.sendAll('{}');
    await untilQuiet();
    expect(seen).toEqual({ messages: [], end: undefined });
  });

  it('is not answered, or reset, before it is one', async () => {
    const emulator = await ears();
    emulator.ignoreNext();
    const silent = connect(Number(new URL(emulator.url).port), '127.0.0.1');
    onTestFinished(() => void silent.destroy());
    let heard = '';
    silent.on('data', (bytes) => {
      heard += bytes.toString();
    });
    silent.write(
      'GET /v1/listen HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await untilQuiet();
    expect([heard, silent.destroyed, emulator.requests.length]).toEqual(['', false, 0]);
    emulator.resetNext();
    expect((await open(emulator)).end).toMatch(/ECONNRESET|hang up/);
    expect((await open(emulator)).end).toBeUndefined();
  });
});

describe('an answer that is being streamed', () => {
  it.each([
    ['reset', 'cut'],
    ['garbage', 'over'],
    ['binary-garbage', 'over'],
    ['oversized', 'over'],
    [1011, 'over'],
  ] as const)('is broken by %s', async (trouble, end) => {
    const clock = new FakeClock();
    const replies = () => ({ text: '1 2 3 4 5', tokenMs: 40 });
    const emulator = closedAfterTest(await emulateChatCompletions({ clock, replies }));
    const asked = ask(emulator.url);
    await soon(() => expect(emulator.exchanges).toHaveLength(1));
    await clock.advanceAsync(60);
    await untilQuiet();
    emulator.break(trouble);
    await clock.advanceAsync(1000);
    const answer = await asked;
    expect(answer.end).toBe(end);
    expect(answer.text.includes('[DONE]')).toBe(typeof trouble === 'string' && end === 'over');
  });
});

it('an answer that is ended in the middle is not written to any more', async () => {
  const clock = new FakeClock();
  const emulator = closedAfterTest(await emulateOpenAISpeech({ clock, firstAudioMs: 1000 }));
  const answer = fetch(`${emulator.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-key' },
    body: JSON.stringify({
      model: 'm',
      voice: 'v',
      input: 'A long one. '.repeat(20),
      response_format: 'pcm',
    }),
  });
  await soon(() => expect(emulator.exchanges).toHaveLength(1));
  emulator.break(1011);
  clock.advance(1000);
  expect((await (await answer).arrayBuffer()).byteLength).toBe(0);
  // What is written after the end is an error of the process.
  await untilQuiet();
});

it('an answer that has ended, and was not taken yet, is left alone', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const errors: Error[] = [];
  response.on('error', (error) => errors.push(error));
  response.end();
  for (const trouble of ['garbage', 'binary-garbage', 'oversized', { send: 'x' }] as const)
    troubleAnswer(response, trouble);
  return new Promise<void>((done) => setImmediate(done)).then(() => expect(errors).toEqual([]));
});

describe('messages that are mixed up', () => {
  it('have the ids of another call', () => {
    const message = '{"type":"x","context_id":"s1","response":{"id":"r"},"itemId":"i","paid":"no"}';
    expect(JSON.parse(String(mixUp(message, { foreignIds: true })))).toEqual({
      type: 'x',
      context_id: 's1-of-another-call',
      response: { id: 'r-of-another-call' },
      itemId: 'i-of-another-call',
      paid: 'no',
    });
  });

  it('say nothing of what was used, in events as well', () => {
    expect(mixUp('data: {"a":1,"usage":{"b":2}}\n\n', { withoutUsage: true })).toBe('data: {"a":1}\n\n');
    expect(mixUp('data: [DONE]\n\n', { withoutUsage: true })).toBe('data: [DONE]\n\n');
  });

  it('are left alone where they are no text', () => {
    const audio = Buffer.from([0xff, 0xfe, 0x7b, 0x7d]);
    expect(mixUp(audio, { foreignIds: true, withoutUsage: true })).toBe(audio);
  });

  it('come from an emulator that is told so', async () => {
    const emulator = closedAfterTest(await emulateOpenAIRealtime());
    emulator.troubles = { foreignIds: true };
    const socket = new WebSocket(`${emulator.url.replace('http', 'ws')}/v1/realtime?model=m`, {
      headers: { authorization: 'Bearer test-key' },
    });
    onTestFinished(() => socket.terminate());
    let first = '';
    socket.once('message', (data) => {
      first = String(data);
    });
    await soon(() => expect(first).toContain('-of-another-call'));
  });
});
