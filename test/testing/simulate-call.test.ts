import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { signRequest } from '../../src/testing/carrier-a/signing.js';
import type { CallerStep } from '../../src/testing/caller-script.js';
import { simulateCall, type SimulateCallOptions } from '../../src/testing/simulate-call.js';
import { findSpeech } from '../../src/testing/speech-spans.js';
import { makeSpeechTones } from '../../src/testing/tones.js';
import { readWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';
import { startFakeServer, type FakeServerOptions } from './fake-phone-server.js';

const tone = (ms: number) =>
  Int16Array.from({ length: ms * 8 }, (_, i) => Math.round(9000 * Math.sin(i * 0.35)));
const encoded = (ms: number) => transcoder.mulawEncode(tone(ms));
const HANG_UP: CallerStep[] = [{ type: 'hang-up' }];

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(options: FakeServerOptions = {}) {
  const server = await startFakeServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function call(
  server: { url: string },
  script: CallerStep[],
  options: Partial<SimulateCallOptions> = {},
) {
  return simulateCall({ url: server.url, script, maxDurationMs: 10_000, ...options });
}

describe('simulateCall', () => {
  it('reports the call also when its recording cannot be written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-simulate-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    // The path of a folder: it passes for writable, and is no place for a file.
    const report = await call(await start(), HANG_UP, { recordTo: folder });
    expect(report).toMatchObject({ answer: { outcome: 'answered' }, recording: null });
    expect(report.notes).toContain('The recording could not be written (EISDIR).');
  });

  it('records the agent where it was heard, beside the caller', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-simulate-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const recordTo = join(folder, 'call.wav');
    const server = await start({
      onStart(stream) {
        stream.play(encoded(400));
        stream.send({ event: 'mark', streamSid: stream.streamSid, mark: { name: 'greeting' } });
      },
    });
    const script: CallerStep[] = [
      { type: 'wait-for-agent', quietMs: 200 },
      { type: 'play', samples: makeSpeechTones(400), sampleRateHz: 8000 },
      { type: 'hang-up' },
    ];
    const report = await call(server, script, { recordTo });
    expect(report).toMatchObject({
      ok: true,
      carrier: 'carrier-a',
      caller: '…0020',
      protocolErrors: [],
      gaps: [],
      clicks: [],
      marks: { received: 1, played: 1, cleared: 0, pending: 0 },
      frames: { received: 20 },
      end: { by: 'caller', how: 'hang-up' },
      recording: recordTo,
    });
    const wav = readWav(await readFile(recordTo));
    const [caller = new Int16Array(), agent = new Int16Array()] = wav.channels;
    expect(wav.sampleRateHz).toBe(8000);
    const [heard] = findSpeech(agent, { sampleRateHz: 8000 });
    expect(heard?.startMs).toBeLessThan(1000);
    expect(Math.round(heard?.startMs ?? -1) - (report.firstAudioAfterMs ?? 0)).toBe(0);
    const from = agent.findIndex((sample) => sample !== 0) - 1;
    const played = transcoder.mulawDecode(encoded(400));
    expect(agent.subarray(from, from + played.length)).toEqual(played);
    const [said] = findSpeech(caller, { sampleRateHz: 8000, joinMs: 600 });
    expect(said?.startMs).toBeGreaterThanOrEqual((heard?.endMs ?? 0) + 200);
  });

  it('speaks the wire of the carrier: order, counters, times, signatures', async () => {
    const server = await start();
    const script: CallerStep[] = [
      { type: 'press', digits: '5' },
      { type: 'play', samples: tone(100), sampleRateHz: 8000, text: 'two words' },
      { type: 'hang-up' },
    ];
    const report = await call(server, script, {
      authToken: 'secret',
      webhookHost: 'voice.example:8443',
      from: 'anonymous',
    });
    expect(report.ok).toBe(true);

    const [voice, status] = server.webhooks;
    expect(voice?.headers.host).toBe('voice.example:8443');
    expect(Object.fromEntries(voice?.form ?? [])).toMatchObject({
      From: 'anonymous',
      CallStatus: 'ringing',
      Direction: 'inbound',
      FromCity: '',
    });
    const signed = {
      url: 'https://voice.example/webhooks/carrier-a/voice',
      parameters: [...(voice?.form ?? [])],
    };
    expect(voice?.headers['x-twilio-signature']).toBe(signRequest('secret', signed));
    expect(status).toMatchObject({ path: '/webhooks/carrier-a/status' });
    expect(status?.form.get('CallStatus')).toBe('completed');

    const callSid = voice?.form.get('CallSid');
    const [upgrade] = server.upgrades;
    expect(upgrade?.path).toBe(`/ws/stream/${callSid}/token`);
    const wss = { url: `wss://voice.example${upgrade?.path}`, parameters: [] };
    expect(upgrade?.headers['x-twilio-signature']).toBe(signRequest('secret', wss));

    const { messages } = server;
    expect(messages[0]).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    expect(messages[1]).toMatchObject({
      event: 'start',
      sequenceNumber: '1',
      start: { callSid, tracks: ['inbound'], customParameters: { caller: '+15005550020' } },
    });
    expect(messages.at(-1)).toMatchObject({ event: 'stop', stop: { callSid } });
    const numbered = messages.filter((message) => 'sequenceNumber' in message);
    expect(numbered.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
      numbered.map((_, index) => String(index + 1)),
    );
    const media = messages.filter(({ event }) => event === 'media').map((message) => message.media ?? {});
    expect(media.map(({ chunk, timestamp }) => [chunk, timestamp])).toEqual(
      media.map((_, index) => [String(index + 1), String((index + 1) * 20)]),
    );
    expect(media.every(({ payload = '' }) => payload.length === 216)).toBe(true);
    expect(messages.find(({ event }) => event === 'dtmf')?.dtmf).toEqual({
      track: 'inbound_track',
      digit: '5',
    });
    const spoken = messages
      .filter(({ event }) => event === 'spoken-text')
      .map((message) => message.spokenText ?? {});
    expect(spoken.map(({ text, final }) => [text, final])).toEqual([
      ['two', false],
      ['two words', true],
    ]);
  });

  it('hears a clear: the agent falls silent and the marks come back', async () => {
    let cleared = false;
    const server = await start({
      onStart(stream) {
        stream.play(encoded(8000));
        stream.send({ event: 'mark', streamSid: stream.streamSid, mark: { name: 'end' } });
      },
      onMessage(message, stream) {
        if (cleared || message.event !== 'spoken-text') return;
        cleared = true;
        stream.send({ event: 'clear', streamSid: stream.streamSid });
      },
    });
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 300 },
      { type: 'play', samples: tone(300), sampleRateHz: 8000, text: 'wait' },
      { type: 'hang-up' },
    ];
    const report = await call(server, script);
    expect(report.ok).toBe(true);
    expect(report.clears).toHaveLength(1);
    expect(report.marks).toMatchObject({ received: 1, cleared: 1 });
    expect(report.interruptions).toHaveLength(1);
    expect(report.interruptions[0]?.clearAfterMs).not.toBeNull();
    expect(report.agentSpeechMs).toBeLessThan(4000);
    expect(server.messages.some(({ event }) => event === 'mark')).toBe(true);
  });

  it('names every message that breaks the protocol, and fails the call', async () => {
    const server = await start({
      onStart(stream) {
        stream.socket.send(Buffer.from([1, 2, 3]));
        stream.socket.send('{');
        stream.send({ event: 'media', streamSid: 'MZ0', media: { payload: 'AAAA' } });
        stream.send({
          event: 'media',
          streamSid: stream.streamSid,
          media: { payload: 'AAAA', track: 'outbound' },
        });
        stream.socket.send('{');
      },
    });
    const report = await call(server, [{ type: 'pause', durationMs: 200 }, { type: 'hang-up' }]);
    expect(report.ok).toBe(false);
    expect(report.protocolErrors.map(({ sentence, count }) => [sentence, count])).toEqual([
      ['a binary message', 1],
      ['a message that is not JSON', 2],
      ['a media message with a missing or foreign streamSid', 1],
      ['a media message with missing or surplus fields', 1],
    ]);
  });

  it.each<[string, FakeServerOptions, object]>([
    ['a refused signature', { status: 403 }, { outcome: 'refused', status: 403 }],
    ['an unknown path', { status: 404 }, { outcome: 'refused', status: 404 }],
    [
      'a busy answer',
      { markup: '<Response><Reject reason="busy"/></Response>' },
      { outcome: 'busy', status: 200 },
    ],
    [
      'a rejection',
      { markup: '<Response><Reject/></Response>' },
      { outcome: 'rejected', reason: expect.stringMatching(/--carrier/) },
    ],
    ['an answer without stream', { markup: '<Response/>' }, { outcome: 'hung-up' }],
    ['an answer that is no markup', { markup: 'OK' }, { outcome: 'failed' }],
    ['a full house at the stream', { refuseUpgrade: 429 }, { outcome: 'refused', status: 429 }],
  ])('reports %s', async (_, options, answer) => {
    const report = await call(await start(options), HANG_UP);
    expect(report).toMatchObject({ ok: false, durationMs: null, end: null, answer });
    expect(report.answer.reason).not.toBeNull();
  });

  it('says what a server that refuses may have against the request: its token, or that it has none', async () => {
    const refuse = () => start({ status: 403 });
    const unsigned = await simulateCall({ url: (await refuse()).url, script: HANG_UP });
    expect(unsigned.answer.reason).toContain('was not signed (set --auth-token');
    const signed = await simulateCall({ url: (await refuse()).url, script: HANG_UP, authToken: 'a-token' });
    expect(signed.answer.reason).toContain('the signature was not accepted');
  });

  it('reports a server that is not there', async () => {
    const server = await start();
    await server.close();
    cleanups.length = 0;
    const report = await call(server, HANG_UP);
    expect(report).toMatchObject({
      ok: false,
      answer: { outcome: 'failed', reason: expect.stringContaining('nobody listens') },
    });
  });

  it.each<
    [
      string,
      (stream: { socket: { close(code: number, reason: string): void; terminate(): void } }) => void,
      object,
      boolean,
    ]
  >([
    [
      'closes in order',
      ({ socket }) => socket.close(1001, 'Server shutting down'),
      { by: 'server', closeCode: 1001, reason: 'Server shutting down' },
      true,
    ],
    [
      'closes with an error',
      ({ socket }) => socket.close(1008, 'no'),
      { by: 'server', closeCode: 1008 },
      false,
    ],
    [
      'breaks off',
      ({ socket }) => socket.terminate(),
      { by: 'network', how: 'lost', closeCode: null },
      false,
    ],
  ])('says so when the server %s', async (_, onStart, end, ok) => {
    const report = await call(await start({ onStart }), [{ type: 'pause', durationMs: 5000 }]);
    expect(report.end).toMatchObject(end);
    expect(report.ok).toBe(ok);
  });

  it('ends at once when it is called off, and at the longest duration', async () => {
    const controller = new AbortController();
    const server = await start({
      onMessage: () => void (server.messages.length === 5 && controller.abort()),
    });
    const script: CallerStep[] = [{ type: 'pause', durationMs: 60_000 }];
    expect(await call(server, script, { signal: controller.signal })).toMatchObject({
      ok: false,
      end: { how: 'aborted' },
    });
    expect(await call(server, script, { maxDurationMs: 1000 })).toMatchObject({
      ok: true,
      end: { how: 'time-limit' },
    });
  });

  it.each<[string, Partial<SimulateCallOptions>]>([
    ['an address without scheme', { url: '127.0.0.1:8000' }],
    ['a webhook host with a path', { webhookHost: 'voice.example/x' }],
    ['a carrier that is none', { carrier: 'carrier-z' as 'carrier-a' }],
    ['a called number that is none', { to: '555' }],
    ['an endless call', { maxDurationMs: Number.POSITIVE_INFINITY }],
  ])('refuses %s before it calls', async (_, options) => {
    await expect(call({ url: 'http://127.0.0.1:1' }, HANG_UP, options)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});
