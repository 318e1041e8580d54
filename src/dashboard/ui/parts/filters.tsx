// Which of the ended calls are shown.
import { CALL_OUTCOMES, type CarrierId, END_REASONS } from '../../../contract/call-record.js';
import { formatWord } from '../format.js';
import { update } from '../state/app-store.js';
import { isNarrowed, type View } from '../state/view.js';

const DIRECTIONS = ['inbound', 'outbound'] as const;

function change(part: Partial<View>): void {
  update((app) => ({ view: { ...app.view, ...part } }));
}

/** `carriers`: those that can be chosen. */
export function Filters({ view, carriers }: { view: View; carriers: readonly CarrierId[] }) {
  const { q, direction, outcome, endReason, carrier } = view;
  return (
    <search class="filters">
      <input
        type="search"
        aria-label="Search by number or id"
        placeholder="Number or id"
        maxLength={200}
        value={q}
        onInput={(event) => change({ q: event.currentTarget.value })}
      />
      <Choice
        label="Direction"
        values={DIRECTIONS}
        value={direction}
        choose={(value) => change({ direction: value })}
      />
      <Choice
        label="Outcome"
        values={CALL_OUTCOMES}
        value={outcome}
        choose={(value) => change({ outcome: value })}
      />
      <Choice
        label="End reason"
        values={END_REASONS}
        value={endReason}
        choose={(value) => change({ endReason: value })}
      />
      <Choice
        label="Carrier"
        values={carriers}
        value={carrier}
        choose={(value) => change({ carrier: value })}
      />
      {isNarrowed(view) && (
        <button
          type="button"
          onClick={() => change({ q: '', direction: null, outcome: null, endReason: null, carrier: null })}
        >
          Clear
        </button>
      )}
    </search>
  );
}

function Choice<T extends string>(props: {
  label: string;
  values: readonly T[];
  value: T | null;
  choose: (value: T | null) => void;
}) {
  const { label, values, value, choose } = props;
  return (
    <select
      aria-label={label}
      class={value === null ? '' : 'chosen'}
      value={value ?? ''}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        choose(values.find((each) => each === chosen) ?? null);
      }}
    >
      <option value="">{label}</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {formatWord(each)}
        </option>
      ))}
    </select>
  );
}
