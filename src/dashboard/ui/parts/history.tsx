// Ended calls: chosen, ordered, and given out as files.
import { exportPath } from '../api.js';
import { update } from '../state/app-store.js';
import type { PageState } from '../state/page-state.js';
import type { Found, ShownCalls } from '../state/found.js';
import { countChoices, filterOf, type View } from '../state/view.js';
import { CallTable } from './call-table.js';
import { Filters } from './filters.js';

export interface HistoryProps {
  page: PageState;
  view: View;
  shown: ShownCalls;
  masked: boolean;
}

export function History({ page, view, shown, masked }: HistoryProps) {
  const { history } = page;
  const { calls, found } = shown;
  const isPart = countChoices(view) > 0 || view.range !== 'all';
  // The file holds what the list does: ended calls.
  const filter = filterOf(view);
  const of = isPart ? 'shown' : 'all';
  return (
    <section class="history" aria-labelledby="history-title">
      <div class="bar">
        <h2 id="history-title">
          History{' '}
          <small>
            {isPart ? `${calls.length} of ${Math.max(history.length, calls.length)}` : history.length}
            {history.length === 1 ? ' call' : ' calls'}
          </small>
        </h2>
        <button type="button" aria-pressed={!masked} onClick={() => update(() => ({ masked: !masked }))}>
          {masked ? 'Show numbers' : 'Hide numbers'}
        </button>
        <a href={exportPath('csv', filter)} download aria-label={`CSV of ${of} calls`}>
          CSV
        </a>
        <a href={exportPath('json', filter)} download aria-label={`JSON of ${of} calls`}>
          JSON
        </a>
      </div>
      {history.length > 0 && <Filters view={view} calls={history} />}
      {calls.length > 0 && <CallTable calls={calls} view={view} masked={masked} />}
      {found.problem !== null && (
        <p class="problem" role="alert">
          The search failed: {found.problem}
        </p>
      )}
      {calls.length === 0 && (
        <p class="quiet" role="status">
          {emptyWord(page, found)}
        </p>
      )}
    </section>
  );
}

function emptyWord({ history }: PageState, { isOpen }: Found): string {
  if (history.length === 0) return 'No call has ended yet.';
  return isOpen ? 'Searching…' : 'No call matches.';
}
