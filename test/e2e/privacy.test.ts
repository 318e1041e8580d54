// Whole calls of which no words and no keys are kept: on both carriers, in both voice modes. Nothing of them is in any file of the data folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions, PrivacyOptions, ServeOptions } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { bytesBelow } from '../support/folder-bytes.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const NOTHING: PrivacyOptions = { transcript: 'none', keys: 'none' };
const SCRIPT: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'My parrot is ill.' },
  { type: 'wait-for-agent' },
  { type: 'press', digits: '7193#' },
  { type: 'pause', durationMs: 4000 },
  { type: 'hang-up' },
];

/** A call with that privacy; all that the application was told of it, and all that the folder holds behind it. */
async function talk(id: (typeof SIMULATED_CARRIERS)[number], agent: AgentOptions, privacy: PrivacyOptions) {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-privacy-'));
  // On the virtual clock the server does not wait as long for the disk to let go of its files.
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }));
  const told: unknown[] = [];
  const asked: string[] = [];
  const tell = (data: unknown) => void told.push(data);
  const serve: Partial<ServeOptions> = {
    dataDir,
    privacy,
    onTranscript: tell,
    onMetrics: tell,
    onCallEnd: tell,
  };
  if (agent.engine === undefined)
    serve.onMessage = ({ text }) => {
      asked.push(text);
      return 'Bring your parrot at noon.';
    };
  let callId = '';
  {
    await using running = await startCarrierPhone(id, agent, {
      serve,
      simulator: { openVoice: openToneVoice },
    });
    running.server.events.subscribe(tell);
    const report = await running.simulator.call({ script: SCRIPT });
    ({ callId } = await running.record(report.carrierCallId));
  }
  return { callId, told: JSON.stringify(told), asked, bytes: await bytesBelow(dataDir) };
}

describe.each(playedOn('carrier-b'))('%s, a call that shall leave no words', (id) => {
  it('tells the model everything, and keeps, shows and reports nothing', { timeout: 40_000 }, async () => {
    const { callId, told, asked, bytes } = await talk(id, { firstMessage: 'Parrot clinic, hello.' }, NOTHING);
    expect(asked.join(' ')).toMatch(/The caller pressed 7 1 9 3 #/);
    expect(bytes).toContain(callId);
    for (const text of [told, bytes]) {
      expect(text).not.toMatch(/parrot/i);
      expect(text).not.toMatch(/pressed|Key \d|dtmf/);
    }
    expect(told).toContain('"turn.completed"');
  });

  it('is found in the folder where it is kept', { timeout: 40_000 }, async () => {
    const { told, bytes } = await talk(id, { firstMessage: 'Parrot clinic, hello.' }, {});
    for (const text of [told, bytes]) expect(text).toMatch(/Parrot clinic/);
    expect(told).toMatch(/"dtmf.received"/);
  });

  it.each(REALTIME_VENDORS)('nor with $name', { timeout: 40_000 }, async (vendor) => {
    const played = await vendor.play({
      utterances: ['My parrot is ill.'],
      replies: [{ text: 'Bring your parrot at noon.' }, { text: 'The parrot thanks you.' }],
    });
    try {
      const agent = { firstMessage: 'Parrot clinic, hello.', engine: played.engine };
      const { callId, told, bytes } = await talk(id, agent, NOTHING);
      expect(bytes).toContain(callId);
      for (const text of [told, bytes]) expect(text).not.toMatch(/parrot|pressed|Key \d|dtmf/i);
    } finally {
      await played.emulator.close();
    }
  });
});
