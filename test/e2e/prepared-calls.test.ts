// What waits for a call when its stream comes: on both carriers and in both directions a slow voice has spoken the greeting before.
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type CallerStep,
  type CallReport,
  type ElevenLabsEmulator,
  emulateElevenLabs,
  emulateOpenAIRealtime,
} from '../../src/testing/index.js';
import { type CarrierPhone, eventually, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const CALLEE = '+15005550020';
const GREETING = 'Hello, this is the bakery.';
const LISTENS: readonly CallerStep[] = [{ type: 'wait-for-agent', quietMs: 500 }, { type: 'hang-up' }];

/** The voice begins to speak after this time, and the carrier takes longer to open a stream. */
const FIRST_AUDIO_MS = 1800;
const STREAM_DELAY_MS = 3000;

// Calls in real time.
const REAL_TIME = { timeout: 40_000 };

function textsOf(voice: ElevenLabsEmulator): string[] {
  return voice.connections.flatMap(({ texts }) => [...texts.values()]).filter((text) => text !== '');
}

/** Resolves when the voice was asked for the greeting. Up to then the carrier has opened no stream. */
async function greetingAsked(voice: ElevenLabsEmulator, { simulator }: CarrierPhone): Promise<void> {
  await eventually('the greeting at the voice', () => textsOf(voice)[0]);
  expect(simulator.legs.flatMap(({ reports }) => reports)).toEqual([]);
}

function expectGreeted(report: CallReport | undefined, record: CallRecord): void {
  expect(report?.firstAudioAfterMs).toBeLessThan(FIRST_AUDIO_MS);
  // On a clock that waits for everything, a hole in the agent's speech is a fault of the server.
  expect(report?.gaps).toEqual([]);
  expect(record).toMatchObject({ error: null, endReason: 'caller-hangup' });
  const [greeting] = record.turns;
  expect(greeting).toMatchObject({ agentText: GREETING, interrupted: false });
  expect(new Set(Object.values(greeting?.latency ?? { none: 1 }))).toEqual(new Set([null]));
}

describe.concurrent.each(playedOn('carrier-b'))('a greeting, on %s', REAL_TIME, (id) => {
  const start = (voice: ElevenLabsEmulator) =>
    startCarrierPhone(
      id,
      {
        firstMessage: GREETING,
        tts: new ElevenLabsTextToSpeech({ apiKey: 'test-key', baseUrl: voice.url }),
        turnTaking: { fillers: [] },
      },
      {
        simulator: {
          disturbances: { streamDelayMs: STREAM_DELAY_MS },
          callees: { [CALLEE]: { type: 'human', ringMs: 500, script: LISTENS } },
        },
      },
    );

  it('is ready when the stream of an inbound call comes', async () => {
    await using voice = await emulateElevenLabs({ firstAudioMs: FIRST_AUDIO_MS });
    await using running = await start(voice);
    const calling = running.simulator.call({ from: CALLEE, to: OWN_NUMBER, script: LISTENS });
    await greetingAsked(voice, running);
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expectGreeted(report, record);
    expect(textsOf(voice)).toEqual([GREETING]);
    expect(record.usage?.ttsCharacters).toBe(GREETING.length);
    expect(voice.connections).toHaveLength(1);
    expect(voice.violations).toEqual([]);
  });

  it('is ready when the stream of an outbound call comes', async () => {
    await using voice = await emulateElevenLabs({ firstAudioMs: FIRST_AUDIO_MS });
    await using running = await start(voice);
    const placed = running.phone.call({ to: CALLEE });
    await greetingAsked(voice, running);
    const record = await (await placed).ended;
    expectGreeted(running.simulator.legs[0]?.reports[0], record);
    expect(textsOf(voice)).toEqual([GREETING]);
    expect(voice.violations).toEqual([]);
  });

  it('that nobody hears is closed with its call, and its characters are on the record', async () => {
    await using voice = await emulateElevenLabs({ firstAudioMs: FIRST_AUDIO_MS });
    await using running = await start(voice);
    const calling = running.simulator.call({ script: LISTENS, maxDurationMs: 1500 });
    await greetingAsked(voice, running);
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(record.turns).toEqual([]);
    expect(record.usage?.ttsCharacters).toBe(GREETING.length);
    await eventually('the end of the connection', () => (voice.openSockets === 0 ? true : undefined));
  });

  it('of a realtime model is ready, too', async () => {
    await using model = await emulateOpenAIRealtime();
    await using running = await startCarrierPhone(
      id,
      {
        firstMessage: GREETING,
        engine: new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` }),
      },
      { simulator: { disturbances: { streamDelayMs: STREAM_DELAY_MS } } },
    );
    const calling = running.simulator.call({ from: CALLEE, to: OWN_NUMBER, script: LISTENS });
    await eventually('the greeting at the model', () => model.connections[0]);
    expect(running.simulator.legs.flatMap(({ reports }) => reports)).toEqual([]);
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(model.connections).toHaveLength(1);
    expect(record.turns[0]?.agentText).not.toBe('');
    expect(model.violations).toEqual([]);
  });
});
