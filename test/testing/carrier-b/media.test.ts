import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CallerStep } from '../../../src/testing/caller-script.js';
import { resampleRecording } from '../../../src/testing/resample.js';
import { findSpeech } from '../../../src/testing/speech-spans.js';
import { makeSpeechTones } from '../../../src/testing/tones.js';
import { readWav } from '../../../src/testing/wav.js';
import { transcoder } from '../../../src/transcoder/select.js';
import {
  answerCalls,
  moveUntil,
  moveWhile,
  startScene,
  STREAM_FIELDS,
  type PhoneOptions,
  type PhoneStream,
} from './fake-phone.js';

const SOUND = makeSpeechTones(400);
const SPEAK: CallerStep[] = [
  { type: 'play', samples: SOUND, sampleRateHz: 8000 },
  { type: 'pause', durationMs: 100 },
  { type: 'hang-up' },
];
const LISTEN: CallerStep[] = [{ type: 'wait-for-agent', quietMs: 300, timeoutMs: 2000 }, { type: 'hang-up' }];

/** A server that answers and asks for a stream in these codecs. */
function asking(fields: Record<string, unknown>): NonNullable<PhoneOptions['onEvent']> {
  return (event, phone) => {
    const { call_control_id: id } = event.payload;
    if (event.type === 'call.initiated') void phone.command(id, 'answer');
    if (event.type === 'call.answered')
      void phone.command(id, 'streaming_start', { ...STREAM_FIELDS, ...fields });
  };
}

const payloads = (stream: PhoneStream | undefined) =>
  (stream?.messages ?? [])
    .filter(({ event }) => event === 'media')
    .map(({ media }) => Buffer.from(media?.payload ?? '', 'base64'));

function samplesOf(bytes: Buffer, order: 'little' | 'big' = 'little'): Int16Array {
  const swapped = order === 'big' ? Buffer.from(bytes).swap16() : bytes;
  return Int16Array.from({ length: swapped.length / 2 }, (_, index) => swapped.readInt16LE(index * 2));
}

function bytesOf(samples: Int16Array, order: 'little' | 'big' = 'little'): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) bytes.writeInt16LE(sample, index * 2);
  return order === 'big' ? bytes.swap16() : bytes;
}

/** How alike two recordings are at their best alignment within 20 ms, from -1 to 1. */
function likeness(one: Int16Array, other: Int16Array, rateHz: number): number {
  let best = -1;
  for (let shift = 0; shift <= rateHz / 50; shift += 1) {
    let [product, left, right] = [0, 0, 0];
    for (let index = 0; index + shift < one.length && index < other.length; index += 1) {
      const [a, b] = [one[index + shift] ?? 0, other[index] ?? 0];
      product += a * b;
      left += a * a;
      right += b * b;
    }
    best = Math.max(best, product / Math.sqrt(left * right || 1));
  }
  return best;
}

describe('what the carrier sends', () => {
  it('is L16 at 16 kHz in the byte order of the simulator', async () => {
    const expected = resampleRecording(SOUND, 8000, 16_000);
    for (const order of ['little', 'big'] as const) {
      const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { l16ByteOrder: order });
      await moveWhile(clock, simulator.call({ script: SPEAK }));
      const sent = payloads(phone.streams[0]);
      expect(sent.every(({ length }) => length === 640)).toBe(true);
      expect(likeness(samplesOf(Buffer.concat(sent), order), expected, 16_000)).toBeGreaterThan(0.99);
    }
  });

  it.each([
    ['PCMU', 8000, (bytes: Uint8Array) => transcoder.mulawDecode(bytes)],
    ['PCMA', 8000, (bytes: Uint8Array) => transcoder.alawDecode(bytes)],
  ] as const)('is %s where that is granted, whatever was asked for', async (grant, rate, decode) => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { grant });
    await moveWhile(clock, simulator.call({ script: SPEAK }));
    const [stream] = phone.streams;
    expect(stream?.messages[1]?.start?.media_format).toEqual({
      encoding: grant,
      sample_rate: rate,
      channels: 1,
    });
    const sent = payloads(stream);
    expect(sent.every(({ length }) => length === 160)).toBe(true);
    expect(likeness(decode(Buffer.concat(sent)), SOUND, 8000)).toBeGreaterThan(0.99);
  });

  it('can be L16 at 8 kHz, or a codec that nobody speaks here', async () => {
    const narrow = await startScene({ onEvent: answerCalls }, { l16SampleRateHz: 8000 });
    await moveWhile(narrow.clock, narrow.simulator.call({ script: SPEAK }));
    expect(narrow.phone.streams[0]?.messages[1]?.start?.media_format).toMatchObject({ sample_rate: 8000 });
    expect(samplesOf(Buffer.concat(payloads(narrow.phone.streams[0]))).subarray(0, SOUND.length)).toEqual(
      SOUND,
    );

    const strange = await startScene({ onEvent: answerCalls }, { grant: ['G722', 'PCMU'] });
    const running = strange.simulator.call({
      script: [{ type: 'pause', durationMs: 5000 }, { type: 'hang-up' }],
    });
    await moveUntil(strange.clock, () => payloads(strange.phone.streams[0]).length > 3);
    expect(payloads(strange.phone.streams[0])[0]).toEqual(Buffer.alloc(160));
    await strange.phone.command(strange.simulator.legs[0]?.carrierCallId, 'streaming_start', STREAM_FIELDS);
    await moveUntil(strange.clock, () => payloads(strange.phone.streams[1]).length > 0);
    expect(strange.phone.streams.map(({ messages }) => messages[1]?.start?.media_format)).toMatchObject([
      { encoding: 'G722', sample_rate: 8000 },
      { encoding: 'PCMU' },
    ]);
    expect(strange.phone.streams[0]?.messages.at(-1)?.event).toBe('stop');
    strange.simulator.legs[0]?.hangUp();
    await moveWhile(strange.clock, running);
  });

  it('is what was asked for, PCMU where nothing was', async () => {
    const { clock, phone, simulator } = await startScene({
      onEvent: asking({ stream_codec: undefined, custom_parameters: [{ name: 'token', value: 't' }] }),
    });
    await moveWhile(clock, simulator.call({ script: SPEAK }));
    expect(phone.streams[0]?.messages[1]?.start).toMatchObject({
      media_format: { encoding: 'PCMU' },
      custom_parameters: { token: 't' },
    });
  });

  it('keeps its pace when the machine stalls', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: [{ type: 'pause', durationMs: 3000 }, { type: 'hang-up' }] });
    await moveUntil(clock, () => payloads(phone.streams[0]).length > 5);
    clock.stall(490);
    const report = await moveWhile(clock, running);
    expect(report.frames.sent).toBe(Math.floor((report.durationMs ?? 0) / 20));
  });

  it('comes shuffled, repeated, odd and with errors on demand', async () => {
    const disturbances = { shuffledChunks: true, repeatedChunks: true, oddPayloads: true, errorFrames: true };
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { disturbances });
    const script: CallerStep[] = [{ type: 'pause', durationMs: 2000 }, { type: 'hang-up' }];
    const report = await moveWhile(clock, simulator.call({ script }));
    const messages = phone.streams[0]?.messages ?? [];
    const chunks = messages.flatMap(({ media }) => (media === undefined ? [] : [Number(media.chunk)]));
    expect(chunks).not.toEqual(chunks.toSorted((a, b) => a - b));
    const distinct = [...new Set(chunks)].toSorted((a, b) => a - b);
    expect(distinct).toEqual(Array.from({ length: report.frames.sent }, (_, index) => index + 1));
    expect(chunks.length).toBeGreaterThan(distinct.length);
    // No chunk is overtaken by more than one other.
    const firsts = chunks.filter((chunk, index) => chunks.indexOf(chunk) === index);
    expect(firsts.every((chunk, index) => Math.abs(chunk - (index + 1)) <= 1)).toBe(true);
    expect(payloads(phone.streams[0]).some(({ length }) => length === 639)).toBe(true);
    expect(messages.find(({ event }) => event === 'error')?.payload).toMatchObject({ code: 100005 });
  });

  it('may be closed before it starts, or never come', async () => {
    const disturbances = { closedBeforeStart: 1, failedStreams: 1 };
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { disturbances });
    const running = simulator.call({ script: SPEAK });
    await moveUntil(clock, () => phone.find('streaming.failed') !== undefined);
    expect(phone.streams).toHaveLength(0);
    const id = simulator.legs[0]?.carrierCallId;
    await phone.command(id, 'streaming_start', STREAM_FIELDS);
    await moveUntil(
      clock,
      () => phone.eventTypes().filter((type) => type === 'streaming.failed').length === 2,
    );
    expect(phone.streams[0]?.messages.map(({ event }) => event)).toEqual(['connected']);
    await phone.command(id, 'streaming_start', STREAM_FIELDS);
    expect((await moveWhile(clock, running)).answer.outcome).toBe('answered');
  });
});

describe('what the server sends', () => {
  it.each([
    ['L16', 16_000, 640, (sound: Int16Array) => bytesOf(resampleRecording(sound, 8000, 16_000))],
    ['PCMU', 8000, 160, (sound: Int16Array) => transcoder.mulawEncode(sound)],
    ['PCMA', 8000, 160, (sound: Int16Array) => transcoder.alawEncode(sound)],
  ] as const)('is heard in %s, and recorded beside the caller', async (codec, rate, frameBytes, encode) => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-carrier-b-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const recordTo = join(folder, 'call.wav');
    const fields = { stream_bidirectional_codec: codec, stream_bidirectional_sampling_rate: rate };
    const { clock, phone, simulator } = await startScene({
      onEvent: asking(fields),
      onStart(stream) {
        stream.play(encode(SOUND), frameBytes);
        stream.send({ event: 'mark', mark: { name: 'end' } });
      },
    });
    const report = await moveWhile(clock, simulator.call({ script: [...LISTEN], recordTo }));
    expect(report).toMatchObject({
      ok: true,
      frames: { received: 20 },
      marks: { received: 1, played: 1 },
      gaps: [],
      clicks: [],
      recording: recordTo,
    });
    expect(report.agentSpeechMs).toBeGreaterThan(300);
    expect(phone.streams[0]?.messages.find(({ event }) => event === 'mark')?.mark).toEqual({ name: 'end' });
    const { channels } = readWav(await readFile(recordTo));
    const [, agent = new Int16Array()] = channels;
    expect(findSpeech(agent, { sampleRateHz: 8000 })).toHaveLength(1);
    const from = agent.findIndex((sample) => sample !== 0);
    expect(likeness(agent.subarray(Math.max(0, from - 40)), SOUND, 8000)).toBeGreaterThan(0.98);
  });

  it('is dropped by a clear, with its marks', async () => {
    const { clock, phone, simulator } = await startScene({
      onEvent: answerCalls,
      onStart(stream) {
        stream.play(bytesOf(resampleRecording(makeSpeechTones(8000), 8000, 16_000)), 640);
        stream.send({ event: 'mark', mark: { name: 'end' } });
      },
    });
    const script: CallerStep[] = [
      { type: 'interrupt', afterMs: 300 },
      { type: 'pause', durationMs: 500 },
    ];
    const running = simulator.call({ script: [...script, { type: 'hang-up' }] });
    await moveUntil(clock, () => payloads(phone.streams[0]).length > 20);
    phone.streams[0]?.send({ event: 'clear' });
    const report = await moveWhile(clock, running);
    expect(report.clears).toHaveLength(1);
    expect(report.marks).toMatchObject({ received: 1, cleared: 1 });
    expect(report.agentSpeechMs).toBeLessThan(2000);
  });

  it('is checked: every fault is named, answered with its error, and fails the call', async () => {
    const { clock, phone, simulator } = await startScene({
      onEvent: answerCalls,
      onStart(stream) {
        const media = (bytes: number) =>
          stream.send({ event: 'media', media: { payload: Buffer.alloc(bytes, 1).toString('base64') } });
        stream.socket.send(Buffer.from([1]));
        stream.socket.send('{');
        media(641);
        media(638);
        media(960_002);
        stream.send({ event: 'media', media: { payload: 'AA=' } });
        stream.send({ event: 'clear', stream_id: 'x' });
      },
    });
    const report = await moveWhile(clock, simulator.call({ script: SPEAK }));
    expect(report.ok).toBe(false);
    expect(report.protocolErrors.map(({ sentence }) => sentence)).toEqual([
      'a binary message',
      'a message that is not JSON',
      'half a sample in the audio',
      'a media message of less than 20 ms',
      'a media message of more than 30 s',
      'a media payload that is no canonical base64',
      'a clear message with surplus fields',
    ]);
    expect(simulator.legs[0]?.violations).toHaveLength(7);
    const errors = (phone.streams[0]?.messages ?? []).filter(({ event }) => event === 'error');
    expect(errors.map(({ payload }) => payload?.code)).toEqual([100003, 100003, 100004, 100004, 100004]);
  });

  it('is refused when the stream was asked for without mode rtp', async () => {
    const { clock, simulator } = await startScene({
      onEvent: asking({ stream_bidirectional_mode: undefined }),
      onStart: (stream) => stream.play(Buffer.alloc(640), 640),
    });
    const report = await moveWhile(clock, simulator.call({ script: SPEAK }));
    expect(report.protocolErrors.map(({ sentence }) => sentence)).toEqual([
      'raw audio on a stream whose stream_bidirectional_mode is not rtp',
    ]);
  });
});
