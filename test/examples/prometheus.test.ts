import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ClientBench } from '../support/client-bench.js';

const read = (name: string) =>
  readFileSync(new URL(`../../examples/prometheus/${name}`, import.meta.url), 'utf8');

/** Metrics that an expression names; those of a histogram without the ending of a series. */
const metricsIn = (text: string) =>
  [...text.matchAll(/\boffhook_\w+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''));

it('every metric of the rules and the board is one that a server has', async () => {
  await using bench = await ClientBench.open();
  const { url } = await bench.serve();
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const known = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const source = ['call-metrics', 'server-metrics'].map((name) =>
    readFileSync(new URL(`../../src/observability/${name}.ts`, import.meta.url), 'utf8'),
  );
  // Those that have nothing to say yet are not in the text.
  for (const [, name] of source.join('\n').matchAll(/name: '(offhook_\w+)'/g)) known.add(name);
  const named = metricsIn(read('alerts.yml') + read('grafana-board.json'));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('the board has the shape of one: panels in a grid, each with a query and a title', () => {
  const board = JSON.parse(read('grafana-board.json'));
  expect(board).toMatchObject({ title: 'Offhook', uid: 'offhook', schemaVersion: 39 });
  for (const { id, title, type, gridPos, targets } of board.panels) {
    expect([typeof id, typeof title, type]).toEqual(['number', 'string', 'timeseries']);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    expect(targets[0].expr).toMatch(/offhook_/);
  }
});
