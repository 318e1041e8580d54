// Counters, gauges and histograms that only this process writes. A metric knows its own text.
// Source: Prometheus text exposition format 0.0.4.

/** A series per combination of label values. What a label may be is bounded, and this is the bound if one of them is not. */
const MAX_SERIES = 300;
const OTHER = 'other';

export interface MetricOptions<Label extends string = never> {
  /** With the unit at its end, counters with `_total`. */
  readonly name: string;
  readonly help: string;
  /** Names of the labels, in the order in which values are given. */
  readonly labels?: readonly Label[];
}

/** What is read at every scrape. */
export interface Metric {
  /** HELP, TYPE and samples, each line with its end. Empty when there is nothing to say. */
  text(): string;
}

interface Series<T> {
  readonly values: readonly string[];
  readonly state: T;
}

/** The series of one metric, by label values. */
class SeriesMap<T> {
  readonly #byKey = new Map<string, Series<T>>();
  readonly #create: () => T;

  constructor(create: () => T) {
    this.#create = create;
  }

  find(values: readonly string[]): T {
    const key = values.join('\n');
    const known = this.#byKey.get(key);
    if (known !== undefined) return known.state;
    const isOver = this.#byKey.size >= MAX_SERIES && values.some((value) => value !== OTHER);
    if (isOver) return this.find(values.map(() => OTHER));
    const state = this.#create();
    this.#byKey.set(key, { values, state });
    return state;
  }

  get all(): Iterable<Series<T>> {
    return this.#byKey.values();
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }
}

/** Only rises. */
export class Counter<Label extends string = never> implements Metric {
  readonly #options: MetricOptions<Label>;
  readonly #series = new SeriesMap(() => ({ count: 0 }));

  constructor(options: MetricOptions<Label>) {
    this.#options = options;
    if ((options.labels ?? []).length === 0) this.#series.find([]);
  }

  /** Amounts that are none, or negative, change nothing. */
  add(amount: number, values: Readonly<Record<Label, string>> = {} as Record<Label, string>): void {
    if (!Number.isFinite(amount) || amount < 0) return;
    const labels: readonly Label[] = this.#options.labels ?? [];
    this.#series.find(labels.map((label) => values[label])).count += amount;
  }

  text(): string {
    if (this.#series.isEmpty) return '';
    const { name, labels = [] } = this.#options;
    const lines = [...this.#series.all].map(({ values, state }) =>
      sample(name, pairs(labels, values), state.count),
    );
    return header(this.#options, 'counter') + lines.join('');
  }
}

/** Asked for its value when it is read. Null leaves it out: a scraper then sees no value, not zero. */
export class Gauge implements Metric {
  readonly #options: MetricOptions & { readonly read: () => number | null; readonly type?: 'counter' };

  /** `type` is `counter` for what somebody else counts, and only rises. */
  constructor(options: MetricOptions & { readonly read: () => number | null; readonly type?: 'counter' }) {
    this.#options = options;
  }

  text(): string {
    const value = this.#options.read();
    if (value === null) return '';
    const { name, type = 'gauge' } = this.#options;
    return header(this.#options, type) + sample(name, '', value);
  }
}

/** Counts observations by size. An observation of a histogram without labels allocates nothing. */
export class Histogram<Label extends string = never> implements Metric {
  readonly #options: MetricOptions<Label> & { readonly buckets: readonly number[] };
  readonly #series: SeriesMap<Distribution>;
  /** The only series of a histogram without labels. */
  readonly #sole: Distribution | undefined;

  /** `buckets` are upper bounds, rising; the last one, infinity, is added. */
  constructor(options: MetricOptions<Label> & { readonly buckets: readonly number[] }) {
    this.#options = options;
    this.#series = new SeriesMap(() => new Distribution(options.buckets));
    this.#sole = (options.labels ?? []).length === 0 ? this.#series.find([]) : undefined;
  }

  /** What is not a number is left out. */
  observe(value: number, values?: Readonly<Record<Label, string>>): void {
    if (!Number.isFinite(value)) return;
    if (this.#sole !== undefined) this.#sole.observe(value);
    else if (values !== undefined) {
      const labels: readonly Label[] = this.#options.labels ?? [];
      this.#series.find(labels.map((label) => values[label])).observe(value);
    }
  }

  text(): string {
    if (this.#series.isEmpty) return '';
    const { name, labels = [], buckets } = this.#options;
    const lines = [...this.#series.all].map(({ values, state }) => {
      const own = pairs(labels, values);
      const separator = own === '' ? '' : ',';
      const bounds = [...buckets.map(String), '+Inf'];
      const cumulative = state.cumulative();
      return (
        bounds
          .map((bound, index) =>
            sample(`${name}_bucket`, `${own}${separator}le="${bound}"`, cumulative[index] ?? 0),
          )
          .join('') +
        sample(`${name}_sum`, own, state.sum) +
        sample(`${name}_count`, own, cumulative.at(-1) ?? 0)
      );
    });
    return header(this.#options, 'histogram') + lines.join('');
  }
}

class Distribution {
  readonly #bounds: readonly number[];
  /** Observations in each bucket alone; the last one holds what is over every bound. */
  readonly #counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? 0)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.sum += value;
  }

  cumulative(): number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => {
      total += count;
      return total;
    });
  }
}

function header({ name, help }: MetricOptions<string>, type: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`;
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}

/** Labels as they stand between braces. */
export function pairs(labels: readonly string[], values: readonly string[]): string {
  return labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`).join(',');
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
