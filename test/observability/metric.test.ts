import { describe, expect, it } from 'vitest';
import { Counter, Gauge, Histogram } from '../../src/observability/metric.js';
import { readExposition, seriesOf, sampleOf } from '../support/exposition.js';

describe('Counter', () => {
  it('adds up by labels, and takes nothing that would make it fall', () => {
    const counter = new Counter({ name: 'x_total', help: 'Xs.', labels: ['kind'] });
    expect(counter.text()).toBe('');
    counter.add(1, { kind: 'a' });
    counter.add(2.5, { kind: 'a' });
    counter.add(1, { kind: 'b' });
    for (const amount of [-1, Number.NaN, Number.POSITIVE_INFINITY]) counter.add(amount, { kind: 'a' });
    const families = readExposition(counter.text());
    expect(sampleOf(families, 'x_total', { kind: 'a' })).toBe(3.5);
    expect(sampleOf(families, 'x_total', { kind: 'b' })).toBe(1);
  });

  it('begins at zero without labels', () => {
    expect(new Counter({ name: 'x_total', help: 'Xs.' }).text()).toBe(
      '# HELP x_total Xs.\n# TYPE x_total counter\nx_total 0\n',
    );
  });

  it('shows quotes, backslashes and line ends of a label and of a help as they are', () => {
    const value = 'a "quoted" \\ word\nand more';
    const counter = new Counter({ name: 'x_total', help: 'One \\ line\nor two.', labels: ['kind'] });
    counter.add(1, { kind: value });
    expect(sampleOf(readExposition(counter.text()), 'x_total', { kind: value })).toBe(1);
  });

  it('has a bound on its series: what is too much counts as other', () => {
    const counter = new Counter({ name: 'x_total', help: 'Xs.', labels: ['kind', 'code'] });
    for (let index = 0; index < 1000; index += 1) counter.add(1, { kind: String(index), code: 'c' });
    const families = readExposition(counter.text());
    const { metrics = [] } = families.get('x_total') ?? {};
    expect(metrics.length).toBe(301);
    expect(metrics.reduce((sum, { value }) => sum + value, 0)).toBe(1000);
    expect(sampleOf(families, 'x_total', { kind: 'other', code: 'other' })).toBe(700);
  });
});

describe('Gauge', () => {
  it('is asked when it is read, and says nothing of what is not known', () => {
    let value: number | null = null;
    const gauge = new Gauge({ name: 'x_bytes', help: 'Xs.', read: () => value });
    expect(gauge.text()).toBe('');
    value = 7;
    expect(sampleOf(readExposition(gauge.text()), 'x_bytes')).toBe(7);
  });
});

describe('Histogram', () => {
  it('counts up to and with each bound', () => {
    const histogram = new Histogram({ name: 'x_seconds', help: 'Xs.', buckets: [0.1, 1, 10] });
    for (const value of [0, 0.1, 0.100001, 1, 5, 11, 1e9, Number.NaN]) histogram.observe(value);
    expect(seriesOf(readExposition(histogram.text()), 'x_seconds')).toMatchObject({
      buckets: { '0.1': 2, '1': 4, '10': 5, '+Inf': 7 },
      count: 7,
      sum: expect.closeTo(0.1 + 0.100001 + 1 + 5 + 11 + 1e9, 6),
    });
  });

  it('keeps series apart', () => {
    const histogram = new Histogram({ name: 'x_seconds', help: 'Xs.', labels: ['stage'], buckets: [1] });
    expect(histogram.text()).toBe('');
    histogram.observe(0.5, { stage: 'a' });
    histogram.observe(2, { stage: 'b' });
    const families = readExposition(histogram.text());
    expect(seriesOf(families, 'x_seconds', { stage: 'a' })).toMatchObject({ buckets: { '1': 1 }, count: 1 });
    expect(seriesOf(families, 'x_seconds', { stage: 'b' })).toMatchObject({ buckets: { '1': 0 }, sum: 2 });
  });
});
