// Ended calls: chosen, ordered, and given out as files.
import { useMemo } from 'preact/hooks';
import { exportPath } from '../api.js';
import { update } from '../state/app-store.js';
import type { PageState } from '../state/page-state.js';
import { filterOf, isNarrowed, carriersOf, selectCalls, type View } from '../state/view.js';
import { CallTable } from './call-table.js';
import { Filters } from './filters.js';

export function History({ page, view, masked }: { page: PageState; view: View; masked: boolean }) {
  const { history } = page;
  const calls = useMemo(() => selectCalls(history, view), [history, view]);
  const isPart = isNarrowed(view) || view.range !== 'all';
  // The file holds what the list does: ended calls.
  const filter = filterOf(view);
  const of = isPart ? 'shown' : 'all';
  return (
    <section class="history" aria-labelledby="history-title">
      <div class="bar">
        <h2 id="history-title">
          History{' '}
          <small>
            {isPart ? `${calls.length} of ${history.length}` : history.length}
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
      {history.length > 0 && <Filters view={view} carriers={carriersOf(history, view)} />}
      {calls.length > 0 && <CallTable calls={calls} view={view} masked={masked} />}
      {calls.length === 0 && (
        <p class="quiet">{history.length === 0 ? 'No call has ended yet.' : 'No call matches.'}</p>
      )}
    </section>
  );
}
