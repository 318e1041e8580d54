// The figures of the page against the file that it exports, call by call.
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { CallFact } from '../../src/contract/call-event.js';
import { formatDuration, formatLatency, formatMoney } from '../../src/dashboard/ui/format.js';
import { ended, stamp, started, turn } from '../support/call-facts.js';
import { describeInChromium } from '../support/dashboard-page.js';

const CALLS = 120;

function costing(index: number): CallFact {
  // Sevenths of a dollar cent have no end in binary or decimal: whoever adds before rounding is wrong somewhere.
  const part = (divisor: number) => Math.round((index * 1e6) / divisor / 100) / 1e6;
  const [stt, llm, tts] = [part(7), index % 9 === 0 ? null : part(11), part(13)];
  const telephony = index % 5 === 0 ? null : part(17);
  const total = [stt, llm, tts, telephony].reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return {
    type: 'cost.updated',
    cost: {
      stt,
      llm,
      tts,
      telephony,
      total: Math.round(total * 1e6) / 1e6,
      currency: 'USD',
      estimated: false,
    },
    usage: null,
  };
}

describeInChromium('the figures', (bench) => {
  it('are the sums and averages of what is exported', async () => {
    await bench.serve();
    const now = Date.now();
    for (let index = 1; index <= CALLS; index += 1) {
      const answers: CallFact[] =
        index % 4 === 0 ? [] : [{ type: 'turn.completed', turn: turn(0, { totalMs: 300 + index }) }];
      const facts = [started({ carrierCallId: null }), ...answers, costing(index), ended()];
      const events = stamp(facts, { callId: `call-${index}`, at: now - index * 60_000 });
      const [last] = events.slice(-1);
      if (last !== undefined) last.at += index * 1234;
      bench.server.publish(...events);
    }
    await bench.server.bus.settled();
    const page = await bench.visit('/');
    await page.getByText(`${CALLS} calls`).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV of all calls' }).click(),
    ]);
    const csv = await readFile(await file.path(), 'utf8');
    const rows = parse(csv, { columns: true, bom: true }) as Record<string, string>[];
    expect(rows).toHaveLength(CALLS);
    const known = (column: string) =>
      rows
        .map((row) => row[column] ?? '')
        .filter((cell) => cell !== '')
        .map(Number);
    const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
    const average = (values: readonly number[]) => sum(values) / values.length;
    // The sum of a call's components is its total.
    const parts = ['cost.stt', 'cost.llm', 'cost.tts', 'cost.telephony'];
    expect(sum(parts.flatMap(known))).toBeCloseTo(sum(known('cost.total')), 6);
    const figures = await page.locator('.counters').textContent();
    expect(figures).toContain(`Total calls${CALLS}`);
    expect(figures).toContain(`Total cost${formatMoney(sum(known('cost.total')))}`);
    expect(figures).toContain(`Avg duration${formatDuration(average(known('durationMs')))}`);
    expect(figures).toContain(`Avg latency${formatLatency(average(known('latency.avgMs')))}`);
    expect(bench.troubles).toEqual([]);
  });
});
