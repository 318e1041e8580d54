// Ended calls, newest first.
import { useMemo, useState } from 'preact/hooks';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { ApiError, exportPath, fetchHistory } from '../api.js';
import { formatDuration, formatLatency, formatTime, formatTotal, formatWord } from '../format.js';
import { readState, update, updatePage } from '../state/app-store.js';
import { linkTo } from '../state/deep-link.js';
import { applyPage, type PageState } from '../state/page-state.js';
import { Direction, Parties, providersOf } from './parties.js';

const PAGE_SIZE = 50;
const MAX_LIMIT = 500;

export function History({ page, masked }: { page: PageState; masked: boolean }) {
  const hasMore =
    (page.aggregates?.completedCalls ?? 0) > page.history.length && page.history.length < MAX_LIMIT;
  return (
    <section class="history" aria-labelledby="history-title">
      <div class="bar">
        <h2 id="history-title">History</h2>
        <button type="button" aria-pressed={!masked} onClick={() => update(() => ({ masked: !masked }))}>
          {masked ? 'Show numbers' : 'Hide numbers'}
        </button>
        <a href={exportPath('csv')} download>
          CSV
        </a>
        <a href={exportPath('json')} download>
          JSON
        </a>
      </div>
      {page.history.length === 0 ? (
        <p class="quiet">No call has ended yet.</p>
      ) : (
        <Table calls={page.history} masked={masked} />
      )}
      {hasMore && <LoadMore />}
    </section>
  );
}

function Table({ calls, masked }: { calls: readonly CallSummary[]; masked: boolean }) {
  return useMemo(
    () => (
      <table class={masked ? '' : 'whole-numbers'}>
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col" class="wide">
              Provider
            </th>
            <th scope="col" class="figure">
              Duration
            </th>
            <th scope="col" class="figure middle">
              Turns
            </th>
            <th scope="col" class="figure middle">
              Latency
            </th>
            <th scope="col" class="figure cost">
              Cost
            </th>
            <th scope="col" class="middle">
              Outcome
            </th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <Row key={call.callId} call={call} masked={masked} />
          ))}
        </tbody>
      </table>
    ),
    [calls, masked],
  );
}

function Row({ call, masked }: { call: CallSummary; masked: boolean }) {
  return useMemo(
    () => (
      <tr>
        <th scope="row">
          <a href={linkTo(call.callId)} class="open">
            <Direction direction={call.direction} />
            <span>
              <Parties call={call} masked={masked} />
              <span class="when">
                <time>{formatTime(call.startedAt, Date.now(), { seconds: false })}</time>
                <span class="brief">
                  {' · '}
                  <span class={isTrouble(call) ? 'trouble' : ''}>
                    {formatWord(isTrouble(call) ? call.endReason : call.outcome)}
                  </span>
                </span>
              </span>
            </span>
          </a>
        </th>
        <td class="wide provider" title={providersOf(call)}>
          {providersOf(call)}
        </td>
        <td class="figure">{formatDuration(call.durationMs)}</td>
        <td class="figure middle">{call.turnCount}</td>
        <td class="figure middle">{formatLatency(call.latency.avgMs)}</td>
        <td class="figure">{formatTotal(call.cost)}</td>
        <td class="middle">
          {formatWord(call.outcome)}
          <span class={`reason ${isTrouble(call) ? 'trouble' : ''}`}>{formatWord(call.endReason)}</span>
        </td>
      </tr>
    ),
    [call, masked],
  );
}

/** Trouble has a word of its own, not a colour alone. */
function isTrouble(call: CallSummary): boolean {
  return call.error !== null || call.outcome === 'failed';
}

function LoadMore() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(false);
  async function load() {
    setLoading(true);
    const { nextCursor, history } = readState().page;
    const limit = nextCursor === null ? Math.min(history.length + PAGE_SIZE, MAX_LIMIT) : PAGE_SIZE;
    try {
      const next = await fetchHistory({ limit, cursor: nextCursor });
      updatePage((page) => applyPage(page, next));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : 'That did not work.');
    }
    setLoading(false);
  }
  return (
    <p class="more">
      <button type="button" onClick={load} disabled={isLoading}>
        {isLoading ? 'Loading…' : 'Load more'}
      </button>
      {problem !== null && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </p>
  );
}
