// Two whole calls for each carrier by the real clock and over the real loopback network: what all the others replace is in them.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { type CallerStep, emulateOpenAIRealtime } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';

const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Three loaves of bread.' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];
/** Where the machine is busy, an agent says more than its answer: "One moment.", or whether anybody is there. */
const AGENT: AgentOptions = { idle: false, turnTaking: { fillers: [] } };

describe.concurrent.each(SIMULATED_CARRIERS)('%s, by the real clock', (id) => {
  it('is a call on the local stack, from bell to hang-up', async () => {
    const onMessage = ({ text }: { text: string }) => `You said ${text}`;
    await using running = await startCarrierPhone(id, AGENT, { serve: { onMessage } });
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 150_000 });
    const record = await running.record(report.carrierCallId);
    expect(report.protocolErrors).toEqual([]);
    expect(record).toMatchObject({ endReason: 'caller-hangup', mode: 'pipeline', error: null });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'agent: Hello, how can I help you?',
      'user: Three loaves of bread.',
      'agent: You said Three loaves of bread.',
    ]);
  });

  it('is a call with a realtime model, from bell to hang-up', async () => {
    await using vendor = await emulateOpenAIRealtime({
      utterances: ['Three loaves of bread.'],
      replies: [{ text: 'Here you are.' }],
    });
    const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${vendor.url}/v1` });
    await using running = await startCarrierPhone(id, { ...AGENT, engine });
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 150_000 });
    const record = await running.record(report.carrierCallId);
    expect(report.protocolErrors).toEqual([]);
    expect(record).toMatchObject({ endReason: 'caller-hangup', mode: 'realtime', error: null });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'agent: Hello, how can I help you?',
      'user: Three loaves of bread.',
      'agent: Here you are.',
    ]);
    expect(vendor.violations).toEqual([]);
  });
});
