// A media stream that is lost ends no call: another one is opened, and the conversation goes on. Whole calls, on both carriers.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallPhase, CallRecord } from '../../src/contract/call-record.js';
import type { CallerStep, CarrierASimulator, Disturbances } from '../../src/testing/index.js';
import { type CarrierPhone, eventually, startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const QUESTION: CallerStep = { type: 'say', text: 'What time is it?' };
const WAIT: CallerStep = { type: 'wait-for-agent' };
const GREETING = 'Hello, how can I help you?';

const rolesOf = ({ transcript }: CallRecord) => transcript.map(({ role }) => role);
const replacements = ({ incidents }: CallRecord) =>
  incidents.filter(({ code }) => code === 'stream-replaced').length;

/** Drops the stream of the one call so many times, each when the next one has worked. */
async function drop(
  { active, simulator }: CarrierPhone,
  { times = 1, during = 'listening' }: { times?: number; during?: CallPhase } = {},
): Promise<void> {
  await active(1, ({ transcript, phase }) => transcript.length > 0 && phase?.name === during);
  for (let time = 0; time < times; time += 1) {
    if (time > 0) await pause(systemClock, 1500);
    const [leg] = simulator.legs;
    const before = leg?.reports.length ?? 0;
    leg?.dropStream();
    await eventually('another stream', () => ((leg?.reports.length ?? 0) > before ? true : undefined));
  }
}

/** A call whose stream is lost after the greeting, and what became of it. */
async function lose(
  id: (typeof SIMULATED_CARRIERS)[number],
  { times = 1, disturbances = {} }: { times?: number; disturbances?: Disturbances },
) {
  await using running = await startCarrierPhone(id, {}, { simulator: { disturbances } });
  const lasts: CallerStep = { type: 'pause', durationMs: 6000 + 2000 * times };
  const calling = running.simulator.call({ script: [WAIT, lasts, QUESTION, WAIT, { type: 'hang-up' }] });
  await drop(running, { times });
  const report = await calling;
  const record = await running.record(report.carrierCallId);
  const { webhooks } = running.simulator;
  return { report, record, resumes: webhooks.filter(({ path }) => path.includes('/resume/')) };
}

/** What the carrier sends behind a stream. */
const resume = (callId: string, { number, sid }: { number: number; sid: string }) => ({
  url: `https://voice.example.com/webhooks/carrier-a/resume/${callId}/${number}`,
  method: 'POST' as const,
  parameters: [['CallSid', sid]] as const,
  deliveryId: randomUUID(),
});

describe.each(SIMULATED_CARRIERS)('a stream that is lost, on %s', { timeout: 60_000 }, (id) => {
  it('is replaced by another one, in which the conversation goes on', async () => {
    const { report, record } = await lose(id, {});
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup', error: null });
    expect(replacements(record)).toBe(1);
    // One greeting, one question, one answer.
    expect(rolesOf(record)).toEqual(['agent', 'user', 'agent']);
    expect(record.transcript[0]?.text).toBe(GREETING);
  });
});

/** What does not depend on how a carrier is asked for another stream. */
describe.each(playedOn('carrier-b'))('a stream that is lost in trouble, on %s', { timeout: 60_000 }, (id) => {
  it('is replaced as often as it is lost', async () => {
    const { report, record } = await lose(id, { times: 6 });
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(replacements(record)).toBe(6);
  });

  it('is replaced while the agent speaks, and nothing is said twice beyond the sentence that was cut', async () => {
    const sentences = ['One is the first.', 'Two is the second.', 'Three is the third.', 'Four is the last.'];
    await using running = await startCarrierPhone(id, { firstMessage: sentences.join(' ') });
    const calling = running.simulator.call({
      script: [{ type: 'pause', durationMs: 3000 }, WAIT, QUESTION, WAIT, { type: 'hang-up' }],
    });
    await drop(running, { during: 'speaking' });
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const [record] = await eventually('the record', async () => {
      const records = await running.history();
      return records.length === 1 ? records : undefined;
    });
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(rolesOf(record as CallRecord)).toContain('user');
    expect(running.records).toHaveLength(1);
  });

  it('ends the call where it is lost again and again before it has worked', async () => {
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({ script: [{ type: 'pause', durationMs: 60_000 }] });
    const leg = await eventually('a stream', () =>
      running.simulator.legs.find(({ reports }) => reports.length > 0),
    );
    // At most four are asked for in a row.
    for (let streams = 1; streams <= 5 && !leg.isOver; streams += 1) {
      leg.dropStream();
      await eventually(
        'another stream, or the end',
        () => leg.isOver || leg.reports.length > streams || undefined,
      );
    }
    const report = await calling;
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ status: 'completed', endReason: 'stream-lost' });
    await eventually('the end of the leg', () => leg.isOver || undefined);
  });

  it('is replaced where the API of the carrier is down for ten seconds', async () => {
    await using running = await startCarrierPhone(id, { idle: false });
    const { simulator } = running;
    const calling = simulator.call({
      script: [WAIT, { type: 'pause', durationMs: 20_000 }, QUESTION, WAIT, { type: 'hang-up' }],
    });
    await running.active(1, ({ transcript, phase }) => transcript.length > 0 && phase?.name === 'listening');
    simulator.disturb({ restFailures: [{ purpose: 'start-stream', status: 503, times: 1000 }] });
    simulator.legs[0]?.dropStream();
    await pause(systemClock, 10_000);
    simulator.disturb({ restFailures: [] });
    const report = await calling;
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(replacements(record)).toBe(1);
    expect(rolesOf(record)).toEqual(['agent', 'user', 'agent']);
  });

  it('ends the call where the caller leaves right behind it', async () => {
    const left = new AbortController();
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({
      script: [{ type: 'wait-until', signal: left.signal, timeoutMs: 60_000 }, { type: 'hang-up' }],
    });
    await drop(running);
    left.abort();
    const report = await calling;
    const endedAt = systemClock.now();
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ status: 'completed', endReason: 'caller-hangup' });
    // By the clock of the calls: nobody waits for a stream that cannot come.
    expect(systemClock.now() - endedAt).toBeLessThan(1000);
  });
});

describe('a carrier that asks by itself', { timeout: 60_000 }, () => {
  const dead = { purpose: 'start-stream', status: 503, times: 100 } as const;

  it('goes on behind its pause where its API cannot be reached', async () => {
    const { report, record, resumes } = await lose('carrier-a', { disturbances: { restFailures: [dead] } });
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
    expect(resumes.map(({ path, status }) => [path.split('/').at(-1), status])).toEqual([['2', 200]]);
    expect(replacements(record)).toBe(1);
    expect(rolesOf(record)).toEqual(['agent', 'user', 'agent']);
  });

  it('is answered once for each number, by nobody but its carrier, and never after the end', async () => {
    await using running = await startCarrierPhone(
      'carrier-a',
      {},
      { simulator: { disturbances: { restFailures: [dead] } } },
    );
    const simulator = running.simulator as CarrierASimulator;
    const calling = simulator.call({ script: [{ type: 'pause', durationMs: 20_000 }, { type: 'hang-up' }] });
    await drop(running);
    const [live] = await running.active(1);
    const sid = live?.carrierCallId ?? '';
    const ask = (number: number, options: { signature?: 'wrong' } = {}) =>
      simulator.send({ ...resume(live?.callId ?? '', { number, sid }), ...options });
    expect((await ask(3, { signature: 'wrong' })).status).toBe(403);
    const streams = simulator.legs[0]?.reports.length;

    const again = await ask(2);
    expect(again).toMatchObject({ status: 200, body: expect.stringContaining('<Stream') });
    expect((await ask(2)).body).toBe(again.body);
    // Nothing has happened to the stream that is up.
    await pause(systemClock, 2000);
    expect(simulator.legs[0]?.reports).toHaveLength(streams ?? 0);
    expect((await running.active(1))[0]?.incidents).toHaveLength(1);

    await calling;
    await running.record(live?.callId ?? '');
    const after = await ask(2);
    expect(after.body).toContain('<Hangup/>');
    expect((await ask(9)).body).toContain('<Hangup/>');
  });

  it('is kept for a while where nobody knows the call', async () => {
    await using running = await startCarrierPhone('carrier-a');
    const simulator = running.simulator as CarrierASimulator;
    const ask = (number: number) =>
      simulator.send(resume('call-of-another', { number, sid: `CA${'1b'.repeat(16)}` }));
    expect((await ask(1)).body).toContain('/resume/call-of-another/2');
    expect((await ask(8)).body).toContain('/resume/call-of-another/9');
    expect((await ask(9)).body).toContain('<Hangup/>');
  });
});
