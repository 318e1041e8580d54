import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CallFact } from '../../src/contract/call-event.js';
import type { ActiveCalls, Aggregates } from '../../src/contract/dashboard-api.js';
import { csvHeader, csvRow } from '../../src/dashboard/csv.js';
import { reduceCall } from '../../src/events/reduce.js';
import { roundMoney } from '../../src/events/summarize.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { send, startDashboard } from '../support/dashboard-server.js';
import { untilQuiet } from '../support/virtual/quiet.js';

type CsvRow = { [header: string]: string };

function recordWith(fields: Partial<CallRecord>): CallRecord {
  let record: CallRecord | undefined;
  for (const event of stamp([started(), ended()])) record = reduceCall(record, event);
  return { ...record!, ...fields };
}

function readBack(text: string): CsvRow[] {
  return parse(text, { columns: true, record_delimiter: '\r\n' }) as CsvRow[];
}

const roundTrip = (fields: Partial<CallRecord>) => readBack(csvHeader() + csvRow(recordWith(fields)))[0]!;
const costing = (index: number): CallFact => {
  const total = roundMoney(0.01 + index / 30_000);
  const cost = {
    stt: total,
    llm: null,
    tts: 0,
    telephony: 0,
    total,
    currency: 'USD',
    estimated: true,
  } as const;
  return { type: 'cost.updated', cost, usage: null };
};
const failure = (message: string) => ({ error: { code: 'X', message } });

describe('a line of CSV', () => {
  it.each([
    ['quotes', 'say "hi", then ""'],
    ['line breaks', 'one\r\ntwo\nthree'],
    ['right-to-left text', 'שלום, עולם'],
    ['emoji', '☎️ 👩‍⚕️, ok'],
    ['outer spaces', '  in the middle '],
    ['a plain sentence', 'plain'],
  ])('keeps %s', (_name, text) => {
    expect(roundTrip(failure(text))['error.message']).toBe(text);
  });

  it.each([
    ['=1+1'],
    ['+cmd|x'],
    ['-2+3'],
    ['@SUM(A1)'],
    ['\t=1'],
    ['\r=1'],
    ['  =1'],
    ['＝1+1'],
    ['+1 (555) 010'],
    ['=HYPERLINK("http://evil.example","x")'],
    ['\u200b=1+1'],
    ['\0=1+1'],
    ['\ufeff@SUM(A1)'],
    ['\n-1+1'],
  ])('defuses %j', (text) => {
    expect(roundTrip(failure(text))['error.message']).toBe(`'${text}`);
  });

  it.each([['+15550100'], ['-12.5'], ['0042'], ['a=b'], ['anonymous']])('leaves %j alone', (caller) => {
    expect(roundTrip({ caller }).caller).toBe(caller);
  });

  it('writes what is unknown as nothing, and money as a decimal', () => {
    const cost = { stt: null, llm: 0.000001, tts: 0, telephony: 12.5, total: 12.500001 } as const;
    const row = roundTrip({ cost: { ...cost, currency: 'USD', estimated: true }, durationMs: null });
    expect(row).toMatchObject({
      'cost.stt': '',
      'cost.llm': '0.000001',
      'cost.tts': '0',
      'cost.total': '12.500001',
      'cost.estimated': 'true',
      durationMs: '',
      startedAtIso: '1970-01-01T00:16:40.000Z',
    });
  });

  it('tells of transfer and incidents', () => {
    const at = 1;
    const row = roundTrip({
      transfer: { to: '+15550123', startedAt: at, result: 'no-answer' },
      incidents: [
        { at, code: 'stream-replaced', message: 'a', durationMs: null },
        { at, code: 'CARRIER_FAILED', message: 'b', durationMs: null },
      ],
    });
    expect(row).toMatchObject({
      'transfer.to': '+15550123',
      'transfer.result': 'no-answer',
      'incidents.codes': 'stream-replaced CARRIER_FAILED',
      'incidents.count': '2',
    });
    expect(roundTrip({})).toMatchObject({ 'transfer.to': '', 'transfer.result': '', 'incidents.codes': '' });
  });

  it('has the columns that are documented, in their order', () => {
    const readme = readFileSync(new URL('../../docs/dashboard.md', import.meta.url), 'utf8');
    const listed = readme.slice(readme.indexOf('end only:')).match(/`[^`]+`/g);
    expect(listed).toEqual(
      csvHeader()
        .trim()
        .split(',')
        .map((name) => `\`${name}\``),
    );
  });

  it('is read back as one line of all columns, whatever the text', () => {
    const width = csvHeader().split(',').length;
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (caller, message) => {
        const rows = readBack(csvHeader() + csvRow(recordWith({ caller, ...failure(message) })));
        expect(rows).toHaveLength(1);
        expect(Object.keys(rows[0]!)).toHaveLength(width);
        expect(rows[0]!['error.message']?.replace(/^'/, '')).toBe(message.replace(/^'/, ''));
      }),
    );
  });
});

describe('an export', () => {
  it('streams every call as an attachment, in both formats, with the same sums', async () => {
    const server = await startDashboard();
    const count = 230;
    for (let index = 0; index < count; index += 1)
      server.publish(
        ...stamp([started({ carrierCallId: null, caller: `+1555${index}` }), costing(index), ended()], {
          callId: `c${index}`,
          at: index,
        }),
      );
    await server.bus.settled();
    const json = await send(`${server.url}/api/dashboard/export/calls`);
    const csv = await send(`${server.url}/api/dashboard/export/calls?format=csv`);
    const { calls } = JSON.parse(json.text) as ActiveCalls;
    const rows = readBack(csv.text);
    expect(calls).toHaveLength(count);
    expect(calls[0]).toHaveProperty('turns');
    expect(rows.map((row) => row.callId)).toEqual(calls.map((call) => call.callId));
    expect(rows.map((row) => row.caller)).toEqual(calls.map((call) => call.caller));
    const { totalCost } = JSON.parse(
      (await send(`${server.url}/api/dashboard/aggregates`)).text,
    ) as Aggregates;
    const sum = (costs: readonly number[]) => roundMoney(costs.reduce((total, cost) => total + cost, 0));
    expect(totalCost).toBeGreaterThan(1);
    expect(sum(calls.map((call) => call.cost.total))).toBe(totalCost);
    expect(sum(rows.map((row) => Number(row['cost.total'])))).toBe(totalCost);
    expect(json.headers['content-disposition']).toMatch(
      /^attachment; filename="offhook-calls-\d{8}-\d{6}\.json"$/,
    );
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(csv.headers['transfer-encoding']).toBe('chunked');
    const one = await send(`${server.url}/api/dashboard/export/calls?format=csv&q=c42`);
    expect(readBack(one.text).map((row) => row.callId)).toEqual(['c42']);
    const none = await send(`${server.url}/api/dashboard/export/calls?status=ringing`);
    expect(JSON.parse(none.text)).toEqual({ calls: [] });
    await server.close();
  });

  it('waits for a reader that does not read, and stops reading the store when it goes away', async () => {
    const server = await startDashboard();
    const text = 'x'.repeat(200_000);
    for (let index = 0; index < 300; index += 1) {
      const entry = { id: 'a', turnIndex: 0, role: 'user', text, at: 1, final: true } as const;
      server.publish(
        ...stamp([started({ carrierCallId: null }), { type: 'transcript.segment', entry }, ended()], {
          callId: `c${index}`,
          at: index,
        }),
      );
    }
    await server.bus.settled();
    const list = vi.spyOn(server.store, 'list');
    const request = get(`${server.url}/api/dashboard/export/calls`);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.pause();
    await untilQuiet();
    const pagesRead = list.mock.calls.length;
    expect(pagesRead).toBeLessThan(3);
    response.on('error', () => {});
    response.destroy();
    await untilQuiet();
    expect(list.mock.calls.length).toBe(pagesRead);
    expect(server.logger.sentences('error')).toEqual([]);
    await server.close();
  });

  it('tears the connection when the store fails half-way, instead of ending as if complete', async () => {
    const server = await startDashboard();
    for (let index = 0; index < 150; index += 1)
      server.publish(
        ...stamp([started({ carrierCallId: null }), ended()], { callId: `c${index}`, at: index }),
      );
    await server.bus.settled();
    const { list } = server.store;
    server.store.list = (query) =>
      query.cursor === undefined ? list.call(server.store, query) : Promise.reject(new Error('gone'));
    await expect(send(`${server.url}/api/dashboard/export/calls`)).rejects.toThrow();
    expect(server.logger.sentences('error')).toEqual(['dashboard answer failed']);
    await server.close();
  });
});
