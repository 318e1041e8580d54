// From a validated query to what the store is asked.
import { RequestError } from '../base/errors.js';
import type { CallQuery } from '../stores/call-store.js';
import type { CallFilter } from '../events/call-filter.js';
import { AGGREGATES_PARAMETERS, CALLS_PARAMETERS, EXPORT_PARAMETERS, readParameters } from './parameters.js';

const DEFAULT_LIMIT = 50;
/** Records that an export reads at once. */
const EXPORT_PAGE = 100;

/** What an export is asked for. */
export interface ExportQuery {
  format: 'json' | 'csv';
  calls: CallQuery;
}

function checkRange(range: { from?: number; to?: number }): void {
  if (range.from !== undefined && range.to !== undefined && range.from > range.to)
    throw new RequestError('REQUEST_INVALID', 'Query parameter "from" must not be later than "to".');
}

/** @throws RequestError that names the bad parameter. */
export function parseCallsQuery(query: URLSearchParams): CallQuery {
  const { limit = DEFAULT_LIMIT, ...rest } = readParameters(query, CALLS_PARAMETERS);
  checkRange(rest);
  return { limit, ...rest };
}

/** @throws RequestError that names the bad parameter. */
export function parseExportQuery(query: URLSearchParams): ExportQuery {
  const { format = 'json', ...rest } = readParameters(query, EXPORT_PARAMETERS);
  checkRange(rest);
  return { format, calls: { limit: EXPORT_PAGE, ...rest } };
}

/** @throws RequestError that names the bad parameter. */
export function parseFilter(query: URLSearchParams): CallFilter {
  const filter = readParameters(query, AGGREGATES_PARAMETERS);
  checkRange(filter);
  return filter;
}
