// What somebody hears who listens in to a live call, compared with what the carrier's own recording has.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pause } from '../../src/base/pause.js';
import { systemClock } from '../../src/base/clock.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import type { CallerStep, InboundCall } from '../../src/testing/index.js';
import { openToneVoice, readWav } from '../../src/testing/index.js';
import { findSpeech, type Span } from '../../src/testing/speech-spans.js';
import { type HeardWord, readTones } from '../../src/testing/tone-reader.js';
import { type CarrierPhone, startCarrierPhone } from '../support/carrier-phone.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const TOKEN = 'a-token-of-sixteen-characters';
const GREETING = 'Hello, this is the bakery.';
const LONG = 'We have bread, rolls, cakes and tarts, and then there are cookies of seven kinds, and coffee.';
/** How far a word may be from where the carrier has it. */
const STEP_MS = 20;

const toneVoice: TextToSpeech = { name: 'tones', open: openToneVoice };
const serve = { listenIn: true, dashboardToken: TOKEN };

const INTERRUPTS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'what do you have' },
  { type: 'pause', durationMs: 3500 },
  { type: 'say', text: 'just three loaves of bread please' },
  { type: 'wait-for-agent' },
  { type: 'pause', durationMs: 1500 },
  { type: 'hang-up' },
];

interface Heard {
  readonly caller: HeardWord[];
  readonly agent: HeardWord[];
  /** Stretches of sound of the agent, for a voice that cannot be read. */
  readonly sounds: Span[];
}

function wordsOf(bytes: Uint8Array): Heard {
  const { channels, sampleRateHz } = readWav(bytes);
  const [caller = [], agent = []] = channels.map((samples) => readTones(samples, { sampleRateHz }));
  const sounds = findSpeech(channels[1] ?? new Int16Array(0), { sampleRateHz, joinMs: 30 });
  return { caller, agent, sounds };
}

async function play(
  running: CarrierPhone,
  script: readonly CallerStep[],
  options: Partial<InboundCall> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-listening-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const recordTo = join(folder, 'carrier.wav');
  const report = await running.simulator.call({ script, recordTo, maxDurationMs: 60_000, ...options });
  return { report, theirs: wordsOf(await readFile(recordTo)) };
}

/** Everything until the end, as a file whose length is right. */
async function listen(running: CarrierPhone, callId: string): Promise<Uint8Array> {
  const response = await running.ask(`/calls/${callId}/listen`);
  expect(response.status).toBe(200);
  return closed(new Uint8Array(await response.arrayBuffer()));
}

function closed(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(4, bytes.length - 8, true);
  view.setUint32(40, bytes.length - 44, true);
  return bytes;
}

const textOf = (words: readonly HeardWord[]) => words.map(({ text }) => text).join(' ');

/** All of `ours` is in `theirs` at its end, both sides at the same distance. Returns the distance. */
function expectInStep(ours: Heard, theirs: Heard, stepMs = STEP_MS): number {
  const distanceMs = (theirs.caller.at(-1)?.startMs ?? 0) - (ours.caller.at(-1)?.startMs ?? 0);
  for (const side of ['caller', 'agent', 'sounds'] as const) {
    const here: readonly Span[] = ours[side];
    const there: readonly Span[] = theirs[side].slice(-here.length);
    if (side !== 'sounds') expect(textOf(ours[side])).toBe(textOf(theirs[side].slice(-here.length)));
    for (const [index, { startMs, endMs }] of there.entries()) {
      expect(Math.abs((here[index]?.startMs ?? 0) + distanceMs - startMs)).toBeLessThanOrEqual(stepMs);
      expect(Math.abs((here[index]?.endMs ?? 0) + distanceMs - endMs)).toBeLessThanOrEqual(stepMs);
    }
  }
  return distanceMs;
}

describe.each(playedOn('carrier-b'))('who listens in to a call on %s', (id) => {
  it('hears both sides as they are heard, interruption included', async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      { serve: { ...serve, onMessage: () => LONG }, simulator: { openVoice: openToneVoice } },
    );
    const playing = play(running, INTERRUPTS);
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const ours = wordsOf(await listen(running, live?.callId ?? ''));
    const { theirs, report } = await playing;
    expect(report.clears.length).toBeGreaterThan(0);
    expect(ours.agent.length).toBeGreaterThan(8);
    expect(textOf(ours.caller)).toBe('what do you have just three loaves of bread please');
    expectInStep(ours, theirs);
  });

  it.each(REALTIME_VENDORS)('hears them with a realtime model, too ($name)', async (vendor) => {
    const played = await vendor.play({
      utterances: ['what do you have', 'just three loaves of bread please'],
      replies: [{ text: LONG }, { text: 'they are ready at noon' }],
    });
    const { engine } = played;
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, engine },
      { serve, simulator: { openVoice: openToneVoice } },
    );
    const playing = play(running, INTERRUPTS);
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const ours = wordsOf(await listen(running, live?.callId ?? ''));
    const { theirs } = await playing;
    await played.emulator.close();
    expect(ours.caller).toHaveLength(10);
    expect(ours.sounds.length).toBeGreaterThanOrEqual(2);
    expectInStep(ours, theirs);
  });

  it('hears them where frames come in bunches, and where each is cut off who does not listen', async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      { serve: { ...serve, onMessage: () => LONG }, simulator: { openVoice: openToneVoice } },
    );
    const playing = play(running, INTERRUPTS, { line: { bunchMs: 160 } });
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const leaving = await running.ask(`/calls/${live?.callId}/listen`);
    const ours = listen(running, live?.callId ?? '');
    await leaving.body?.cancel();
    const { theirs } = await playing;
    const heard = wordsOf(await ours);
    expect(heard.caller).toHaveLength(10);
    expect(heard.agent.length).toBeGreaterThan(8);
    expectInStep(heard, theirs);
  });

  it('goes on listening over the next stream of a call that has lost one', async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      { serve: { ...serve, onMessage: () => 'thank you for that' }, simulator: { openVoice: openToneVoice } },
    );
    const playing = play(running, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'my name is ada' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 9000 },
      { type: 'say', text: 'that is all' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 1000 },
      { type: 'hang-up' },
    ]);
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const listening = listen(running, live?.callId ?? '');
    await running.active(1, ({ turnCount, phase }) => turnCount >= 2 && phase?.name === 'listening');
    running.simulator.legs[0]?.dropStream();
    const { theirs, report } = await playing;
    const [record] = await running.history();
    expect(record?.incidents.map(({ code }) => code)).toContain('stream-replaced');
    expect(report.ok).toBe(true);
    const ours = wordsOf(await listening);
    expect(textOf(ours.caller)).toBe('my name is ada that is all');
    expect(ours.agent.length).toBeGreaterThan(4);
    expectInStep(ours, theirs);
  });

  it('hears nothing of either side around keys that are a secret', async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      {
        serve: { ...serve, privacy: { keys: 'none' }, onMessage: () => 'thank you for that' },
        simulator: { openVoice: openToneVoice },
      },
    );
    const playing = play(running, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'my name is ada' },
      { type: 'wait-for-agent' },
      { type: 'press', digits: '1234' },
      { type: 'say', text: 'four' },
      { type: 'pause', durationMs: 9000 },
      { type: 'say', text: 'that is all' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 2000 },
      { type: 'hang-up' },
    ]);
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const response = await running.ask(`/calls/${live?.callId}/listen`);
    expect(response.headers.get('x-offhook-delay-ms')).toBe('1200');
    const ours = wordsOf(closed(new Uint8Array(await response.arrayBuffer())));
    const { theirs } = await playing;
    expect(textOf(theirs.caller)).toBe('my name is ada four that is all');
    expect(textOf(ours.caller)).toBe('my name is ada that is all');
  });

  it('hears the end of the server as the end', async () => {
    await using running = await startCarrierPhone(id, { firstMessage: GREETING, tts: toneVoice }, { serve });
    const playing = play(running, [{ type: 'wait-for-agent' }, { type: 'pause', durationMs: 60_000 }]);
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const listening = listen(running, live?.callId ?? '');
    await pause(systemClock, 2000);
    await running.phone.disconnect();
    expect((await listening).length).toBeGreaterThan(1500 * 64);
    await playing;
  });
});

it.each([
  ['mu-law', { grant: 'PCMU' }],
  ['A-law', { grant: 'PCMA' }],
  ['8 kHz PCM', { grant: 'L16', l16SampleRateHz: 8000 }],
  ['16 kHz PCM in network byte order', { grant: 'L16', l16ByteOrder: 'big' }],
] as const)('who listens in to a line of %s hears what is heard', async (_format, carrierB) => {
  await using running = await startCarrierPhone(
    'carrier-b',
    { firstMessage: GREETING, tts: toneVoice },
    { serve: { ...serve, onMessage: () => LONG }, simulator: { openVoice: openToneVoice }, carrierB },
  );
  const playing = play(running, INTERRUPTS);
  const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
  const ours = wordsOf(await listen(running, live?.callId ?? ''));
  const { theirs } = await playing;
  expect(ours.caller).toHaveLength(10);
  expect(ours.agent.length).toBeGreaterThan(8);
  expectInStep(ours, theirs);
});

it('nobody listens in unless it is asked for', async () => {
  await using running = await startCarrierPhone('carrier-a', {}, { serve: { dashboardToken: TOKEN } });
  const playing = play(running, [{ type: 'wait-for-agent' }, { type: 'hang-up' }]);
  const [live] = await running.active(1);
  const response = await running.ask(`/calls/${live?.callId}/listen`);
  expect(response.status).toBe(409);
  expect(await response.text()).toContain('set its option listenIn');
  await playing;
});
