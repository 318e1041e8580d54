// Which of the ended calls are shown.
import { useState } from 'preact/hooks';
import { CALL_OUTCOMES, END_REASONS } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { CALL_FACETS, type CallFacet, MAX_AMOUNT } from '../../../events/call-filter.js';
import { formatWord } from '../format.js';
import { readState, update } from '../state/app-store.js';
import { nameIncident } from '../state/timeline.js';
import { type Choices, countChoices, DIRECTIONS, NO_CHOICES, namesOf, type View } from '../state/view.js';

const FACET_NAMES: Readonly<Record<CallFacet, string>> = {
  incident: 'Incident',
  provider: 'Provider',
  agent: 'Agent',
  nodeId: 'Server',
};

function change(part: Partial<Choices>): void {
  update((app) => ({ view: { ...app.view, ...part } }));
}

/** `calls`: those that can be chosen from. */
export function Filters({ view, calls }: { view: View; calls: readonly CallSummary[] }) {
  // A phone has room for the calls, or for the choices.
  const [isOpen, setOpen] = useState(() => matchMedia('(min-width: 761px)').matches);
  const chosen = countChoices(view);
  return (
    <search class="filters">
      <Words
        label="Search by number or id"
        hint="Number or id"
        value={view.q}
        choose={(q) => change({ q })}
      />
      <Words
        label="Search by what was said, or by tool"
        hint="Words or tool"
        value={view.words}
        choose={(words) => change({ words })}
      />
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters
      </button>
      {chosen > 0 && (
        <button type="button" onClick={() => change(NO_CHOICES)}>
          Clear
        </button>
      )}
      {isOpen && <Conditions view={view} calls={calls} />}
    </search>
  );
}

function Conditions({ view, calls }: { view: View; calls: readonly CallSummary[] }) {
  const { direction, outcome, endReason, carrier } = view;
  return (
    <div class="conditions">
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
        values={namesOf(calls, 'carrier', view)}
        value={carrier}
        choose={(value) => change({ carrier: value })}
        write={String}
      />
      {CALL_FACETS.map((facet) => (
        <Facet key={facet} facet={facet} view={view} calls={calls} />
      ))}
      <Amount label="Average latency from, in milliseconds" hint="Latency ≥ ms" of="minLatencyMs" />
      <Amount label="Cost from, in dollars" hint="Cost ≥ $" of="minCost" />
    </div>
  );
}

/** One by which nothing can be told apart is not there. */
function Facet({ facet, view, calls }: { facet: CallFacet; view: View; calls: readonly CallSummary[] }) {
  const names = namesOf(calls, facet, view);
  const value = view[facet];
  if (names.length < (facet === 'incident' ? 1 : 2) && value === null) return null;
  return (
    <Choice
      label={FACET_NAMES[facet]}
      values={names}
      value={value}
      choose={(name) => change({ [facet]: name })}
      write={facet === 'incident' ? nameIncident : String}
    />
  );
}

function Words(props: { label: string; hint: string; value: string; choose: (value: string) => void }) {
  const { label, hint, value, choose } = props;
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={hint}
      maxLength={200}
      value={value}
      onInput={(event) => choose(event.currentTarget.value)}
    />
  );
}

function toAmount(text: string): number | null {
  const amount = Number(text.trim().replace(',', '.'));
  if (text.trim() === '' || !(amount >= 0 && amount <= MAX_AMOUNT)) return null;
  return Math.round(amount * 1e6) / 1e6;
}

/** What is typed stands as it is typed for as long as it means what is chosen. */
function Amount({ label, hint, of }: { label: string; hint: string; of: 'minLatencyMs' | 'minCost' }) {
  // As it is chosen by now: a letter is drawn before the page is.
  const value = readState().view[of];
  const [text, setText] = useState('');
  const written = value === null ? '' : String(value);
  return (
    <input
      class={value === null ? 'amount' : 'amount chosen'}
      inputMode="decimal"
      aria-label={label}
      placeholder={hint}
      maxLength={20}
      value={toAmount(text) === value ? text : written}
      onInput={(event) => {
        setText(event.currentTarget.value);
        change({ [of]: toAmount(event.currentTarget.value) });
      }}
    />
  );
}

function Choice<T extends string>(props: {
  label: string;
  values: readonly T[];
  value: T | null;
  choose: (value: T | null) => void;
  /** What stands for a value. @default its words */
  write?: (value: T) => string;
}) {
  const { label, values, value, choose, write = formatWord } = props;
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
          {write(each)}
        </option>
      ))}
    </select>
  );
}
