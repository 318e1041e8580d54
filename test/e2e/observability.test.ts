// What a server tells machines of its calls: metrics, spans and log lines, over whole calls with everything in them.
import { pause } from '../../src/base/pause.js';
import { systemClock } from '../../src/base/clock.js';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SIMULATED_CARRIERS, CallRecord } from '../../src/contract/call-record.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  type EmulatedReply,
} from '../../src/testing/index.js';
import { type CarrierPhone, startCarrierPhone } from '../support/carrier-phone.js';
import { type Family, readExposition, sampleOf, seriesOf } from '../support/exposition.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { playedOn } from '../support/rotated.js';

const KEYS = { ears: 'dg-key-31337', mind: 'sk-key-31337', voice: 'xi-key-31337' };
const TOKEN = 'dashboard-token-31337';
const [CALLER, SALES] = ['+15005550020', '+15005550030'];

const QUESTION = 'Where is my marzipan parcel?';
const KEYED = '4711';

/** What the model does when it is asked: uses a tool that fails, answers, takes keys, hands the caller over, and hears that it failed. */
const REPLIES: readonly EmulatedReply[] = [
  { toolCalls: [{ name: 'find_parcel', arguments: '{"what":"pistachio"}' }] },
  { text: 'The saffron shelf has it.', usage: { input: 90, output: 7 } },
  { text: 'Noted, the cinnamon number.' },
  { text: 'I connect you.', toolCalls: [{ name: 'transfer_call', arguments: '{"to":"sales"}' }] },
  { text: 'Nobody there, vanilla goodbye.' },
];
const WORDS = /marzipan|pistachio|saffron|cinnamon|vanilla|nutmeg|4 ?7 ?1 ?1|31337|5005550|Bearer|\?token/i;

let closing: (() => unknown)[] = [];
let exporter: InMemorySpanExporter;

beforeEach(() => {
  closing = [];
  exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  trace.disable();
});

async function start(id: (typeof SIMULATED_CARRIERS)[number]) {
  const logger = new RecordedLogger();
  const utterances = [QUESTION, 'Please connect me.', 'Nutmeg?'];
  const ears = await emulateDeepgram({ utterances, apiKey: KEYS.ears });
  const mind = await emulateChatCompletions({ replies: REPLIES, apiKey: KEYS.mind });
  const voice = await emulateElevenLabs({ apiKey: KEYS.voice });
  for (const emulator of [ears, mind, voice]) closing.push(() => emulator.close());
  const running = await startCarrierPhone(
    id,
    {
      systemPrompt: 'You answer for a parcel service.',
      firstMessage: 'Hello there.',
      stt: new DeepgramSpeechToText({ apiKey: KEYS.ears, baseUrl: ears.url }),
      llm: new ChatCompletions({ apiKey: KEYS.mind, baseUrl: `${mind.url}/v1` }),
      tts: new ElevenLabsTextToSpeech({ apiKey: KEYS.voice, baseUrl: voice.url }),
      transferTargets: { sales: SALES },
      tools: [
        {
          name: 'find_parcel',
          description: 'Finds it.',
          execute: async () => {
            throw new Error(`no pistachio for ${CALLER}`);
          },
        },
      ],
    },
    {
      serve: {
        logger,
        dashboardToken: TOKEN,
        onTranscript: () => {
          throw new Error('the marzipan callback');
        },
      },
    },
  );
  closing.push(() => running[Symbol.asyncDispose]());
  return { running, logger, ears, mind };
}

/** The record, over the API that wants a token. */
async function recordOf({ records }: CarrierPhone, count: number): Promise<CallRecord> {
  for (let attempt = 0; attempt < 300 && records.length < count; attempt += 1) await pause(systemClock, 50);
  const record = records[count - 1];
  if (record === undefined) throw new Error('the call did not end');
  return record;
}

async function scrape({ server }: CarrierPhone): Promise<ReadonlyMap<string, Family>> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(200);
  return readExposition(await answer.text());
}

/** Every counter of the first scrape, and every bucket, is at least as high in the second. */
function expectRising(before: ReadonlyMap<string, Family>, after: ReadonlyMap<string, Family>): void {
  for (const { name, type, metrics } of before.values()) {
    if (type === 'gauge') continue;
    for (const series of metrics) {
      const later = seriesOf(after, name, series.labels);
      expect(later, name).toBeDefined();
      if (type === 'counter') expect(later?.value, name).toBeGreaterThanOrEqual(series.value);
      for (const [bound, count] of Object.entries(series.buckets))
        expect(later?.buckets[bound], `${name} ${bound}`).toBeGreaterThanOrEqual(count);
    }
  }
}

// Calls in real time.
describe.each(playedOn('carrier-b'))('%s: two calls with everything in them', { timeout: 90_000 }, (id) => {
  it('are told to machines, and nothing of what was said is', async () => {
    const { running, logger, mind } = await start(id);
    const { simulator, server } = running;
    await simulator.call({
      from: CALLER,
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: QUESTION },
        { type: 'wait-for-agent' },
        { type: 'press', digits: KEYED },
        { type: 'pause', durationMs: 6000 },
        { type: 'say', text: 'Please connect me.' },
        { type: 'pause', durationMs: 9000 },
        { type: 'hang-up' },
      ],
      transferTo: { type: 'busy' },
    });
    const first = await recordOf(running, 1);
    expect(first).toMatchObject({ endReason: 'caller-hangup', transfer: { result: 'busy' }, error: null });
    const between = await scrape(running);

    mind.refuseNext({ status: 401, times: 20 });
    await simulator.call({
      from: CALLER,
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'Nutmeg?' },
        { type: 'pause', durationMs: 15_000 },
      ],
    });
    const second = await recordOf(running, 2);
    expect(second.error?.code).toBe('PROVIDER_FAILED');
    const forged = { method: 'POST', body: 'Caller=%2B15005550020' };
    expect((await fetch(`${server.url}/webhooks/${id}/voice`, forged)).status).toBe(403);
    const metrics = await scrape(running);

    expectRising(between, metrics);
    const ended = (reason: string) =>
      sampleOf(metrics, 'offhook_calls_total', {
        direction: 'inbound',
        outcome: 'answered',
        end_reason: reason,
      });
    expect([ended('caller-hangup'), ended('provider-failed')]).toEqual([1, 1]);
    const turns = metrics.get('offhook_turns_total')?.metrics ?? [];
    expect(turns.reduce((sum, { value }) => sum + value, 0)).toBe(first.turns.length + second.turns.length);
    const total = seriesOf(metrics, 'offhook_turn_stage_seconds', { stage: 'total' });
    const answered = [...first.turns, ...second.turns].map(({ latency }) => latency.totalMs ?? 0);
    expect(total?.sum).toBeCloseTo(answered.reduce((sum, ms) => sum + ms, 0) / 1000, 6);
    expect(seriesOf(metrics, 'offhook_frame_lateness_seconds')?.count).toBe(
      (first.media?.framesSent ?? 0) + (second.media?.framesSent ?? 0),
    );
    expect(sampleOf(metrics, 'offhook_outbound_queue_seconds')).toBe(0);
    expect(
      sampleOf(metrics, 'offhook_provider_errors_total', { stage: 'llm', code: 'PROVIDER_FAILED' }),
    ).toBe(1);
    const tools = first.turns.flatMap(({ toolCalls }) => toolCalls);
    expect(tools.map(({ name }) => name)).toEqual(['find_parcel', 'transfer_call']);
    expect(sampleOf(metrics, 'offhook_tool_calls_total', { result: 'error' })).toBe(
      tools.filter(({ error }) => error !== null).length,
    );
    expect(
      metrics.get('offhook_webhooks_refused_total')?.metrics.map(({ labels }) => labels.carrier),
    ).toEqual([id]);

    const spans = exporter.getFinishedSpans();
    const calls = spans.filter(({ name }) => name === 'call');
    expect(calls.map(({ attributes }) => attributes['offhook.call.id'])).toEqual([
      first.callId,
      second.callId,
    ]);
    expect(spans.filter(({ name }) => name === 'invoke_agent')).toHaveLength(
      first.turns.length + second.turns.length,
    );
    expect(spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stt', 'tts', 'execute_tool find_parcel', 'execute_tool transfer_call']),
    );
    const told = spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    expect(JSON.stringify(told)).not.toMatch(WORDS);

    await running.phone.disconnect();
    const { lines } = logger;
    // What the application threw is shown whole, to those alone who ask for that level.
    const audited = lines.filter(({ level, fields }) => level !== 'debug' || !('thrown' in fields));
    expect(audited.length).toBeLessThan(lines.length);
    expect(
      audited.filter(({ fields, sentence }) => WORDS.test(`${sentence} ${JSON.stringify(fields)}`)),
    ).toEqual([]);
    const house =
      /^(listening|transcoder chosen|shut|webhook refused|dashboard|the number|manageWebhook|message of the)/;
    const nameless = lines.filter(({ fields, sentence }) => !('callId' in fields) && !house.test(sentence));
    expect(nameless).toEqual([]);
    expect(lines.map(({ sentence }) => sentence)).toEqual(
      expect.arrayContaining([
        'a tool did not do what the model asked for',
        'The language model failed.',
        'callback failed',
        'call ended',
      ]),
    );
  });
});
