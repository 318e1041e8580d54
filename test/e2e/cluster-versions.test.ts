// Servers of a cluster that hear facts of a later version, which they do not know. Whole calls, on both carriers.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FactStamp } from '../../src/calls/facts/fact-stamp.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { asksUpon } from '../support/asking-caller.js';
import { eventually } from '../support/carrier-phone.js';
import { ClusterPhones } from '../support/cluster-phones.js';
import { listenTo } from '../support/event-stream.js';

/** What is stated from now on is stated as a later version may: with a field and a fact more. */
function stateAsLater(): void {
  const { publish } = FactStamp.prototype;
  vi.spyOn(FactStamp.prototype, 'publish').mockImplementation(function (this: FactStamp, fact, at) {
    publish.call(this, Object.assign({ mood: 'good' }, fact), at);
    if (fact.type === 'turn.completed') publish.call(this, { type: 'mood.changed', mood: 'good' } as never);
  });
}

describe.each(SIMULATED_CARRIERS)('servers of a cluster, on %s', { timeout: 60_000 }, (id) => {
  afterEach(() => vi.restoreAllMocks());

  it('pass on facts that they do not know, and go on with a call that has some', async () => {
    stateAsLater();
    await using phones = await ClusterPhones.three(id);
    const pages = await Promise.all(phones.phones.map(({ server }) => listenTo(server.url)));
    const isMoved = new AbortController();
    const calling = phones.simulator.call({ script: asksUpon(isMoved.signal) });
    const moods = () => phones.facts.filter(({ type }) => String(type) === 'mood.changed');
    const { term } = await eventually('a fact of a later version', () => moods()[0]);
    // The next stream comes to another server.
    phones.simulator.legs[0]?.dropStream();
    await eventually('the call there', () =>
      phones.facts.find((fact) => fact.term > term && fact.type === 'incident.noted'),
    );
    isMoved.abort();
    const report = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const [record, ...others] = await phones.records(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(record?.transcript.map(({ role }) => role)).toEqual(['agent', 'user', 'agent']);
    for (const other of others) expect(other).toEqual(record);
    expect(new Set(moods().map(({ nodeId }) => nodeId)).size).toBeGreaterThan(1);
    for (const page of pages) {
      const shown = page.facts.filter(({ type }) => String(type) === 'mood.changed');
      expect(shown).toEqual(moods().toSorted((a, b) => a.term - b.term || a.seq - b.seq));
      page.close();
    }
    for (const { logger } of phones.phones) expect(logger.sentences('error')).toEqual([]);
    expect([phones.started.length, phones.ended.length]).toEqual([1, 1]);
  });
});
