// Reads the text exposition format with somebody else's parser, and checks what that one lets pass: the rules of promtool.
import parse from 'parse-prometheus-text-format';
import { expect } from 'vitest';

export interface Family {
  name: string;
  help: string;
  type: string;
  metrics: readonly Series[];
}

export interface Series {
  labels: Readonly<Record<string, string>>;
  /** Of a counter or a gauge. */
  value: number;
  /** Of a histogram: observations up to each bound. */
  buckets: Readonly<Record<string, number>>;
  count: number;
  sum: number;
}

interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

const UNITS = /_(seconds|bytes|dollars)(_total)?$/;
const COUNTED =
  /^(offhook_calls_(active|held)|offhook_event_streams|offhook_overloaded|offhook_server_(calls|up)|offhook_draining|offhook_cluster_(broker_up|nodes|facts_waiting|facts_late_seconds))$/;

/** The families of `text` by name. Fails the test for a text that is not clean. */
export function readExposition(text: string): ReadonlyMap<string, Family> {
  expect(text.endsWith('\n'), 'the last line has its end').toBe(true);
  expect(text).not.toMatch(/\n\n|\r/);
  const helps = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)];
  const types = [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram)$/gm)];
  const names = types.map(([, name = '']) => name);
  expect(helps.map(([, name]) => name)).toEqual(names);
  expect(new Set(names).size, 'every family stands once').toBe(names.length);
  const samples = samplesOf(text);
  const families = types.map(([, name = '', type = ''], index) => {
    const help = helps[index]?.[2] ?? '';
    return {
      name,
      type,
      help,
      metrics: type === 'histogram' ? histograms(name, samples) : plain(name, samples),
    };
  });
  expect([...samples.keys()], 'no sample without a family').toEqual([]);
  for (const family of families) checkFamily(family);
  return new Map(families.map((family) => [family.name, family]));
}

/** Every sample by its own name. The parser puts histograms with labels together wrongly, so it is told of no types. */
function samplesOf(text: string): Map<string, Sample[]> {
  const bare = text.replaceAll(/^# .+\n/gm, '');
  if (bare === '') return new Map();
  const parsed = parse(bare) as {
    name: string;
    metrics: { labels?: Record<string, string>; value: string }[];
  }[];
  const samples = parsed.flatMap(({ name, metrics }) =>
    metrics.map(({ labels = {}, value }) => ({ name, labels, value: toNumber(value) })),
  );
  expect(samples.length, 'every line is read').toBe(bare.trimEnd().split(/(?<!\\)\n/).length);
  const byName = new Map<string, Sample[]>();
  for (const { name, ...sample } of samples) byName.set(name, [...(byName.get(name) ?? []), sample]);
  return byName;
}

function take(samples: Map<string, Sample[]>, name: string): Sample[] {
  const found = samples.get(name) ?? [];
  samples.delete(name);
  return found;
}

function plain(name: string, samples: Map<string, Sample[]>): Series[] {
  return take(samples, name).map((sample) => ({
    ...sample,
    buckets: {},
    count: Number.NaN,
    sum: Number.NaN,
  }));
}

function histograms(name: string, samples: Map<string, Sample[]>): Series[] {
  const buckets = take(samples, `${name}_bucket`);
  const sums = take(samples, `${name}_sum`);
  return take(samples, `${name}_count`).map(({ labels, value: count }) => {
    const key = JSON.stringify(labels);
    const own = buckets.filter(({ labels: { le: _le, ...rest } }) => JSON.stringify(rest) === key);
    const sum = sums.find((sample) => JSON.stringify(sample.labels) === key)?.value ?? Number.NaN;
    const bounds = Object.fromEntries(own.map((sample) => [sample.labels.le ?? '', sample.value]));
    expect(Object.keys(bounds), `${name}: bounds once each`).toHaveLength(own.length);
    const places = own.map((sample) => toNumber(sample.labels.le ?? ''));
    expect(places, `${name}: bounds rise`).toEqual([...places].sort((a, b) => a - b));
    return { labels, value: Number.NaN, buckets: bounds, count, sum };
  });
}

/** The value of the one series of a family that has these labels. */
export function sampleOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return seriesOf(families, name, labels)?.value;
}

export function seriesOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Series | undefined {
  return families
    .get(name)
    ?.metrics.find((series) => JSON.stringify(series.labels) === JSON.stringify(labels));
}

function checkFamily({ name, type, metrics }: Family): void {
  expect(name.endsWith('_total'), `${name} is named as a ${type}`).toBe(type === 'counter');
  expect(name).toMatch(type === 'counter' || COUNTED.test(name) ? /^[a-z_]+$/ : UNITS);
  const labels = metrics.map((series) => JSON.stringify(series.labels));
  expect(labels.length, `${name} has samples`).toBeGreaterThan(0);
  expect(new Set(labels).size, `${name}: series once each`).toBe(labels.length);
  for (const series of metrics) {
    if (type !== 'histogram') {
      expect(series.value, name).not.toBeNaN();
      if (type === 'counter') expect(series.value).toBeGreaterThanOrEqual(0);
      continue;
    }
    // The parser's object has bounds that are whole numbers first.
    const rising = Object.entries(series.buckets).sort(([a], [b]) => toNumber(a) - toNumber(b));
    const counts = rising.map(([, count]) => count);
    expect(counts, `${name}: cumulative`).toEqual([...counts].sort((a, b) => a - b));
    expect(series.buckets['+Inf'], `${name}: +Inf is the count`).toBe(series.count);
    expect(series.sum, name).not.toBeNaN();
  }
}

function toNumber(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}
