// What is kept of tools where not everything is: on both carriers, in both voice modes, in whatever a server tells, shows and writes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PrivacyOptions } from '../../src/index.js';
import { openToneVoice } from '../../src/testing/index.js';
import { ASKING_CASES, ASKING_MODES, ASKS } from '../support/asking-modes.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { bytesBelow } from '../support/folder-bytes.js';

/** In what the tool is called with, in what it gives, in its error, and in the name of one that the model makes up. */
const SECRET = 'tulip';
const MADE_UP = `look up: ${SECRET}`;
const CALLS = ['check_pin', 'lose_pin', MADE_UP].map((name) => ({
  name,
  arguments: `{"pin":"${SECRET}-7193"}`,
}));
const TOOLS = [
  {
    name: 'check_pin',
    description: 'Checks a PIN.',
    parameters: { type: 'object', properties: { pin: { type: 'string' } } },
    execute: async ({ pin }: { pin?: unknown }) => ({ pin, isRight: true }),
  },
  {
    name: 'lose_pin',
    description: 'Loses a PIN.',
    parameters: { type: 'object', properties: { pin: { type: 'string' } } },
    execute: async ({ pin }: { pin?: unknown }): Promise<never> => {
      throw new Error(`No account for ${pin}.`);
    },
  },
];

interface Policy {
  readonly privacy: PrivacyOptions;
  /** What the transcript says of the tools. */
  readonly entries: readonly (string | RegExp)[];
  readonly errors: readonly (string | RegExp | null)[];
}

const POLICIES: readonly Policy[] = [
  {
    privacy: { keys: 'none' },
    entries: ['check_pin: done', 'lose_pin failed', '[unknown tool] failed'],
    errors: [null, 'The tool failed.', 'The tool failed.'],
  },
  {
    privacy: { transcript: 'redacted', keys: 'none' },
    entries: ['check_pin: done', 'lose_pin failed', '[unknown tool] failed'],
    errors: [null, 'The tool failed.', 'The tool failed.'],
  },
  { privacy: { transcript: 'none' }, entries: [], errors: [null, 'The tool failed.', 'The tool failed.'] },
];

describe.each(ASKING_CASES)('tools on $id with $mode', { timeout: 60_000 }, ({ id, mode }) => {
  async function talk(privacy: PrivacyOptions) {
    const dataDir = await mkdtemp(join(tmpdir(), 'offhook-tools-'));
    // On the virtual clock the server does not wait as long for the disk to let go of its files.
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }));
    const told: unknown[] = [];
    const tell = (data: unknown) => void told.push(data);
    const made = await ASKING_MODES[mode](CALLS);
    onTestFinished(() => made.close());
    const callbacks = { onTranscript: tell, onMetrics: tell, onCallEnd: tell };
    const agent = { firstMessage: 'Hello.', tools: TOOLS, ...made.agent };
    await using running = await startCarrierPhone(id, agent, {
      serve: { dataDir, privacy, ...callbacks },
      simulator: { openVoice: openToneVoice },
    });
    running.server.events.subscribe(tell);
    const report = await running.simulator.call({ script: ASKS, maxDurationMs: 40_000 });
    const record = await running.record(report.carrierCallId);
    const exported = await (await running.ask('/export/calls?format=json')).text();
    await running.phone.disconnect();
    const texts = { told: JSON.stringify(told), exported, disk: await bytesBelow(dataDir) };
    return { record, texts, results: made.results() };
  }

  it('are in record, callbacks, export and files where everything is kept', async () => {
    const { texts } = await talk({});
    for (const [where, text] of Object.entries(texts)) expect(text, where).toContain(SECRET);
  });

  it.each(POLICIES)(
    'are known by what became of them alone with $privacy',
    async ({ privacy, entries, errors }) => {
      const { record, texts, results } = await talk(privacy);
      expect(results.join(' ')).toContain(`"pin":"${SECRET}-7193"`);
      for (const [where, text] of Object.entries(texts)) expect(text, where).not.toContain(SECRET);
      const lines = record.transcript.flatMap(({ role, text }) => (role === 'tool' ? [text] : []));
      expect(lines.slice(0, 3)).toEqual(entries);
      const tools = record.turns.flatMap(({ toolCalls }) => toolCalls).slice(0, 3);
      const names = CALLS.map(({ name }) => (name === MADE_UP ? '[unknown tool]' : name));
      expect(tools).toMatchObject(
        names.map((name, index) => ({ name, arguments: null, result: null, error: errors[index] })),
      );
    },
  );
});
