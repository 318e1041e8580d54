import { beforeEach, describe, expect, it } from 'vitest';
import { attachCallbacks, type CallCallbacks } from '../../../src/calls/facts/callbacks.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { EventBus } from '../../../src/events/bus.js';
import { replayCall } from '../../../src/events/reduce.js';
import { MemoryStore } from '../../../src/stores/memory-store.js';
import { ended, IDENTITY, stamp, started, toolCall, turn } from '../../support/call-facts.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

const entry = { id: 'a', turnIndex: 0, role: 'user', text: 'hello', at: 5, final: true } as const;
const CALL = stamp([
  started(),
  { type: 'transcript.segment', entry: { ...entry, text: 'hel', final: false } },
  { type: 'transcript.segment', entry },
  { type: 'transcript.segment', entry: { ...entry, id: 'b', text: '' } },
  { type: 'turn.completed', turn: turn(0, { totalMs: 700 }) },
  ended(),
]);

describe('attachCallbacks', () => {
  let logger: RecordedLogger;
  let bus: EventBus;
  let told: [string, unknown][];
  const tell = (name: string) => (data: unknown) => void told.push([name, data]);
  const play = async (callbacks: CallCallbacks, events: readonly CallEvent[] = CALL) => {
    const attached = attachCallbacks(bus, { callbacks, logger });
    for (const event of events) bus.publish(event);
    await bus.settled();
    await new Promise((resolve) => setImmediate(resolve));
    return attached;
  };

  beforeEach(() => {
    logger = new RecordedLogger();
    bus = new EventBus(logger);
    told = [];
  });

  it('tells the application of start, final segments, turns and end, with typed payloads', async () => {
    await play({
      onCallStart: tell('start'),
      onCallEnd: tell('end'),
      onTranscript: tell('transcript'),
      onMetrics: tell('metrics'),
    });
    expect(told.map(([name]) => name)).toEqual(['start', 'transcript', 'metrics', 'end']);
    const party = { callId: 'call-1', ...IDENTITY, agent: null };
    expect(told[0]?.[1]).toEqual({
      ...party,
      startedAt: 1_000_000,
      mode: 'pipeline',
      provider: { engine: null, stt: 'fake/stt', llm: 'fake/llm', tts: 'fake/tts' },
    });
    const { final: _final, ...shown } = entry;
    expect(told[1]?.[1]).toEqual({ ...party, ...shown, interrupted: false });
    expect(told[2]?.[1]).toMatchObject({
      ...party,
      turn: { index: 0, latency: { totalMs: 700 } },
      latency: { avgMs: 700 },
      cost: { total: 0, currency: 'USD' },
    });
    expect(told[3]?.[1]).toMatchObject({
      ...party,
      status: 'completed',
      transcript: [{ text: 'hello' }],
      turns: [{ index: 0 }],
      endReason: 'caller-hangup',
    });
  });

  it('runs onCallEnd when the record is stored', async () => {
    const store = new MemoryStore();
    bus.subscribeDurable(async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await store.append(event);
    });
    const stored: unknown[] = [];
    await play({ onCallEnd: async ({ callId }) => void stored.push((await store.get(callId))?.status) });
    await new Promise((resolve) => setImmediate(resolve));
    expect(stored).toEqual(['completed']);
  });

  it('runs onCallEnd, and not onCallStart, for a call that never connected', async () => {
    const refused = stamp([
      { type: 'call.status', status: 'initiated', ...IDENTITY },
      ended({ outcome: 'busy' }),
    ]);
    await play({ onCallStart: tell('start'), onCallEnd: tell('end') }, refused);
    expect(told).toMatchObject([['end', { outcome: 'busy', answeredAt: null }]]);
  });

  it('a callback that throws, rejects or never returns is felt by nobody', async () => {
    const attached = await play({
      onCallStart: () => {
        throw new Error('private words');
      },
      onTranscript: async () => {
        throw new TypeError('private words');
      },
      onMetrics: () => new Promise(() => {}),
      onCallEnd: tell('end'),
    });
    expect(told.map(([name]) => name)).toEqual(['end']);
    const here = expect.arrayContaining([expect.stringContaining('callbacks.test.ts')]);
    const whole = { thrown: expect.stringContaining('private words') };
    const failures = [
      { level: 'error', fields: { callback: 'onCallStart', error: 'Error' }, sentence: 'callback failed' },
      { level: 'error', fields: { callback: 'onTranscript', error: 'TypeError', at: here } },
    ];
    expect(logger.lines.filter(({ level }) => level !== 'debug')).toMatchObject(failures);
    expect(JSON.stringify(logger.lines.filter(({ level }) => level !== 'debug'))).not.toContain('private');
    expect(logger.lines.filter(({ level }) => level === 'debug')).toMatchObject([
      { fields: { callback: 'onCallStart', ...whole } },
      { fields: { callback: 'onTranscript', ...whole } },
    ]);
    await attached.settled();
  });

  it('a callback that changes its payload changes nothing of ours', async () => {
    const second = new MemoryStore();
    bus.subscribeDurable((event) => second.append(event));
    await play({
      onMetrics: (data) => void Object.assign(data.turn, { userText: 'changed' }),
      onCallEnd: (record) => void record.turns.splice(0),
    });
    expect((await second.get('call-1'))?.turns).toMatchObject([{ userText: 'question 0' }]);
  });

  it('a callback that changes everything in its payload changes no fact, and nothing of what others are told', async () => {
    const spoil = (data: unknown): void => {
      if (typeof data !== 'object' || data === null) return;
      for (const [key, value] of Object.entries(data)) {
        spoil(value);
        Object.assign(data, { [key]: 'spoilt' });
      }
    };
    const tools = [toolCall({ name: 'search', startedAt: 0, durationMs: 5, error: null })];
    const facts = stamp([
      started(),
      { type: 'transcript.segment', entry },
      { type: 'turn.completed', turn: { ...turn(0, { totalMs: 700 }), toolCalls: tools } },
      { type: 'turn.completed', turn: { ...turn(1, { totalMs: 800 }), toolCalls: tools } },
      ended(),
    ]);
    const before = structuredClone(facts);
    const store = new MemoryStore();
    bus.subscribeDurable((event) => store.append(event));
    await play({ onCallStart: spoil, onTranscript: spoil, onMetrics: spoil, onCallEnd: spoil }, facts);
    expect(facts).toEqual(before);
    expect(await store.get('call-1')).toEqual(replayCall(before));
    const quiet = new EventBus(logger);
    attachCallbacks(quiet, { callbacks: { onMetrics: spoil, onCallEnd: tell('end') }, logger });
    for (const event of facts) quiet.publish(event);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([['end', replayCall(before)]]);
  });

  it('can be waited for, and detached', async () => {
    let finish = () => {};
    const running = new Promise<void>((resolve) => (finish = resolve));
    const attached = await play({ onCallEnd: () => running });
    let isSettled = false;
    const settled = attached.settled().then(() => (isSettled = true));
    await Promise.resolve();
    expect(isSettled).toBe(false);
    finish();
    await settled;
    attached.close();
    await play({}, stamp([started(), ended()], { callId: 'later' }));
    expect(told).toEqual([]);
  });
});
