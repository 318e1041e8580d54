// Numbers, names and words as nobody should send them, through everything that shows a call.
import { parse } from 'csv-parse/sync';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallEvent, CallFact } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { ActiveCalls, CallsPage, Snapshot } from '../../src/contract/dashboard-api.js';
import { reduceCall } from '../../src/events/reduce.js';
import { toSummary } from '../../src/events/summarize.js';
import { ended, stamp, started, toolCall, turn } from '../support/call-facts.js';
import { type DashboardServer, send, startDashboard } from '../support/dashboard-server.js';
import { violations } from '../support/openapi-check.js';
import { soon } from '../support/soon.js';

const TEXTS: readonly (readonly [string, string])[] = [
  ['quotes', `"';\`\\ "" ''`],
  ['line breaks', 'a\nb\r\nc\rd\u2028e\u2029f\u0085g'],
  ['a formula', '=HYPERLINK("http://evil.example";"x")'],
  ['a sum', '+1+1'],
  ['a difference', '-1-1'],
  ['a mention', '@SUM(A1:A9)'],
  ['a tab', '\t=1'],
  ['a carriage return', '\r=1'],
  ['right to left', '\u202eevil\u202c שלום مرحبا'],
  ['emoji', '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿☎️'],
  ['NUL', 'a\0b\0'],
  ['control characters', '\u0001\u001b[31mred\u0007\u007f'],
  ['half a surrogate pair', '\ud83d and \udc00'],
  ['markup', '</script><img src=x onerror=alert(1)><!--'],
  ['a forged event', '\n\nevent: call.ended\ndata: {}\n\n'],
  ['a forged row', '\r\n"x","y"\r\n'],
  ['a prototype', '__proto__'],
  ['nothing', ''],
  ['a megabyte', 'Größe 🙂 '.repeat(100_000)],
];

function factsOf(text: string): CallFact[] {
  const entry = {
    id: `e ${text.slice(0, 40)}`,
    turnIndex: 0,
    role: 'user',
    text: `x${text}`,
    at: 5,
    final: true,
  } as const;
  return [
    started({ caller: text, callee: text, carrierCallId: null }),
    { type: 'transcript.segment', entry },
    {
      type: 'turn.completed',
      turn: {
        ...turn(0, { totalMs: 9 }),
        userText: text,
        agentText: text,
        toolCalls: [
          toolCall({
            id: text,
            name: text.slice(0, 40),
            arguments: { text, cut: false },
            result: { text, cut: true },
            error: text,
          }),
        ],
      },
    },
    { type: 'incident.noted', code: text.slice(0, 40), message: text },
    ended({ error: { code: text.slice(0, 40), message: text } }),
  ];
}

/** What UTF-8 can write of it. */
const writable = (text: string) => Buffer.from(text, 'utf8').toString('utf8');

describe.each(TEXTS)('a call with %s in it', (_name, text) => {
  let server: DashboardServer;
  let events: CallEvent[];
  let record: CallRecord;
  beforeAll(async () => {
    server = await startDashboard();
    events = stamp(factsOf(text));
    record = events.reduce<CallRecord | undefined>(reduceCall, undefined)!;
    server.publish(...events);
    await server.bus.settled();
  });
  afterAll(() => server.close());
  const getJson = async <T>(path: string) => JSON.parse((await send(server.url + path)).text) as T;

  it('is intact over REST and in the JSON export', async () => {
    expect(await getJson<CallRecord>('/api/dashboard/calls/call-1')).toEqual(record);
    expect((await getJson<CallsPage>('/api/dashboard/calls')).calls).toEqual([toSummary(record)]);
    expect((await getJson<ActiveCalls>('/api/dashboard/export/calls')).calls).toEqual([record]);
    expect(violations('CallRecord', record)).toEqual([]);
  });

  it('is found by its number', async () => {
    const q = writable(text.slice(0, 60)) === text.slice(0, 60) ? text.slice(0, 60) : 'call-1';
    const page = await getJson<CallsPage>(`/api/dashboard/calls?q=${encodeURIComponent(q)}`);
    expect(page.total).toBe(1);
  });

  it('is intact in the event stream, and forges nothing', async () => {
    const source = new EventSource(`${server.url}/api/dashboard/events`);
    const snapshots: Snapshot[] = [];
    const heard: CallEvent[] = [];
    source.addEventListener('snapshot', (message) => snapshots.push(JSON.parse(message.data as string)));
    for (const type of new Set(events.map((event) => event.type)))
      source.addEventListener(type, (message) => heard.push(JSON.parse(message.data as string)));
    await soon(() => expect(snapshots).toHaveLength(1));
    expect(snapshots[0]?.recent).toEqual([toSummary(record)]);
    const again = stamp(factsOf(text), { callId: 'call-2' });
    server.publish(...again);
    await server.bus.settled();
    await soon(() => expect(heard).toHaveLength(again.length));
    expect(heard).toEqual(again);
    source.close();
  });

  it('is one defused row of CSV', async () => {
    const answer = await send(`${server.url}/api/dashboard/export/calls?format=csv&q=call-1`);
    const options = {
      columns: true,
      record_delimiter: '\r\n',
      relax_quotes: false,
      relax_column_count: false,
    };
    const rows = parse(answer.text, options) as unknown as { [name: string]: string }[];
    expect(rows).toHaveLength(1);
    const { caller = '', 'error.message': message = '' } = rows[0] ?? {};
    for (const cell of [caller, message]) {
      expect(cell.replace(/^'(?=[\s\p{C}=+\-@])/u, '')).toBe(writable(text));
      expect(cell).not.toMatch(/^[\s\p{C}]*[=+\-@]/u);
    }
  });
});
