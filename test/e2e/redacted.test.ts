// Whole calls of which private numbers and addresses are redacted: on both carriers, in both voice modes. All that a server keeps, shows, reports
// and logs is read, the files of the data folder byte by byte.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions, PrivacyOptions, ServeOptions } from '../../src/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { bytesBelow } from '../support/folder-bytes.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { playedOn } from '../support/rotated.js';

const SAID = [
  'My card is four nine two nine, one two three four.',
  'Five six seven eight.',
  'Nine oh one two. Mail anna dot meier at example dot com.',
];
const ANSWERS = [
  'I have 4929 1234, go on.',
  'I have 5678, go on.',
  'I write to anna.meier@example.com and call 0171 3920045. Your order 48213 costs 24.99 euros.',
];
/** None of them is a part of an ID or a time. */
const WORDS =
  /four nine|nine two nine|one two three|six seven eight|oh one two|\banna\b|meier|4929 1234|have 5678|3920045/i;
const SCRIPT: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  ...SAID.flatMap((text): CallerStep[] => [{ type: 'say', text }, { type: 'wait-for-agent' }]),
  { type: 'pause', durationMs: 1000 },
  { type: 'hang-up' },
];

/** A call; all that the page, the application, spans and log were told of it, and all that the folder holds behind it. */
async function talk(id: (typeof SIMULATED_CARRIERS)[number], agent: AgentOptions, privacy: PrivacyOptions) {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-redacted-'));
  // On the virtual clock the server does not wait as long for the disk to let go of its files.
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20 }));
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  onTestFinished(() => trace.disable());
  const logger = new RecordedLogger();
  const told: Record<string, string> = {};
  const tell = (name: string) => (data: unknown) => {
    told[name] = `${told[name] ?? ''}${JSON.stringify(data)}\n`;
  };
  const asked: string[] = [];
  const serve: Partial<ServeOptions> = {
    dataDir,
    privacy,
    logger,
    onTranscript: tell('onTranscript'),
    onMetrics: tell('onMetrics'),
    onCallEnd: tell('onCallEnd'),
  };
  if (agent.engine === undefined)
    serve.onMessage = ({ text }) => {
      asked.push(text);
      return ANSWERS[asked.length - 1] ?? 'Thank you.';
    };
  {
    await using running = await startCarrierPhone(id, agent, {
      serve,
      simulator: { openVoice: openToneVoice },
    });
    const { url, events } = running.server;
    events.subscribe(tell('events'));
    const stopped = new AbortController();
    const stream = await fetch(`${url}/api/dashboard/events`, { signal: stopped.signal });
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of stream.body ?? [])
        told.sse = `${told.sse ?? ''}${decoder.decode(bytes as Uint8Array, { stream: true })}`;
    })().catch(() => {});
    const report = await running.simulator.call({ script: SCRIPT });
    const { callId } = await running.record(report.carrierCallId);
    for (const path of [
      `calls/${callId}`,
      'calls',
      'export/calls?format=json',
      'export/calls?format=csv',
      'aggregates',
      'active',
    ])
      told[path] = await fetch(`${url}/api/dashboard/${path}`).then((response) => response.text());
    stopped.abort();
    await reading;
  }
  told.spans = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events })),
  );
  told.log = logger.text;
  told.disk = await bytesBelow(dataDir);
  return { told, asked };
}

/** What has words in it, where they are kept. */
const WITH_WORDS = [
  'onTranscript',
  'onMetrics',
  'onCallEnd',
  'events',
  'sse',
  'export/calls?format=json',
  'disk',
];

function expectRedacted(told: Record<string, string>): void {
  expect(Object.keys(told).sort()).toEqual(expect.arrayContaining([...WITH_WORDS, 'spans', 'log']));
  for (const [name, text] of Object.entries(told)) expect(text, name).not.toMatch(WORDS);
  for (const name of WITH_WORDS) {
    expect(told[name], name).toContain('[card number]');
    expect(told[name], name).toContain('[e-mail address]');
    expect(told[name], name).toContain('48213 costs 24.99 euros');
  }
}

describe.each(playedOn('carrier-a'))('%s, a call that is redacted', (id) => {
  it('tells the model everything, and nobody else what is private', { timeout: 40_000 }, async () => {
    const { told, asked } = await talk(
      id,
      { firstMessage: 'Your card number, please?' },
      { transcript: 'redacted' },
    );
    expect(asked.join(' ')).toMatch(/four nine two nine.*six seven eight.*nine oh one two.*anna dot meier/is);
    expectRedacted(told);
  });

  it('is read as it was said where nothing is redacted', { timeout: 40_000 }, async () => {
    const { told } = await talk(id, { firstMessage: 'Your card number, please?' }, {});
    for (const name of WITH_WORDS) expect(told[name], name).toMatch(WORDS);
  });

  it.each(REALTIME_VENDORS)('nor with $name', { timeout: 40_000 }, async (vendor) => {
    const played = await vendor.play({
      utterances: SAID,
      replies: [{ text: 'Your card number, please?' }, ...ANSWERS.map((text) => ({ text }))],
    });
    try {
      const { told } = await talk(
        id,
        { firstMessage: 'Your card number, please?', engine: played.engine },
        { transcript: 'redacted' },
      );
      for (const [name, text] of Object.entries(told)) expect(text, name).not.toMatch(WORDS);
      for (const name of WITH_WORDS) expect(told[name], name).toContain('[card number]');
    } finally {
      await played.emulator.close();
    }
  });
});
