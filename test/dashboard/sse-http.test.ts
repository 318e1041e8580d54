import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { EventSource } from 'eventsource';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import { reduceCall } from '../../src/events/reduce.js';
import { MemoryStore } from '../../src/stores/memory-store.js';
import { stamp, started } from '../support/call-facts.js';
import { type DashboardServer, startDashboard } from '../support/dashboard-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { soon } from '../support/soon.js';

/** Facts that come within this time are sent together. */
const GATHER_MS = 25;
/** Unread bytes past which a reader is cut off. */
const MAX_BACKLOG_BYTES = 1024 * 1024;
/** No kernel buffers as much for one connection. */
const MOST_BYTES = 256 * 1024 * 1024;

const digits = (count: number): CallFact[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'dtmf.received', digit: String(index % 10) }));

describe('the event stream over HTTP', () => {
  let server: DashboardServer;
  let source: EventSource | undefined;
  let socket: Socket | undefined;
  afterEach(async () => {
    source?.close();
    socket?.destroy();
    await server.close();
  });

  /** Collects the messages of the given types. */
  function collect(from: EventSource, types: readonly string[]): { type: string; data: unknown }[] {
    const messages: { type: string; data: unknown }[] = [];
    for (const type of types)
      from.addEventListener(type, (message) => {
        messages.push({ type, data: JSON.parse(message.data as string) });
      });
    return messages;
  }

  it('reaches a standard client, which comes back by itself where it left', async () => {
    server = await startDashboard();
    const url = `${server.url}/api/dashboard/events`;
    const answers: Response[] = [];
    source = new EventSource(url, {
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        answers.push(answer);
        return answer;
      },
    });
    const messages = collect(source, ['snapshot', 'call.started', 'dtmf.received']);
    await soon(() => expect(messages).toHaveLength(1));
    expect(answers[0]?.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answers[0]?.headers.get('cache-control')).toBe('no-store, no-transform');
    const events = stamp([started(), ...digits(3)]);
    server.publish(...events.slice(0, 2));
    await soon(() => expect(messages).toHaveLength(3));
    const { id: lastId } = await new Promise<{ id: string }>((resolve) => {
      source?.addEventListener('dtmf.received', (message) => resolve({ id: message.lastEventId }), {
        once: true,
      });
      server.publish(events[2]!);
    });
    source.close();
    server.publish(events[3]!);
    source = new EventSource(url, {
      fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...init.headers, 'Last-Event-ID': lastId } }),
    });
    const resumed = collect(source, ['snapshot', 'call.started', 'dtmf.received']);
    await soon(() => expect(resumed).toHaveLength(1));
    expect(resumed[0]?.data).toEqual(events[3]);
    let record = reduceCall(undefined, events[0]!);
    for (const { data } of [...messages.slice(2), ...resumed]) record = reduceCall(record, data as CallEvent);
    expect(record.seq).toBe(4);
  });

  it('flushes its headers before there is anything to say, and ends with close()', async () => {
    const store = new MemoryStore();
    store.active = () => new Promise(() => {});
    server = await startDashboard({ store });
    const answer = await fetch(`${server.url}/api/dashboard/events`);
    expect(answer.status).toBe(200);
    server.closeStreams();
    expect(await answer.text()).toBe('retry: 2000\n\n');
  });

  it('keeps no reader whose request waits behind another on a connection that ends', async () => {
    server = await startDashboard();
    const request = 'GET /api/dashboard/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    for (let round = 0; round < 10; round += 1) {
      socket = connect(server.port, '127.0.0.1');
      socket.write(request.repeat(60));
      await once(socket, 'data');
      socket.destroy();
      await once(socket, 'close');
    }
    const answer = await fetch(`${server.url}/api/dashboard/events`);
    await answer.body?.cancel();
    expect(answer.status).toBe(200);
  });

  it('destroys the socket of a reader that does not read', async () => {
    const clock = new FakeClock();
    server = await startDashboard({ clock });
    socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /api/dashboard/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    const text = 'x'.repeat(60_000);
    const [first] = stamp([started()]);
    server.publish(first!);
    for (let seq = 2; seq * text.length < MOST_BYTES; seq += 1) {
      const entry = { id: `e${seq}`, turnIndex: 0, role: 'agent', text, at: seq, final: true } as const;
      server.publish({ ...first!, seq, ...({ type: 'transcript.segment', entry } as const) });
      clock.advance(GATHER_MS);
      if (server.logger.sentences('warn').length > 0) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [cutOff] = server.logger.lines.filter(({ level }) => level === 'warn');
    expect(server.logger.sentences('warn')).toEqual(['event stream cut off']);
    expect(cutOff?.fields.backlogBytes).toBeGreaterThan(MAX_BACKLOG_BYTES);
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'close');
  });
});
