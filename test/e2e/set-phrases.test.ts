// What the house itself tells a caller, in the language of the agent: through the agent in both voice modes, and through the carrier.
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { type CallerStep, emulateOpenAIRealtime } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const AGENT = { language: 'de', firstMessage: 'Guten Tag, hier ist die Bäckerei.' };
const QUIET: readonly CallerStep[] = [{ type: 'pause', durationMs: 20_000 }];
const BUSY = 'Es tut mir leid, dort ist besetzt. Kann ich sonst noch etwas für Sie tun?';
const GOODBYE = 'Es tut mir leid, ich muss das Gespräch jetzt beenden. Auf Wiederhören.';

const MODES = ['pipeline', 'realtime'] as const;

async function startMode(mode: (typeof MODES)[number]): Promise<{ agent: AgentOptions } & AsyncDisposable> {
  if (mode === 'pipeline') return { agent: AGENT, async [Symbol.asyncDispose]() {} };
  const vendor = await emulateOpenAIRealtime();
  const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${vendor.url}/v1` });
  return { agent: { ...AGENT, engine }, [Symbol.asyncDispose]: () => vendor.close() };
}

describe.each(playedOn('carrier-b'))('%s, an agent in German', { timeout: 60_000 }, (id) => {
  it.each(MODES)('says why a transfer came to nothing: %s', async (mode) => {
    await using vendor = await startMode(mode);
    await using running = await startCarrierPhone(id, vendor.agent);
    const calling = running.simulator.call({
      script: QUIET,
      maxDurationMs: 30_000,
      transferTo: { type: 'busy' },
    });
    const [live] = await running.active(1, ({ transcript }) => transcript.length > 0);
    const callId = live?.callId ?? '';
    await pause(systemClock, 4000);
    await running.phone.transfer(callId, '+15005550077');
    await running.active(1, ({ transfer }) => transfer?.result === 'busy');
    await pause(systemClock, 8000);
    await running.phone.hangUp(callId);
    await calling;
    const { transcript, mode: played } = await running.record(callId);
    expect(played).toBe(mode);
    const said = transcript.filter(({ role }) => role === 'agent').map(({ text }) => text);
    expect(said).toEqual([AGENT.firstMessage, BUSY]);
  });

  it.each(MODES)('is taken off a call over its budget with a goodbye in German: %s', async (mode) => {
    await using vendor = await startMode(mode);
    const serve = { budget: { perCall: 0.005 } };
    await using running = await startCarrierPhone(id, vendor.agent, { serve });
    const report = await running.simulator.call({ script: QUIET });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'budget', mode });
    expect(running.simulator.legs[0]).toMatchObject({ spoken: [GOODBYE], violations: [] });
    const orders = running.simulator.requests.filter(({ purpose }) => purpose === 'speak');
    expect(orders.map(({ body }) => JSON.stringify(body))).toEqual([expect.stringContaining('de-DE')]);
  });
});
