// All calls that match, as a file. Written page by page, so that an export never holds the whole ring as one text.
import type { CallRecord } from '../contract/call-record.js';
import type { CallPage, CallReader } from '../stores/call-store.js';
import { csvHeader, csvRow } from './csv.js';
import { type ExportQuery, parseExportQuery } from './query.js';
import { recordPieces } from './record-text.js';

/** A file to be streamed to the reader. */
export interface ExportFile {
  headers: { readonly [name: string]: string };
  chunks: AsyncIterable<string>;
}

const MEDIA_TYPE = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json; charset=utf-8',
};

/**
 * Opens an export. The first page is read before anything is sent, so that a bad query or a failing store is still a
 * proper refusal.
 * @throws RequestError for a bad parameter.
 */
export async function openExport(parts: {
  store: CallReader;
  query: URLSearchParams;
  /** Epoch milliseconds, for the file name. */
  now: number;
}): Promise<ExportFile> {
  const query = parseExportQuery(parts.query);
  const first = await parts.store.list(query.calls);
  const stamp = new Date(parts.now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const records = recordPages(parts.store, query, first);
  return {
    headers: {
      'Content-Type': MEDIA_TYPE[query.format],
      'Content-Disposition': `attachment; filename="offhook-calls-${stamp}.${query.format}"`,
    },
    chunks: query.format === 'csv' ? csvChunks(records) : jsonChunks(records),
  };
}

/** A call that comes in while the export runs moves no page boundary: cursors point behind a call. */
async function* recordPages(
  store: CallReader,
  query: ExportQuery,
  first: CallPage,
): AsyncGenerator<CallRecord[]> {
  let page = first;
  yield page.calls;
  while (page.nextCursor !== null) {
    page = await store.list({ ...query.calls, cursor: page.nextCursor });
    yield page.calls;
  }
}

async function* csvChunks(pages: AsyncIterable<CallRecord[]>): AsyncGenerator<string> {
  yield csvHeader();
  for await (const records of pages) for (const record of records) yield csvRow(record);
}

async function* jsonChunks(pages: AsyncIterable<CallRecord[]>): AsyncGenerator<string> {
  yield '{"calls":[';
  let separator = '\n';
  for await (const records of pages) {
    for (const record of records) {
      yield separator;
      yield* recordPieces(record);
      separator = ',\n';
    }
  }
  yield '\n]}\n';
}
