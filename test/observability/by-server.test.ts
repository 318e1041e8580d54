import { expect, it } from 'vitest';
import { byServer } from '../../src/observability/by-server.js';
import { Counter, Gauge, Histogram } from '../../src/observability/metric.js';
import { readExposition, sampleOf, seriesOf } from '../support/exposition.js';

const [ONE, TWO, GONE] = ['http://10.0.0.5:8000', 'http://10.0.0.6:8000', 'http://10.0.0.7:8000'];

function textOf(value: number): string {
  const wait = new Histogram({
    name: 'offhook_wait_seconds',
    help: 'Waiting.',
    labels: ['stage'],
    buckets: [1, 2],
  });
  wait.observe(value, { stage: 'a "b" {c}' });
  const errors = new Counter({ name: 'offhook_errors_total', help: 'Errors.' });
  errors.add(value);
  return wait.text() + errors.text();
}

it('has each metric once, and each sample with its server', () => {
  const load = new Gauge({ name: 'offhook_new_bytes', help: 'Of another version.', read: () => 7 });
  const text = byServer([
    { server: ONE, text: textOf(1) },
    { server: TWO, text: load.text() + textOf(2) },
    { server: GONE, text: undefined },
  ]);
  const families = readExposition(text);
  expect([...families.keys()].sort()).toEqual([
    'offhook_errors_total',
    'offhook_new_bytes',
    'offhook_server_up',
    'offhook_wait_seconds',
  ]);
  expect([ONE, TWO, GONE].map((server) => sampleOf(families, 'offhook_server_up', { server }))).toEqual([
    1, 1, 0,
  ]);
  expect([ONE, TWO, GONE].map((server) => sampleOf(families, 'offhook_errors_total', { server }))).toEqual([
    1,
    2,
    undefined,
  ]);
  expect(families.get('offhook_new_bytes')?.metrics).toHaveLength(1);
  const stage = 'a "b" {c}';
  expect(seriesOf(families, 'offhook_wait_seconds', { server: TWO, stage })).toMatchObject({
    sum: 2,
    count: 1,
    buckets: { 1: 0, 2: 1, '+Inf': 1 },
  });
});

it('is empty where nobody was asked', () => {
  expect(byServer([])).toBe('');
});
