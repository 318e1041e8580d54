// A CallStore on PostgreSQL: each fact changes the row of its call.
import { readFileSync } from 'node:fs';
import type { Aggregates, CallEvent, CallPage, CallQuery, CallRecord, CallStore } from 'offhook';
import { RequestError } from 'offhook';
import {
  type CallFilter,
  facetOf,
  opensCall,
  reduceCall,
  searchedText,
  spokenNumbers,
  spokenText,
  wantedNumber,
  wantedTexts,
} from 'offhook/stores';
import { Pool } from 'pg';

const SCHEMA = readFileSync(new URL('schema.sql', import.meta.url), 'utf8');

const toRow = (record: CallRecord) => ({
  call_id: record.callId,
  carrier_call_id: record.carrierCallId,
  term: record.term,
  seq: record.seq,
  started_at: record.startedAt,
  status: record.status,
  direction: record.direction,
  carrier: record.carrier,
  outcome: record.outcome,
  end_reason: record.endReason,
  search: searchedText(record),
  words: spokenText(record),
  numbers: spokenNumbers(record),
  incidents: facetOf(record, 'incident'),
  providers: facetOf(record, 'provider'),
  agents: facetOf(record, 'agent'),
  nodes: facetOf(record, 'nodeId'),
  duration_ms: record.durationMs,
  latency_ms: record.latency.avgMs,
  turns_ms: record.turns.flatMap(({ latency }) => latency.totalMs ?? []),
  stt: record.cost.stt,
  llm: record.cost.llm,
  tts: record.cost.tts,
  telephony: record.cost.telephony,
  total: record.cost.total,
  record: JSON.stringify(record),
});

const CONDITIONS = {
  status: 'status = ?',
  direction: 'direction = ?',
  carrier: 'carrier = ?',
  outcome: 'outcome = ?',
  endReason: 'end_reason = ?',
  q: 'EXISTS (SELECT FROM unnest(?::text[]) AS wanted WHERE strpos(search, wanted) > 0)',
  words:
    'EXISTS (SELECT FROM (SELECT ?::text[] AS asked) AS wanted WHERE strpos(words, asked[1]) > 0 OR strpos(numbers, asked[2]) > 0)',
  incident: '? = ANY(incidents)',
  provider: '? = ANY(providers)',
  agent: '? = ANY(agents)',
  nodeId: '? = ANY(nodes)',
  minLatencyMs: 'latency_ms >= ?',
  minCost: 'total >= ?',
  from: 'started_at >= ?',
  to: 'started_at < ?',
} satisfies Record<keyof CallFilter, string>;

const AGGREGATES = `
  SELECT count(*)::int AS "totalCalls",
    count(*) FILTER (WHERE status <> 'completed')::int AS "activeCalls",
    count(*) FILTER (WHERE status = 'completed')::int AS "completedCalls",
    coalesce(sum(total), 0)::float AS "totalCost",
    json_build_object('stt', coalesce(sum(stt), 0), 'llm', coalesce(sum(llm), 0),
      'tts', coalesce(sum(tts), 0), 'telephony', coalesce(sum(telephony), 0)) AS "costBreakdown",
    round(avg(duration_ms)::numeric)::float AS "avgDurationMs",
    round(avg(latency_ms)::numeric)::float AS "avgLatencyMs",
    (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) FROM found, unnest(turns_ms) AS ms) AS "p95LatencyMs",
    (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY ms) FROM found, unnest(turns_ms) AS ms) AS "p99LatencyMs"
  FROM found`;

export class PostgresStore implements CallStore {
  readonly isKept = true;
  readonly #pool: Pool;
  #closed: Promise<void> | undefined;

  /** Makes the table where there is none. Rejects if the database cannot be reached. */
  static async open(connectionString: string): Promise<PostgresStore> {
    const store = new PostgresStore(connectionString);
    await store.#query(SCHEMA);
    return store;
  }

  private constructor(connectionString: string) {
    // A query that hangs must fail: then the server asks again.
    const timeouts = { connectionTimeoutMillis: 5000, query_timeout: 5000 };
    this.#pool = new Pool({ connectionString, ...timeouts, keepAlive: true });
    // A connection that breaks while nobody uses it. Without a listener this would end the process.
    this.#pool.on('error', () => {});
  }

  async append(event: CallEvent): Promise<void> {
    if (event.type === 'call.forgotten') return this.#forget(event);
    const [gone] = await this.#query('SELECT 1 FROM forgotten_calls WHERE call_id = ?', [event.callId]);
    if (gone !== undefined) return;
    const [before] = await this.#records('WHERE call_id = ?', [event.callId]);
    if (before === undefined && !opensCall(event)) return;
    const record = reduceCall(before, event);
    if (record === before) return;
    const row = toRow(record);
    const names = Object.keys(row);
    // An older write may come late, after its query was given up here.
    await this.#query(
      `INSERT INTO calls (${names.join()}) VALUES (${names.map(() => '?').join()})
       ON CONFLICT (call_id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join()}
       WHERE (calls.term, calls.seq) < (excluded.term, excluded.seq)`,
      Object.values(row),
    );
  }

  async get(callId: string): Promise<CallRecord | undefined> {
    const byEither = 'WHERE call_id = ? OR carrier_call_id = ? ORDER BY call_id = ? DESC LIMIT 1';
    return (await this.#records(byEither, [callId, callId, callId]))[0];
  }

  async list({ limit, cursor, ...filter }: CallQuery): Promise<CallPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > 500)
      throw new RequestError('REQUEST_INVALID', '"limit" must be a whole number from 1 to 500.');
    const { where, values } = toWhere(filter);
    const after = cursor === undefined ? undefined : parseCursor(cursor);
    // One more than asked for tells whether there is another page.
    const found = await this.#records(
      `${where} ${after ? 'AND (started_at, call_id) < (?, ?)' : ''} ORDER BY started_at DESC, call_id DESC LIMIT ?`,
      [...values, ...(after ?? []), limit + 1],
    );
    const [counted] = await this.#query<{ total: number }>(
      `SELECT count(*)::int AS total FROM calls ${where}`,
      values,
    );
    const calls = found.slice(0, limit);
    const last = found.length > limit ? calls.at(-1) : undefined;
    return {
      calls,
      nextCursor: last ? `${last.startedAt}:${last.callId}` : null,
      total: counted?.total ?? 0,
    };
  }

  active(): Promise<CallRecord[]> {
    return this.#records(`WHERE status <> 'completed' ORDER BY started_at DESC, call_id DESC`);
  }

  async aggregates(filter: CallFilter = {}): Promise<Aggregates> {
    const { where, values } = toWhere(filter);
    const [sums] = await this.#query<Aggregates>(
      `WITH found AS (SELECT * FROM calls ${where}) ${AGGREGATES}`,
      values,
    );
    return sums as Aggregates;
  }

  async forgotten(): Promise<CallEvent[]> {
    const rows = await this.#query<{ event: CallEvent }>(
      'SELECT event FROM forgotten_calls ORDER BY call_id',
    );
    return rows.map(({ event }) => event);
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }

  /** Leaves the ID. What was deleted stays in files of the database until VACUUM, and in its log as long as that is kept. */
  async #forget(event: CallEvent): Promise<void> {
    await this.#query(
      `WITH gone AS (DELETE FROM calls WHERE call_id = ? RETURNING call_id)
       INSERT INTO forgotten_calls SELECT call_id, ?::jsonb FROM gone ON CONFLICT DO NOTHING`,
      [event.callId, JSON.stringify(event)],
    );
  }

  async #records(rest: string, values: unknown[] = []): Promise<CallRecord[]> {
    const rows = await this.#query<{ record: CallRecord }>(`SELECT record FROM calls ${rest}`, values);
    return rows.map(({ record }) => record);
  }

  /** Takes `?` for a value. */
  async #query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const numbered = sql.split('?').reduce((before, after, index) => `${before}$${index}${after}`);
    // PostgreSQL has no NUL in its texts. In a record it is escaped.
    return (await this.#pool.query<Row>(numbered, values.map(withoutNul))).rows;
  }
}

function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}

function toWhere(filter: CallFilter) {
  const { q, words } = filter;
  const wanted = {
    ...filter,
    q: q === undefined ? q : wantedTexts(q),
    words: words === undefined ? words : [words.toLowerCase(), wantedNumber(words)],
  };
  const names = (Object.keys(CONDITIONS) as (keyof CallFilter)[]).filter(
    (name) => wanted[name] !== undefined,
  );
  const conditions = ['true', ...names.map((name) => CONDITIONS[name])];
  return { where: `WHERE ${conditions.join(' AND ')}`, values: names.map((name) => wanted[name]) };
}

function parseCursor(cursor: string): [number, string] {
  const [, startedAt, callId] = /^(\d{1,16}):(.+)$/s.exec(cursor) ?? [];
  if (startedAt === undefined || callId === undefined)
    throw new RequestError('REQUEST_INVALID', '"cursor" must be the nextCursor of an earlier page.');
  return [Number(startedAt), callId];
}
