// Calls that are recorded on this machine, compared with what the carrier's own recording has.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { openToneVoice, readWav } from '../../src/testing/index.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { type HeardWord, readTones } from '../../src/testing/tone-reader.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { findSpeech, type Span } from '../../src/testing/speech-spans.js';
import type { CallerStep, InboundCall } from '../../src/testing/index.js';
import { pause } from '../../src/base/pause.js';
import { systemClock } from '../../src/base/clock.js';
import type { LanguageModel, ToolContext } from '../../src/index.js';
import { runs } from '../support/depth.js';
import { type CarrierPhone, startCarrierPhone } from '../support/carrier-phone.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const TOKEN = 'a-token-of-sixteen-characters';
const GREETING = 'Hello, this is the bakery.';
const LONG = 'We have bread, rolls, cakes and tarts, and then there are cookies of seven kinds, and coffee.';
/** How far a word may be from where the carrier has it. */
const STEP_MS = 20;

const toneVoice: TextToSpeech = { name: 'tones', open: openToneVoice };

const INTERRUPTS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'what do you have' },
  { type: 'pause', durationMs: 3500 },
  { type: 'say', text: 'just three loaves of bread please' },
  { type: 'wait-for-agent' },
  { type: 'pause', durationMs: 500 },
  { type: 'hang-up' },
];

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'offhook-recordings-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 20 }));
  return made;
}

const isFinished = ({ localRecording }: CallRecord) =>
  localRecording?.status === 'completed' || localRecording?.status === 'failed';

interface Side {
  readonly caller: HeardWord[];
  readonly agent: HeardWord[];
  /** Stretches of sound of the agent, for a voice that cannot be read. */
  readonly sounds: Span[];
}

function wordsOf(bytes: Uint8Array): Side {
  const { channels, sampleRateHz } = readWav(bytes);
  const [caller = [], agent = []] = channels.map((samples) => readTones(samples, { sampleRateHz }));
  const sounds = findSpeech(channels[1] ?? new Int16Array(0), { sampleRateHz, joinMs: 30 });
  return { caller, agent, sounds };
}

/** Everything is there, and where it was. */
function expectInStep(ours: Side, theirs: Side): void {
  for (const side of ['caller', 'agent', 'sounds'] as const) {
    const [here, there] = [ours[side], theirs[side]];
    expect(here.map((word) => 'text' in word && word.text)).toEqual(
      there.map((word) => 'text' in word && word.text),
    );
    for (const [index, { startMs, endMs }] of there.entries()) {
      expect(Math.abs((here[index]?.startMs ?? 0) - startMs)).toBeLessThanOrEqual(STEP_MS);
      expect(Math.abs((here[index]?.endMs ?? 0) - endMs)).toBeLessThanOrEqual(STEP_MS);
    }
  }
}

async function play(
  running: CarrierPhone,
  script: readonly CallerStep[],
  options: Partial<InboundCall> = {},
) {
  const recordTo = join(await folder(), 'carrier.wav');
  const report = await running.simulator.call({ script, recordTo, maxDurationMs: 60_000, ...options });
  const record = await running.record(report.carrierCallId, isFinished);
  return { report, record, theirs: wordsOf(await readFile(recordTo)) };
}

describe.each(playedOn('carrier-a'))('a call on %s that is recorded here', (id) => {
  it('has both sides as they were heard, interruption included', async () => {
    const dataDir = await folder();
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      {
        serve: { dataDir, localRecording: true, dashboardToken: TOKEN, onMessage: () => LONG },
        simulator: { openVoice: openToneVoice },
      },
    );
    const { record, theirs, report } = await play(running, INTERRUPTS);
    expect(report.clears.length).toBeGreaterThan(0);
    const { localRecording } = record;
    expect(localRecording).toMatchObject({
      status: 'completed',
      file: `${record.callId}.wav`,
      pauses: [],
      trouble: null,
    });
    const response = await running.ask(`/calls/${record.callId}/audio`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.length).toBe(localRecording?.bytes);
    const ours = wordsOf(bytes);
    expect(theirs.agent.length).toBeGreaterThan(8);
    expectInStep(ours, theirs);
    expect(await readdir(join(dataDir, 'recordings', 'tapes'))).toEqual([]);
    await running.phone.forget(record.callId);
    expect(await readdir(join(dataDir, 'recordings'))).toEqual(['tapes']);
    expect((await running.ask(`/calls/${record.callId}/audio`)).status).toBe(404);
  });

  it.each(REALTIME_VENDORS)('has them with a realtime model, too ($name)', async (vendor) => {
    const played = await vendor.play({
      utterances: ['what do you have', 'just three loaves of bread please'],
      replies: [{ text: LONG }, { text: 'they are ready at noon' }],
    });
    const { engine } = played;
    const dataDir = await folder();
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, engine },
      {
        serve: { dataDir, localRecording: true, dashboardToken: TOKEN },
        simulator: { openVoice: openToneVoice },
      },
    );
    const { record, theirs } = await play(running, INTERRUPTS);
    await played.emulator.close();
    expect(record.localRecording).toMatchObject({ status: 'completed', trouble: null });
    const response = await running.ask(`/calls/${record.callId}/audio`);
    const ours = wordsOf(new Uint8Array(await response.arrayBuffer()));
    expect(theirs.caller.length).toBe(10);
    expect(theirs.sounds.length).toBeGreaterThanOrEqual(3);
    expectInStep(ours, theirs);
  });

  it('is silent on both sides while the application has paused it', async () => {
    const dataDir = await folder();
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      {
        serve: {
          dataDir,
          localRecording: true,
          dashboardToken: TOKEN,
          onMessage: () => 'thank you for that',
        },
        simulator: { openVoice: openToneVoice },
      },
    );
    const isAsked = new AbortController();
    const playing = play(running, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'my name is ada' },
      { type: 'wait-for-agent' },
      { type: 'wait-until', signal: isAsked.signal },
      { type: 'say', text: 'the number is seven' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 2000 },
      { type: 'say', text: 'that is all' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    const [live] = await running.active(1, ({ turnCount }) => turnCount >= 2);
    const callId = live?.callId ?? '';
    await pause(systemClock, 2000);
    await running.phone.pauseRecording(callId);
    isAsked.abort();
    await running.active(1, ({ turnCount, phase }) => turnCount >= 3 && phase?.name === 'listening');
    await running.phone.resumeRecording(callId);
    const { record, theirs } = await playing;
    await expect(running.phone.pauseRecording(callId)).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    await expect(running.phone.pauseRecording('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const [told, ...others] = record.localRecording?.pauses ?? [];
    expect(others).toEqual([]);
    expect(told).toMatchObject({ by: 'application' });
    const startedAt = record.localRecording?.startedAt ?? 0;
    const [fromMs, toMs] = [(told?.startedAt ?? 0) - startedAt, (told?.endedAt ?? 0) - startedAt];
    const response = await running.ask(`/calls/${record.callId}/audio`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { channels, sampleRateHz } = readWav(bytes);
    for (const channel of channels) {
      const paused = channel.subarray((fromMs * sampleRateHz) / 1000, (toMs * sampleRateHz) / 1000);
      expect(paused.length).toBeGreaterThan(sampleRateHz);
      expect(paused.every((sample) => sample === 0)).toBe(true);
    }
    const isHeard = ({ startMs }: Span) => startMs < fromMs || startMs > toMs;
    const heard = {
      caller: theirs.caller.filter(isHeard),
      agent: theirs.agent.filter(isHeard),
      sounds: theirs.sounds.filter(isHeard),
    };
    expect(heard.caller.map(({ text }) => text).join(' ')).toBe('my name is ada that is all');
    expect(heard.agent.length).toBeLessThan(theirs.agent.length);
    const ours = wordsOf(bytes);
    expectInStep({ ...ours, sounds: [] }, { ...heard, sounds: [] });
  });

  it('is silent around keys where they are a secret', async () => {
    const dataDir = await folder();
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice },
      {
        serve: {
          dataDir,
          localRecording: true,
          dashboardToken: TOKEN,
          privacy: { keys: 'none' },
          onMessage: () => 'thank you for that',
        },
        simulator: { openVoice: openToneVoice },
      },
    );
    const { record, theirs } = await play(running, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'my name is ada' },
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 2000 },
      { type: 'press', digits: '1234' },
      { type: 'pause', durationMs: 9000 },
      { type: 'say', text: 'that is all' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    const [told, ...others] = record.localRecording?.pauses ?? [];
    expect(others).toEqual([]);
    expect(told?.by).toBe('keys');
    // A second before the first key, the keys, and three seconds behind the last.
    const lastingMs = (told?.endedAt ?? 0) - (told?.startedAt ?? 0);
    expect(lastingMs).toBeGreaterThanOrEqual(4000);
    expect(lastingMs).toBeLessThan(6000);
    const response = await running.ask(`/calls/${record.callId}/audio`);
    const ours = wordsOf(new Uint8Array(await response.arrayBuffer()));
    expect(ours.caller.map(({ text }) => text)).toEqual(theirs.caller.map(({ text }) => text));
    expect(JSON.stringify(record)).not.toContain('1234');
  });

  it('is announced before anything else, and nobody talks over that', async () => {
    const dataDir = await folder();
    const announcement = { en: 'this call is recorded.', de: 'dieser anruf wird aufgezeichnet.' };
    await using running = await startCarrierPhone(
      id,
      { firstMessage: GREETING, tts: toneVoice, language: 'de' },
      {
        serve: { dataDir, localRecording: { announcement }, dashboardToken: TOKEN, onMessage: () => 'gut' },
        simulator: { openVoice: openToneVoice },
      },
    );
    const { record, theirs } = await play(running, [
      { type: 'interrupt', afterMs: 500 },
      { type: 'say', text: 'i want to say something at once' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    const first = record.transcript.find(({ role }) => role === 'agent');
    expect(first?.text).toBe(`${announcement.de} ${GREETING}`);
    expect(record.turns[0]).toMatchObject({ interrupted: false });
    expect(theirs.agent.map(({ text }) => text).join(' ')).toMatch(
      /^dieser anruf wird aufgezeichnet\. hello,/,
    );
  });

  it('is paused and goes on as a tool wants it', async () => {
    const dataDir = await folder();
    const llm: LanguageModel = {
      name: 'acting',
      async *respond({ messages }) {
        const last = messages.at(-1);
        if (last?.role === 'tool') yield { type: 'text', delta: 'done' };
        else {
          const isCard = String(last?.content).includes('card');
          const name = isCard ? 'take_card' : 'card_taken';
          yield { type: 'tool-call', id: name, name, arguments: {}, argumentsText: '{}' };
        }
      },
    };
    const tool = (name: string, execute: (_: object, context: ToolContext) => unknown) => ({
      name,
      description: name,
      execute,
    });
    await using running = await startCarrierPhone(
      id,
      {
        firstMessage: GREETING,
        tts: toneVoice,
        llm,
        tools: [
          tool('take_card', (_, { pauseRecording }) => pauseRecording()),
          tool('card_taken', (_, { resumeRecording }) => resumeRecording()),
        ],
      },
      {
        serve: { dataDir, localRecording: true, dashboardToken: TOKEN },
        simulator: { openVoice: openToneVoice },
      },
    );
    const { record } = await play(running, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'take my card please' },
      { type: 'wait-for-agent' },
      { type: 'say', text: 'that was the number' },
      { type: 'wait-for-agent' },
      { type: 'say', text: 'goodbye' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(record.localRecording?.pauses).toMatchObject([{ by: 'tool', endedAt: expect.any(Number) }]);
    const response = await running.ask(`/calls/${record.callId}/audio`);
    const ours = wordsOf(new Uint8Array(await response.arrayBuffer()));
    expect(ours.caller.map(({ text }) => text).join(' ')).toBe('take my card please goodbye');
  });
});

/** What a caller does, by a seed: they speak, wait, and talk over the agent. */
function talkOf(seed: number): CallerStep[] {
  const random = seededRandom(seed);
  const words = ['bread', 'rolls', 'cake', 'three', 'please', 'now', 'today', 'no', 'more', 'tea'];
  const saying = () => {
    const count = 1 + Math.floor(random() * 5);
    return Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(' ');
  };
  const steps: CallerStep[] = [{ type: 'wait-for-agent' }];
  for (let turn = 0; turn < 4; turn += 1) {
    steps.push({ type: 'say', text: saying() });
    if (random() < 0.5) steps.push({ type: 'interrupt', afterMs: 300 + Math.floor(random() * 3000) });
    else steps.push({ type: 'wait-for-agent' });
    if (random() < 0.3) steps.push({ type: 'pause', durationMs: Math.floor(random() * 4000) });
  }
  return [...steps, { type: 'hang-up' }];
}

/** What is read of a recording is told apart where one answer ends and the next begins. */
async function slowly(): Promise<string> {
  await pause(systemClock, 400);
  return LONG;
}

it.each(
  Array.from({ length: runs(2, 50) }, (_, index) => [index + 1, SIMULATED_CARRIERS[index % 2]] as const),
)('call %i of many is as the carrier has it (%s)', async (seed, id = 'carrier-a') => {
  const dataDir = await folder();
  await using running = await startCarrierPhone(
    id,
    { firstMessage: GREETING, tts: toneVoice },
    {
      serve: { dataDir, localRecording: true, dashboardToken: TOKEN, onMessage: slowly },
      simulator: { openVoice: openToneVoice },
    },
  );
  const line = seed % 3 === 0 ? { line: { bunchMs: 20 * (1 + (seed % 8)) } } : {};
  const { record, theirs } = await play(running, talkOf(seed), { maxDurationMs: 120_000, ...line });
  const response = await running.ask(`/calls/${record.callId}/audio`);
  expect(theirs.agent.length).toBeGreaterThan(5);
  expectInStep(wordsOf(new Uint8Array(await response.arrayBuffer())), theirs);
});

it('is in step at the end of a long call', async () => {
  const minutes = runs(2, 60);
  const dataDir = await folder();
  await using running = await startCarrierPhone(
    'carrier-a',
    { firstMessage: GREETING, tts: toneVoice, idle: false },
    {
      serve: {
        dataDir,
        localRecording: true,
        dashboardToken: TOKEN,
        maxCallMinutes: 90,
        onMessage: () => 'thank you for that',
      },
      simulator: { openVoice: openToneVoice },
    },
  );
  const script = Array.from({ length: minutes }, (_, minute): CallerStep[] => [
    { type: 'pause', durationMs: 54_000 },
    { type: 'say', text: `minute ${minute + 1} is over` },
    { type: 'wait-for-agent' },
  ]).flat();
  const { record, theirs } = await play(running, [...script, { type: 'hang-up' }], {
    maxDurationMs: 3_600_000,
  });
  expect(record.localRecording?.durationMs).toBeGreaterThan(minutes * 57_000);
  const response = await running.ask(`/calls/${record.callId}/audio`);
  const ours = wordsOf(new Uint8Array(await response.arrayBuffer()));
  expect(theirs.caller.length).toBe(4 * minutes);
  expectInStep(ours, theirs);
});
