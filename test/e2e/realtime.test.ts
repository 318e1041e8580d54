// One model that hears and speaks, in whole calls over both carriers, on loopback.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CARRIER_IDS } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import {
  type CallerStep,
  emulateOpenAIRealtime,
  type EmulateOpenAIRealtimeOptions,
  type OpenAIRealtimeEmulator,
} from '../../src/testing/index.js';
import { makeEmulatedSpeech } from '../../src/testing/emulators/emulated-speech.js';
import { readWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';
import { type CarrierPhone, eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { makeFolder } from '../support/data-folder.js';

const GREETING = 'Hello, this is the bakery.';
const ANSWER = 'They are ready at noon.';
const LONG = 'We have bread, rolls, cakes and tarts, and then there are cookies of seven kinds, and coffee.';
const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Please do it for me now.' },
  { type: 'pause', durationMs: 20_000 },
];

interface Scene extends AsyncDisposable {
  readonly emulator: OpenAIRealtimeEmulator;
  readonly running: CarrierPhone;
}

async function start(
  id: (typeof CARRIER_IDS)[number],
  emulation: EmulateOpenAIRealtimeOptions,
  agent: AgentOptions = {},
): Promise<Scene> {
  const emulator = await emulateOpenAIRealtime(emulation);
  const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${emulator.url}/v1` });
  const running = await startCarrierPhone(id, { firstMessage: GREETING, engine, ...agent });
  return {
    emulator,
    running,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

/** A carrier that does not report the end of its own last words is looked up after the longest time that they can take. */
function failed(running: CarrierPhone) {
  return eventually('the record of the call', () => running.records[0], 30_000);
}

// Calls in real time: a shared machine that stops for longer than the pacer's lead makes a gap that nobody can mend.
const REAL_TIME = { retry: 2, timeout: 60_000 };

describe.each(CARRIER_IDS)('%s, an agent with a realtime model', REAL_TIME, (id) => {
  it('greets, hears and answers; the record holds it', async () => {
    await using scene = await start(id, {
      utterances: ['Three loaves of bread.'],
      replies: [{ text: 'They are ready at noon.' }],
    });
    const { emulator, running } = scene;
    const report = await running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'Three loaves of bread.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    expect(report).toMatchObject({ ok: true, gaps: [], clears: [], protocolErrors: [] });
    expect(record).toMatchObject({
      mode: 'realtime',
      endReason: 'caller-hangup',
      outcome: 'answered',
      provider: { engine: 'openai/gpt-realtime-2.1-mini', stt: null, llm: null, tts: null },
      turnCount: 2,
      error: null,
    });
    expect(record.transcript.map(({ role, text, final }) => ({ role, text, final }))).toEqual([
      { role: 'agent', text: GREETING, final: true },
      { role: 'user', text: 'Three loaves of bread.', final: true },
      { role: 'agent', text: 'They are ready at noon.', final: true },
    ]);
    const [greeting, answer] = record.turns;
    expect(greeting?.latency.totalMs).toBeNull();
    expect(answer).toMatchObject({ userText: 'Three loaves of bread.', interrupted: false });
    expect(answer?.latency).toMatchObject({ endpointingMs: null, sttMs: null, ttsFirstByteMs: null });
    expect(answer?.latency.totalMs).toBeGreaterThan(400);
    expect(answer?.latency.heardMs).toBeGreaterThanOrEqual(answer?.latency.totalMs ?? 0);
    expect(record.usage?.llmInputTokens).toBeGreaterThan(0);
    expect(record.usage?.llmOutputTokens).toBeGreaterThan(0);
    expect(record.usage?.sttSeconds).toBe(1);
    const [connection] = emulator.connections;
    const format = id === 'carrier-a' ? { type: 'audio/pcmu' } : { type: 'audio/pcm', rate: 24_000 };
    expect(connection?.session).toMatchObject({ audio: { input: { format }, output: { format } } });
    expect(emulator.violations).toEqual([]);
  });

  it('falls silent when the caller interrupts, and the model forgets what was not heard', async () => {
    await using scene = await start(
      id,
      { utterances: ['Stop, I have a question.'], replies: [{ text: 'What is it?' }] },
      { firstMessage: LONG },
    );
    const { emulator, running } = scene;
    const report = await running.simulator.call({
      script: [
        { type: 'interrupt', afterMs: 2500 },
        { type: 'say', text: 'Stop, I have a question.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(report.clears.length).toBeGreaterThanOrEqual(1);
    const [turn, next] = record.turns;
    expect(turn?.interrupted).toBe(true);
    expect(turn?.agentText.startsWith('We have bread')).toBe(true);
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(LONG);
    expect(next).toMatchObject({ userText: 'Stop, I have a question.', agentText: 'What is it?' });
    const cut = emulator.connections[0]?.items.find(({ isTruncated }) => isTruncated);
    // 60 ms of audio for a character: the cut in the model's memory is the cut in ours.
    expect(Math.abs((cut?.audioMs ?? 0) - (turn?.agentText.length ?? 0) * 60)).toBeLessThan(700);
    expect(emulator.violations).toEqual([]);
  });

  it('runs a tool and answers with its result', async () => {
    const call = { name: 'look_up', arguments: '{"what":"price"}' };
    await using scene = await start(
      id,
      {
        utterances: ['What does it cost?'],
        replies: [{ text: 'One moment.', toolCalls: [call] }, { text: 'Ten dollars.' }],
      },
      { tools: [{ name: 'look_up', description: 'Looks it up.', execute: async () => ({ price: 10 }) }] },
    );
    const { emulator, running } = scene;
    const report = await running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'What does it cost?' },
        { type: 'pause', durationMs: 5000 },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    expect(record.turns.at(-1)).toMatchObject({
      userText: 'What does it cost?',
      agentText: 'One moment. Ten dollars.',
      toolCalls: [{ name: 'look_up', error: null }],
    });
    const results = emulator.connections[0]?.items.filter(({ kind }) => kind === 'function_call_output');
    expect(results).toMatchObject([{ text: '{"price":10}' }]);
    expect(emulator.violations).toEqual([]);
  });

  it('ends the call when its goodbye was heard', async () => {
    await using scene = await start(id, {
      utterances: ['That is all.'],
      replies: [{ text: 'Thank you, goodbye.', toolCalls: [{ name: 'end_call', arguments: '{}' }] }],
    });
    const report = await scene.running.simulator.call({ script: ASKS, maxDurationMs: 20_000 });
    const record = await scene.running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'agent-hangup', error: null });
    expect(record.turns.at(-1)).toMatchObject({
      agentText: 'Thank you, goodbye.',
      interrupted: false,
      toolCalls: [{ name: 'end_call', error: null }],
    });
  });

  it('has a caller whom nobody can hear told so by the carrier', async () => {
    await using scene = await start(id, {});
    scene.emulator.refuseNext({ status: 401, times: 10 });
    await scene.running.simulator.call({ script: ASKS, maxDurationMs: 20_000 });
    const record = await failed(scene.running);
    expect(record.endReason).toBe('provider-failed');
    expect(record.error).toMatchObject({ code: 'PROVIDER_FAILED' });
    expect(record.error?.message).toContain('refused the key');
    expect(scene.running.simulator.legs[0]?.spoken).toHaveLength(1);
  });

  it('goes on over another connection, which knows what was said', async () => {
    await using scene = await start(id, {
      utterances: ['Three loaves of bread.', 'And a cake.'],
      replies: [{ text: 'They are ready at noon.' }, { text: 'The cake, too.' }],
    });
    const { emulator, running } = scene;
    const calling = running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'Three loaves of bread.' },
        { type: 'wait-for-agent' },
        { type: 'pause', durationMs: 2000 },
        { type: 'say', text: 'And a cake.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await running.active(1, ({ turns }) => turns.length === 2);
    emulator.disconnectAll();
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(record.endReason).toBe('caller-hangup');
    expect(record.turns.at(-1)).toMatchObject({ userText: 'And a cake.', agentText: 'The cake, too.' });
    expect(emulator.connections).toHaveLength(2);
    expect(emulator.connections[1]?.items.slice(0, 3).map(({ text }) => text)).toEqual([
      GREETING,
      'Three loaves of bread.',
      'They are ready at noon.',
    ]);
    expect(emulator.violations).toEqual([]);
  });

  it('finds a connection that is dead, and goes on over another one', async () => {
    await using scene = await start(id, {
      utterances: ['Three loaves of bread.'],
      replies: [{ text: 'They are ready at noon.' }],
    });
    const { emulator, running } = scene;
    const calling = running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'pause', durationMs: 8000 },
        { type: 'say', text: 'Three loaves of bread.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await running.active(1, ({ turns }) => turns.length === 1);
    emulator.freeze();
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(emulator.connections).toHaveLength(2);
    expect(record.turns.at(-1)).toMatchObject({ agentText: 'They are ready at noon.' });
  });

  it('says sorry through the carrier when the model is gone in the middle of the call', async () => {
    await using scene = await start(id, {}, { firstMessage: LONG });
    const { emulator, running } = scene;
    const calling = running.simulator.call({
      script: [{ type: 'pause', durationMs: 20_000 }],
      maxDurationMs: 20_000,
    });
    await running.active(1, ({ transcript }) => transcript.length > 0);
    emulator.refuseNext({ status: 503, times: 50 });
    emulator.disconnectAll();
    const brokenAt = Date.now();
    const [leg] = running.simulator.legs;
    await eventually('the carrier to say sorry', () => (leg?.spoken.length === 1 ? true : undefined));
    expect(Date.now() - brokenAt).toBeLessThan(5000);
    await calling;
    const record = await failed(running);
    expect(record).toMatchObject({ endReason: 'provider-failed', error: { code: 'PROVIDER_FAILED' } });
    expect(record.turns[0]?.agentText).toMatch(/^We have/);
  });
});

describe('carrier-a, whose line carries what the model says', REAL_TIME, () => {
  it('plays the bytes of the model as they are', async () => {
    await using scene = await start('carrier-a', {
      utterances: ['Three loaves of bread.'],
      replies: [{ text: ANSWER }],
    });
    const recordTo = join(await makeFolder(), 'call.wav');
    const report = await scene.running.simulator.call({
      recordTo,
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'Three loaves of bread.' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    expect(report).toMatchObject({ ok: true, gaps: [], recording: recordTo });
    const [, agent = new Int16Array(0)] = readWav(await readFile(recordTo)).channels;
    const played = Buffer.from(transcoder.mulawEncode(agent));
    const items = scene.emulator.connections[0]?.items.filter(({ role }) => role === 'assistant') ?? [];
    const said = items.map(({ audioMs = 0 }) =>
      transcoder.mulawEncode(makeEmulatedSpeech({ durationMs: audioMs, sampleRateHz: 8000 })),
    );
    expect(said.map(({ length }) => length)).toEqual([GREETING.length * 480, ANSWER.length * 480]);
    let end = 0;
    for (const item of said) {
      const at = played.indexOf(item, end);
      expect(at).toBeGreaterThanOrEqual(end);
      end = at + item.length;
    }
  });
});
