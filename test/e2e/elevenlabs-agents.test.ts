// What is peculiar to an agent that lives at its vendor, in whole calls over both carriers: time is what it costs, it may hang up by
// itself, and it decides what may be replaced of it. What all realtime models do stands in realtime.test.ts.
import { describe, expect, it } from 'vitest';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { ElevenLabsAgents } from '../../src/providers/realtime/index.js';
import { emulateElevenLabsAgents, type EmulateElevenLabsAgentsOptions } from '../../src/testing/index.js';
import { eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const GREETING = 'Hello, this is the bakery.';
const PRICE_PER_MINUTE = 0.6;

async function start(id: (typeof SIMULATED_CARRIERS)[number], emulation: EmulateElevenLabsAgentsOptions) {
  const emulator = await emulateElevenLabsAgents(emulation);
  const settings = { agentId: 'agent-1', pricePerMinute: PRICE_PER_MINUTE };
  const engine = new ElevenLabsAgents({ ...settings, baseUrl: emulator.url });
  const running = await startCarrierPhone(id, { firstMessage: GREETING, engine });
  return {
    emulator,
    running,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

// Calls in real time.
const REAL_TIME = { timeout: 60_000 };

describe.each(playedOn('carrier-b'))('%s, an agent that lives at its vendor', REAL_TIME, (id) => {
  it('costs what its time costs, over a lost connection, too, and hangs up when it has said goodbye', async () => {
    await using scene = await start(id, {
      utterances: ['That is all.'],
      replies: [{ text: 'Thank you, goodbye.' }],
      outputFormat: 'pcm_24000',
      inputFormat: 'pcm_16000',
      vadScores: true,
      end: 'mark',
    });
    const { emulator, running } = scene;
    const calling = running.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'pause', durationMs: 2000 },
        { type: 'say', text: 'That is all.' },
        { type: 'pause', durationMs: 20_000 },
      ],
      maxDurationMs: 25_000,
    });
    await running.active(1, ({ turns }) => turns.length === 1);
    emulator.disconnectAll();
    await eventually('the goodbye', () =>
      emulator.connections.at(-1)?.items.find(({ text }) => text === 'Thank you, goodbye.'),
    );
    // The agent has a tool of its own for that. What it has said is on the way.
    emulator.disconnectAll(1000, 'the agent has ended the conversation');
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'agent-hangup', error: null });
    expect(record.turns.at(-1)).toMatchObject({
      userText: 'That is all.',
      agentText: 'Thank you, goodbye.',
      toolCalls: [{ name: 'end_call', error: null }],
    });
    // The caller's last sound is told by scores: the pause that ends a turn is in the latency.
    expect(record.turns.at(-1)?.latency.totalMs).toBeGreaterThan(500);
    const minutes = (record.cost?.llm ?? 0) / PRICE_PER_MINUTE;
    const answeredMinutes = (record.durationMs ?? 0) / 60_000;
    expect(minutes).toBeGreaterThan(0);
    expect(minutes).toBeLessThanOrEqual(answeredMinutes + 0.01);
    expect(emulator.connections).toHaveLength(2);
    expect(emulator.violations).toEqual([]);
  });

  it('that lets nobody replace its greeting fails the call, and the record names the setting', async () => {
    await using scene = await start(id, { allowedOverrides: [] });
    await scene.running.simulator.call({
      script: [{ type: 'pause', durationMs: 20_000 }],
      maxDurationMs: 20_000,
    });
    const record = await eventually('the record', () => scene.running.records[0], 30_000);
    expect(record.endReason).toBe('provider-failed');
    expect(record.error?.message).toMatch(/refused the override of the .* security settings/);
  });
});
