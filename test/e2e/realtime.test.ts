// One model that hears and speaks, in whole calls over both carriers, on loopback.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { type CarrierPhone, eventually, startCarrierPhone } from '../support/carrier-phone.js';
import {
  type PlayedVendor,
  REALTIME_VENDORS,
  type RealtimeScript,
  type RealtimeVendor,
} from '../support/realtime-vendors.js';
import { rotated } from '../support/rotated.js';

const GREETING = 'Hello, this is the bakery.';
const LONG = 'We have bread, rolls, cakes and tarts, and then there are cookies of seven kinds, and coffee.';
const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Please do it for me now.' },
  { type: 'pause', durationMs: 20_000 },
];

const ORDER: RealtimeScript = {
  utterances: ['Three loaves of bread.'],
  replies: [{ text: 'They are ready at noon.' }],
};
const TWO_ORDERS: RealtimeScript = {
  utterances: ['Three loaves of bread.', 'And a cake.'],
  replies: [{ text: 'They are ready at noon.' }, { text: 'The cake, too.' }],
};
const twoOrders = (pauseMs: number): readonly CallerStep[] => [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Three loaves of bread.' },
  { type: 'wait-for-agent' },
  { type: 'pause', durationMs: pauseMs },
  { type: 'say', text: 'And a cake.' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

type CarrierId = (typeof SIMULATED_CARRIERS)[number];

interface Scene extends AsyncDisposable {
  readonly played: PlayedVendor;
  readonly running: CarrierPhone;
}

async function start(
  { vendor, id }: { vendor: RealtimeVendor; id: CarrierId },
  script: RealtimeScript,
  agent: AgentOptions = {},
): Promise<Scene> {
  const played = await vendor.play(script);
  const { engine } = played;
  const running = await startCarrierPhone(
    id,
    { firstMessage: GREETING, engine, ...agent },
    { simulator: { openVoice: openToneVoice } },
  );
  return {
    played,
    running,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await played.emulator.close();
    },
  };
}

/** A call by this script, and what was kept of it. */
async function talk(
  { running }: Scene,
  script: readonly CallerStep[],
  limits: { maxDurationMs?: number } = {},
) {
  const report = await running.simulator.call({ script, ...limits });
  return { report, record: await running.record(report.carrierCallId) };
}

/** A carrier that does not report the end of its own last words is looked up after the longest time that they can take. */
function failed(running: CarrierPhone) {
  return eventually('the record of the call', () => running.records[0], 30_000);
}

// Calls in real time.
const REAL_TIME = { timeout: 60_000 };

const LINES = rotated(
  REALTIME_VENDORS.flatMap((vendor) => SIMULATED_CARRIERS.map((id) => ({ vendor, id, name: vendor.name }))),
  [({ name }) => name, ({ id }) => id],
);

describe.concurrent.each(LINES)('$id, an agent with the model $name', REAL_TIME, (line) => {
  const { vendor, id } = line;

  it('greets, hears and answers; the record holds it', async () => {
    await using scene = await start(line, ORDER);
    const { played } = scene;
    const { report, record } = await talk(scene, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Three loaves of bread.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, clears: [], protocolErrors: [] });
    expect(record).toMatchObject({
      mode: 'realtime',
      endReason: 'caller-hangup',
      outcome: 'answered',
      provider: { engine: vendor.name, stt: null, llm: null, tts: null },
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
    const used = [record.usage?.llmInputTokens, record.usage?.llmOutputTokens];
    expect(used.map((tokens) => (tokens ?? 0) > 0)).toEqual(Array(2).fill(vendor.billedBy === 'tokens'));
    expect(record.cost.llm).toBeGreaterThan(0);
    expect(record.usage?.sttSeconds).toBe(vendor.sttSeconds);
    expect(played.connections[0]?.formats).toEqual(vendor.format(id));
    expect(played.emulator.violations).toEqual([]);
  });

  it('falls silent when the caller interrupts, and the model forgets what was not heard', async () => {
    await using scene = await start(
      line,
      { utterances: ['Stop, I have a question.'], replies: [{ text: 'What is it?' }] },
      { firstMessage: LONG },
    );
    const { played } = scene;
    const { report, record } = await talk(scene, [
      { type: 'interrupt', afterMs: 2500 },
      { type: 'say', text: 'Stop, I have a question.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(report.clears.length).toBeGreaterThanOrEqual(1);
    const [turn, next] = record.turns;
    expect(turn?.interrupted).toBe(true);
    expect(turn?.agentText.startsWith('We have bread')).toBe(true);
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(LONG);
    expect(next).toMatchObject({ userText: 'Stop, I have a question.', agentText: 'What is it?' });
    // 60 ms of audio for a character: the cut in the model's memory is the cut in ours.
    const heardMs = (turn?.agentText.length ?? 0) * 60;
    const keptMs = played.connections[0]?.keptMs;
    if (vendor.truncates) expect(Math.abs((keptMs ?? 0) - heardMs)).toBeLessThan(700);
    else expect(keptMs).toBeUndefined();
    expect(played.emulator.violations).toEqual([]);
  });

  it('finishes a greeting that may not be interrupted, and answers once what was said into it', async () => {
    await using scene = await start(line, ORDER, { turnTaking: { interruptibleGreeting: false } });
    const { played } = scene;
    const { report, record } = await talk(scene, [
      { type: 'interrupt', afterMs: 400 },
      { type: 'say', text: 'Three loaves of bread.' },
      { type: 'pause', durationMs: 5000 },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ clears: [], protocolErrors: [] });
    expect(record.turns).toMatchObject([
      { userText: '', agentText: GREETING, interrupted: false },
      { userText: 'Three loaves of bread.', agentText: 'They are ready at noon.', interrupted: false },
    ]);
    expect(played.emulator.violations).toEqual([]);
  });

  it('runs a tool and answers with its result', async () => {
    const call = { name: 'look_up', arguments: '{"what":"price"}' };
    await using scene = await start(
      line,
      {
        utterances: ['What does it cost?'],
        replies: [{ text: 'One moment.', toolCalls: [call] }, { text: 'Ten dollars.' }],
      },
      { tools: [{ name: 'look_up', description: 'Looks it up.', execute: async () => ({ price: 10 }) }] },
    );
    const { played } = scene;
    const { record } = await talk(scene, [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'What does it cost?' },
      { type: 'pause', durationMs: 5000 },
      { type: 'hang-up' },
    ]);
    expect(record.turns.at(-1)).toMatchObject({
      userText: 'What does it cost?',
      agentText: 'One moment. Ten dollars.',
      toolCalls: [{ name: 'look_up', error: null }],
    });
    expect(played.connections[0]?.results).toEqual(['{"price":10}']);
    expect(played.emulator.violations).toEqual([]);
  });

  it('ends the call when its goodbye was heard', async () => {
    await using scene = await start(line, {
      utterances: ['That is all.'],
      replies: [{ text: 'Thank you, goodbye.', toolCalls: [{ name: 'end_call', arguments: '{}' }] }],
    });
    const { record } = await talk(scene, ASKS, { maxDurationMs: 20_000 });
    expect(record).toMatchObject({ endReason: 'agent-hangup', error: null });
    expect(record.turns.at(-1)).toMatchObject({
      agentText: 'Thank you, goodbye.',
      interrupted: false,
      toolCalls: [{ name: 'end_call', error: null }],
    });
  });

  it('has a caller whom nobody can hear told so by the carrier', async () => {
    await using scene = await start(line, {});
    scene.played.emulator.refuseNext({ status: 401, times: 10 });
    await scene.running.simulator.call({ script: ASKS, maxDurationMs: 20_000 });
    const record = await failed(scene.running);
    expect(record.endReason).toBe('provider-failed');
    expect(record.error).toMatchObject({ code: 'PROVIDER_FAILED' });
    expect(record.error?.message).toContain('refused the key');
    expect(scene.running.simulator.legs[0]?.spoken).toHaveLength(1);
  });

  it('goes on over another connection, which knows what was said', async () => {
    await using scene = await start(line, TWO_ORDERS);
    const { played, running } = scene;
    const calling = talk(scene, twoOrders(2000));
    await running.active(1, ({ turns }) => turns.length === 2);
    played.emulator.disconnectAll();
    const { record } = await calling;
    expect(record.endReason).toBe('caller-hangup');
    expect(record.turns.at(-1)).toMatchObject({ userText: 'And a cake.', agentText: 'The cake, too.' });
    expect(played.connections).toHaveLength(2);
    expect(played.connections[1]?.texts.slice(0, 3)).toEqual([
      GREETING,
      'Three loaves of bread.',
      'They are ready at noon.',
    ]);
    expect(played.emulator.violations).toEqual([]);
  });

  it.runIf(vendor.saysGoodbye)('changes a connection that is nearly over in a silence', async () => {
    await using scene = await start(line, TWO_ORDERS);
    const { played, running } = scene;
    const calling = talk(scene, twoOrders(2500));
    await running.active(1, ({ turns }) => turns.length === 1);
    played.goAway?.();
    const { report, record } = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record.turns.map(({ agentText }) => agentText)).toEqual([
      GREETING,
      'They are ready at noon.',
      'The cake, too.',
    ]);
    expect(played.connections.length).toBeGreaterThan(1);
    expect(played.connections.at(-1)?.texts[0]).toBe(GREETING);
    expect(played.emulator.violations).toEqual([]);
  });

  it.runIf(vendor.pings)('finds a connection that is dead, and goes on over another one', async () => {
    await using scene = await start(line, ORDER);
    const { played, running } = scene;
    const calling = talk(scene, [
      { type: 'wait-for-agent' },
      { type: 'pause', durationMs: 8000 },
      { type: 'say', text: 'Three loaves of bread.' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    await running.active(1, ({ turns }) => turns.length === 1);
    played.emulator.freeze();
    const { record } = await calling;
    expect(played.connections).toHaveLength(2);
    expect(record.turns.at(-1)).toMatchObject({ agentText: 'They are ready at noon.' });
  });

  it('apologizes through the carrier when the model is gone in the middle of the call', async () => {
    await using scene = await start(line, {}, { firstMessage: LONG });
    const { played, running } = scene;
    const calling = running.simulator.call({
      script: [{ type: 'pause', durationMs: 20_000 }],
      maxDurationMs: 20_000,
    });
    await running.active(1, ({ transcript }) => transcript.length > 0);
    played.emulator.refuseNext({ status: 503, times: 50 });
    played.emulator.disconnectAll();
    const [leg] = running.simulator.legs;
    await eventually('the carrier to apologize', () => (leg?.spoken.length === 1 ? true : undefined));
    await calling;
    const record = await failed(running);
    expect(record).toMatchObject({ endReason: 'provider-failed', error: { code: 'PROVIDER_FAILED' } });
    expect(record.turns[0]?.agentText).toMatch(/^We have/);
  });
});
