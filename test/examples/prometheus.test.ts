import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { ClientBench } from '../support/client-bench.js';
import { describeNeeding } from '../support/needing.js';

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

describeNeeding('promtool', 'Prometheus', (promtool = '') => {
  const cwd = fileURLToPath(new URL('../../examples/prometheus/', import.meta.url));
  const run = (args: string[], input = '') => execFileSync(promtool, args, { cwd, input, encoding: 'utf8' });
  const folder = mkdtempSync(join(tmpdir(), 'offhook-rules-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('takes the configuration and the rules', () => {
    expect(run(['check', 'config', '--syntax-only', 'prometheus.yml'])).toContain('SUCCESS');
    expect(run(['check', 'rules', '--lint-fatal', 'alerts.yml'])).toContain('6 rules found');
  });

  it('raises each alert at its cause, and none without one', () => {
    expect(run(['test', 'rules', 'alerts.test.yml'])).toContain('SUCCESS');
  });

  it('takes every query of the board', () => {
    const board = JSON.parse(read('grafana-board.json')) as { panels: { targets: { expr: string }[] }[] };
    const rules = board.panels
      .flatMap(({ targets }) => targets)
      .map(({ expr }, index) => ({ record: `board:${index}`, expr }));
    const file = join(folder, 'board.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }));
    expect(run(['check', 'rules', file])).toContain(`${rules.length} rules found`);
  });

  it('finds nothing to complain of in the metrics of a server that has had a call', async () => {
    await using bench = await ClientBench.open();
    const { url } = await bench.serve();
    const call = await bench.dial('+15550111');
    await call.hangUp();
    expect(run(['check', 'metrics'], await (await fetch(`${url}/metrics`)).text())).toBe('');
  });
});
