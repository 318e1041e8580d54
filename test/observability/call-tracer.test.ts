import { createRequire } from 'node:module';
import {
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unknownCost } from '../../src/events/summarize.js';
import { silentLogger } from '../../src/base/log.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { TranscriptEntry, Turn } from '../../src/contract/call-record.js';
import { EventBus } from '../../src/events/bus.js';
import { CallTracer } from '../../src/observability/call-tracer.js';
import { ended, IDENTITY, stamp, started, toolCall, turn } from '../support/call-facts.js';

const T0 = Date.UTC(2026, 0, 1);
const LATENCY = {
  endpointingMs: 400,
  sttMs: 100,
  llmFirstTokenMs: 250,
  sentenceMs: 50,
  ttsFirstByteMs: 120,
  sendMs: 5,
  totalMs: 925,
  heardMs: 1000,
};

let exporter: InMemorySpanExporter;
let bus: EventBus;
let tracer: CallTracer;

function setUp(options: ConstructorParameters<typeof BasicTracerProvider>[0] = {}): void {
  exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    ...options,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  bus = new EventBus(silentLogger);
  tracer = new CallTracer(bus, provider.getTracer('test'));
}

beforeEach(() => setUp());
afterEach(() => trace.disable());

/** Publishes facts at times after T0. */
function tell(callId: string, ...facts: readonly (readonly [atMs: number, fact: CallFact])[]): void {
  for (const [atMs, fact] of facts)
    for (const event of stamp([fact], { callId, at: T0 + atMs })) bus.publish(event);
}

const spans = () => exporter.getFinishedSpans();

function span(name: string): ReadableSpan {
  const found = spans().filter((each) => each.name === name);
  expect(found.map((each) => each.name)).toEqual([name]);
  return found[0] as ReadableSpan;
}

/** Start and end in milliseconds after T0. */
function times(name: string): [number, number] {
  const { startTime, endTime } = span(name);
  const toMs = ([seconds, nanoseconds]: readonly [number, number]) =>
    Math.round(seconds * 1000 - T0 + nanoseconds / 1e6);
  return [toMs(startTime), toMs(endTime)];
}

function parentOf(name: string): string | undefined {
  const id = span(name).parentSpanContext?.spanId;
  return spans().find((each) => each.spanContext().spanId === id)?.name;
}

function entry(fields: Partial<TranscriptEntry>): CallFact {
  const blank = { id: 'agent-1', turnIndex: 1, role: 'agent', text: 'Three loaves.', final: false } as const;
  return { type: 'transcript.segment', entry: { ...blank, at: T0, ...fields } };
}

const completed = (fields: Partial<Turn>): CallFact => ({
  type: 'turn.completed',
  turn: { ...turn(1, LATENCY), ...fields },
});

const provider = {
  engine: null,
  stt: 'ears/nova',
  llm: 'mind/model/7b',
  tts: 'voice',
};
const up: CallFact = { ...started(), provider } as CallFact;

/** The caller stops speaking at 3000, its text is complete at 3500, the first frame of the answer leaves at 3925. */
function wholeCall(): void {
  tell(
    'call-1',
    [0, { type: 'call.status', status: 'ringing', ...IDENTITY }],
    [1000, up],
    [3500, { type: 'turn.started', turnIndex: 1 }],
    [3925, entry({ at: T0 + 3925 })],
    [5000, entry({ at: T0 + 3925, text: 'Three loaves. Anything else?', final: true })],
    [
      5000,
      completed({
        startedAt: T0 + 2000,
        fillerMs: 310,
        toolCalls: [
          toolCall({ name: 'look_up', startedAt: T0 + 3800, durationMs: 40, error: null }),
          toolCall({
            name: 'order',
            startedAt: T0 + 3850,
            durationMs: 60,
            error: 'No such bread for +15550111.',
          }),
        ],
      }),
    ],
    [
      5001,
      {
        type: 'cost.updated',
        cost: {
          stt: 0.01,
          llm: 0.02,
          tts: null,
          telephony: null,
          total: 0.03,
          currency: 'USD',
          estimated: true,
        },
        usage: {
          sttSeconds: 3,
          llmInputTokens: 120,
          llmCachedTokens: 20,
          llmOutputTokens: 12,
          ttsCharacters: 28,
          telephonySeconds: 6,
        },
      },
    ],
    [6000, ended()],
  );
}

describe('spans of a call', () => {
  it('begin and end when it did, one below the other', () => {
    wholeCall();
    expect(Object.fromEntries(spans().map(({ name }) => [name, [...times(name), parentOf(name)]]))).toEqual({
      call: [0, 6000, undefined],
      invoke_agent: [2000, 5000, 'call'],
      endpointing: [3000, 3400, 'invoke_agent'],
      stt: [3400, 3500, 'invoke_agent'],
      'chat model/7b': [3500, 3800, 'invoke_agent'],
      tts: [3800, 3920, 'invoke_agent'],
      send: [3920, 3925, 'invoke_agent'],
      'execute_tool look_up': [3800, 3840, 'invoke_agent'],
      'execute_tool order': [3850, 3910, 'invoke_agent'],
    });
    expect(new Set(spans().map((each) => each.spanContext().traceId)).size).toBe(1);
  });

  it('stand where the turn says that the speech ended, whatever was said since', () => {
    tell(
      'call-1',
      [1000, up],
      [3500, { type: 'turn.started', turnIndex: 1 }],
      // The next turn began before this one was told of.
      [9000, { type: 'turn.started', turnIndex: 2 }],
      [9500, entry({ id: 'agent-2', turnIndex: 2, at: T0 + 9500 })],
      [9600, completed({ startedAt: T0 + 2000, speechEndedAt: T0 + 3000 })],
      [9700, ended()],
    );
    expect(times('endpointing')).toEqual([3000, 3400]);
    expect(times('send')).toEqual([3920, 3925]);
  });

  it('say what they are in the words of the conventions', () => {
    wholeCall();
    expect(span('call').kind).toBe(SpanKind.SERVER);
    expect(span('call').attributes).toEqual({
      'gen_ai.conversation.id': 'call-1',
      'offhook.call.id': 'call-1',
      'offhook.call.carrier': 'carrier-a',
      'offhook.call.carrier_call_id': 'CA0001',
      'offhook.call.direction': 'inbound',
      'offhook.call.caller': '…0111',
      'offhook.call.callee': '…0100',
      'offhook.call.mode': 'pipeline',
      'offhook.call.turns': 2,
      'offhook.call.end_reason': 'caller-hangup',
      'offhook.call.outcome': 'answered',
      'offhook.cost.usd': 0.03,
      'offhook.cost.estimated': true,
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 12,
      'gen_ai.usage.cache_read.input_tokens': 20,
      'offhook.usage.stt_seconds': 3,
      'offhook.usage.tts_characters': 28,
    });
    expect(span('invoke_agent').attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'call-1',
      'gen_ai.provider.name': 'mind',
      'gen_ai.request.model': 'model/7b',
      'offhook.turn.index': 1,
      'offhook.turn.interrupted': false,
      'offhook.turn.latency_ms': 925,
      'offhook.turn.heard_ms': 1000,
      'offhook.turn.filler_ms': 310,
    });
    const chat = span('chat model/7b');
    expect(chat.kind).toBe(SpanKind.CLIENT);
    expect(chat.attributes).toEqual({
      'offhook.stage': 'llm',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'mind',
      'gen_ai.request.model': 'model/7b',
      'gen_ai.response.time_to_first_chunk': 0.25,
    });
    expect(span('stt').attributes).toMatchObject({ 'gen_ai.provider.name': 'ears' });
    expect(span('tts').attributes).toEqual({ 'offhook.stage': 'tts', 'gen_ai.provider.name': 'voice' });
    expect(span('endpointing').kind).toBe(SpanKind.INTERNAL);
    expect(span('execute_tool order').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'order',
      'gen_ai.tool.type': 'function',
      'error.type': '_OTHER',
    });
  });

  it('tell the language that the call was answered in', () => {
    tell('call-1', [0, { ...started(), language: 'de-DE' } as CallFact], [500, ended()]);
    expect(span('call').attributes).toHaveProperty(['offhook.call.language'], 'de-DE');
  });

  it('are errors where something failed, and only there', () => {
    wholeCall();
    const failed = spans().filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ name }) => name)).toEqual(['execute_tool order']);
    exporter.reset();
    const error = { code: 'PROVIDER_FAILED', message: 'It was +15550111.' };
    tell('call-2', [0, up], [10, ended({ endReason: 'provider-failed', error })]);
    expect(span('call').status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span('call').attributes).toMatchObject({ 'error.type': 'PROVIDER_FAILED' });
  });

  it('tell no words, no keys, and no number but its last four digits', () => {
    wholeCall();
    tell(
      'call-2',
      [0, { ...up, direction: 'outbound' } as CallFact],
      [10, entry({ role: 'user', text: 'My secret is tulip.', final: true })],
      [20, { type: 'dtmf.received', digit: '7' }],
      [30, { type: 'transfer.updated', to: '+15550123', result: null }],
      [40, { type: 'transfer.updated', to: '+15550123', result: 'busy' }],
      [50, { type: 'incident.noted', code: 'stream-replaced', message: 'Of +15550123.' }],
      [60, { type: 'amd.detected', amd: { answeredBy: 'human', detectedAt: T0 } }],
      [70, ended()],
    );
    const outbound = spans().find(({ attributes }) => attributes['offhook.call.id'] === 'call-2');
    expect(outbound?.kind).toBe(SpanKind.CLIENT);
    expect(outbound?.attributes).toMatchObject({ 'offhook.call.answered_by': 'human' });
    expect(outbound?.events.map(({ name, attributes = {} }) => [name, ...Object.values(attributes)])).toEqual(
      [
        ['answered'],
        ['transfer', '…0123', 'ordered'],
        ['transfer', '…0123', 'busy'],
        ['incident', 'stream-replaced'],
      ],
    );
    const all = JSON.stringify(
      spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    );
    for (const word of ['555', 'loaves', 'tulip', 'question', 'answer 1', 'bread', 'digit'])
      expect(all).not.toContain(word);
  });
});

it('name the agent of each turn, and the models that it has', () => {
  const of = (agent: string | null) => ({ ...turn(0), startedAt: T0 + 10, agent });
  tell(
    'call-1',
    [0, up],
    [900, { type: 'turn.completed', turn: of(null) }],
    [
      901,
      {
        type: 'agent.changed',
        from: null,
        to: 'billing',
        summary: 'Of a bill with bread on it.',
        mode: 'pipeline',
        provider: { engine: null, stt: 'a/ears', llm: 'b/mind', tts: 'c/voice' },
      },
    ],
    [1800, { type: 'turn.completed', turn: of('billing') }],
    [1900, ended()],
  );
  const turns = spans().filter(({ name }) => name === 'invoke_agent');
  expect(turns.map(({ attributes }) => attributes['gen_ai.agent.name'])).toEqual([undefined, 'billing']);
  expect(turns[1]?.attributes['gen_ai.request.model']).toBe('mind');
  expect(span('call').attributes['gen_ai.agent.name']).toBe('billing');
  expect(span('call').events.map(({ name, attributes }) => [name, attributes])).toContainEqual([
    'handoff',
    { 'offhook.handoff.to': 'billing' },
  ]);
  expect(JSON.stringify(spans().map(({ attributes, events }) => [attributes, events]))).not.toContain(
    'bread',
  );
});

describe('turns whose times are only partly known', () => {
  it('that the agent opens have no stages', () => {
    tell(
      'call-1',
      [0, up],
      [10, { type: 'turn.started', turnIndex: 0 }],
      [900, { type: 'turn.completed', turn: { ...turn(0), startedAt: T0 + 10 } }],
      [1000, ended()],
    );
    expect(spans().map(({ name }) => name)).toEqual(['invoke_agent', 'call']);
    expect(times('invoke_agent')).toEqual([10, 900]);
  });

  it('that end before a sound are told as far as they came', () => {
    const latency = { endpointingMs: 400, sttMs: 100, llmFirstTokenMs: 250 };
    tell(
      'call-1',
      [0, up],
      [3500, { type: 'turn.started', turnIndex: 1 }],
      [3900, { type: 'turn.completed', turn: { ...turn(1, latency), startedAt: T0 + 2000 } }],
      [4000, ended()],
    );
    expect([times('endpointing'), times('stt'), times('chat model/7b')]).toEqual([
      [3000, 3400],
      [3400, 3500],
      [3500, 3750],
    ]);
    expect(spans().map(({ name }) => name)).not.toContain('tts');
  });

  it('that had a filler before the answer are dated by the answer', () => {
    tell(
      'call-1',
      [0, up],
      [3500, { type: 'turn.started', turnIndex: 1 }],
      [3700, entry({ id: 'filler-1', text: 'One moment.', at: T0 + 3700, final: true })],
      [3925, entry({ at: T0 + 3925 })],
      [5000, completed({ startedAt: T0 + 2000 })],
      [5000, ended()],
    );
    expect(times('endpointing')).toEqual([3000, 3400]);
  });

  it('do not take the times of the turn before', () => {
    tell(
      'call-1',
      [0, up],
      [3500, { type: 'turn.started', turnIndex: 1 }],
      [3925, entry({ at: T0 + 3925 })],
      [5000, completed({ startedAt: T0 + 2000 })],
      [5100, completed({ index: 2, startedAt: T0 + 5000 })],
      [6000, ended()],
    );
    expect(spans().filter(({ name }) => name === 'stt')).toHaveLength(1);
  });

  it('tell the tokens of each turn', () => {
    const used = (llmInputTokens: number, llmCachedTokens: number, llmOutputTokens: number): CallFact => ({
      type: 'cost.updated',
      cost: unknownCost(),
      usage: {
        sttSeconds: 0,
        llmInputTokens,
        llmCachedTokens,
        llmOutputTokens,
        ttsCharacters: 0,
        telephonySeconds: 6,
      },
    });
    tell(
      'call-1',
      [0, up],
      [3500, { type: 'turn.started', turnIndex: 0 }],
      [3925, entry({ at: T0 + 3925 })],
      [4000, used(100, 0, 10)],
      [4001, completed({ index: 0 })],
      [5000, completed({ index: 1, latency: turn(1).latency })],
      [6000, used(130, 20, 15)],
      [6100, { type: 'turn.started', turnIndex: 2 }],
      [6400, entry({ at: T0 + 6525 })],
      [6500, used(160, 50, 30)],
      [7000, completed({ index: 2 })],
      [8000, ended()],
    );
    const tokens = (name: string) =>
      spans()
        .filter((each) => each.name === name)
        .map(({ attributes }) =>
          ['input_tokens', 'output_tokens', 'cache_read.input_tokens'].map(
            (kind) => attributes[`gen_ai.usage.${kind}`],
          ),
        );
    const nothing = [undefined, undefined, undefined];
    expect(tokens('invoke_agent')).toEqual([[100, 10, 0], nothing, [60, 20, 50]]);
    expect(tokens('chat model/7b')).toEqual([
      [100, 10, 0],
      [60, 20, 50],
    ]);
    expect(tokens('call')).toEqual([[160, 30, 50]]);
  });

  it('whose tool still runs tell of it until then', () => {
    tell(
      'call-1',
      [0, up],
      [
        100,
        completed({
          toolCalls: [toolCall({ name: 'slow', startedAt: T0 + 40, durationMs: null, error: null })],
        }),
      ],
      [200, ended()],
    );
    expect(times('execute_tool slow')).toEqual([40, 100]);
  });
});

describe('what is kept of calls', () => {
  it('is nothing without an SDK', () => {
    const own = new EventBus(silentLogger);
    const idle = new CallTracer(own);
    for (const event of stamp([up, ended()])) own.publish(event);
    for (const event of stamp([up], { callId: 'call-2' })) own.publish(event);
    expect(spans()).toEqual([]);
    idle.close();
  });

  it('is what an SDK that is registered later asks for', () => {
    const own = new EventBus(silentLogger);
    const late = new CallTracer(own);
    for (const event of stamp([up, ended()], { callId: 'before' })) own.publish(event);
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    for (const event of stamp([up, ended()], { callId: 'after' })) own.publish(event);
    expect(spans().map(({ attributes }) => attributes['offhook.call.id'])).toEqual(['after']);
    const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
    expect(spans()[0]?.instrumentationScope).toMatchObject({ name: 'offhook', version });
    late.close();
  });

  it('is nothing of a call that is not sampled', () => {
    setUp({ sampler: new AlwaysOffSampler() });
    wholeCall();
    expect(spans()).toEqual([]);
  });

  it('does not become a child of whatever is going on', () => {
    const around = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 });
    const manager: ContextManager = {
      active: () => trace.setSpan(ROOT_CONTEXT, around),
      with: (_context, task, self, ...args) => task.call(self as never, ...args),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
    wholeCall();
    context.disable();
    expect(span('call').parentSpanContext).toBeUndefined();
  });

  it('is nothing after the end, and late facts open nothing', () => {
    wholeCall();
    exporter.reset();
    tell('call-1', [7000, completed({})], [7001, ended()]);
    tracer.close();
    expect(spans()).toEqual([]);
  });

  it('ends with the last fact when the server closes', () => {
    tell('call-1', [0, up], [700, { type: 'turn.started', turnIndex: 0 }]);
    tracer.close();
    expect(times('call')).toEqual([0, 700]);
    tell('call-2', [0, up], [1, ended()]);
    tracer.close();
    expect(spans()).toHaveLength(1);
  });

  it('is bounded: of ten thousand calls without an end the oldest is given up', () => {
    for (let index = 0; index <= 10_000; index += 1) tell(`call-${index}`, [index, up]);
    expect(spans().map(({ attributes }) => attributes['offhook.call.id'])).toEqual(['call-0']);
  });
});
