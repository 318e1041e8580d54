// What carriers do wrong, in whole calls: odd codecs, lost streams, failing APIs, many calls at once.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallerStep } from '../../src/testing/index.js';
import { eventually, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';

const CALLEE = '+15005550020';
const LONG = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen. '.repeat(3);
const QUIET: readonly CallerStep[] = [{ type: 'pause', durationMs: 30_000 }];
const TALKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'What time is it?' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

describe('carrier-b, codecs', () => {
  it.each([
    ['PCMU', {}],
    ['PCMA', {}],
    ['L16 at 8 kHz', { l16SampleRateHz: 8000 }],
    ['L16 in network byte order', { l16ByteOrder: 'big' }],
  ] as const)('follows what the stream says: %s', { timeout: 40_000 }, async (name, options) => {
    const grant = name === 'PCMU' || name === 'PCMA' ? { grant: name } : {};
    await using running = await startCarrierPhone('carrier-b', {}, { carrierB: { ...grant, ...options } });
    const report = await running.simulator.call({ script: TALKS });
    expect(report).toMatchObject({ ok: true, clicks: [] });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup' });
    // The caller was understood through that codec, or there would be one turn only: the greeting.
    expect(record.turns.map(({ userText }) => userText).join(' ')).toContain('What time is it');
    expect(running.simulator.legs[0]?.violations).toEqual([]);
  });

  it('restarts a codec that it does not speak, once, and goes on', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone('carrier-b', {}, { carrierB: { grant: ['G722', 'PCMU'] } });
    const report = await running.simulator.call({ script: TALKS });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup' });
    const starts = running.simulator.requests.filter(({ purpose }) => purpose === 'start-stream');
    expect(starts).toHaveLength(2);
    expect(await running.history()).toHaveLength(1);
  });

  it('apologizes and hangs up when the codec stays foreign', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone('carrier-b', {}, { carrierB: { grant: 'G722' } });
    const report = await running.simulator.call({ script: QUIET });
    const record = await running.record(report.carrierCallId);
    expect(record.endReason).toBe('protocol-error');
    expect(record.error?.message).toContain('G722');
    const [leg] = running.simulator.legs;
    expect(leg?.spoken).toHaveLength(1);
    await eventually('the end of the leg', () => (leg?.isOver === true ? leg : undefined));
  });
});

describe.concurrent.each(SIMULATED_CARRIERS)('%s, in trouble', (id) => {
  it('loses the stream without a word: resumed, or ended with the leg gone', async () => {
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({
      script: [
        { type: 'pause', durationMs: 600 },
        { type: 'hang-up', abrupt: true },
      ],
    });
    await calling;
    await running.simulator.settled();
    const [record] = await eventually('the record', async () => {
      const records = await running.history();
      return records.length > 0 ? records : undefined;
    });
    expect(record?.status).toBe('completed');
    await eventually('the end of the leg', () =>
      running.simulator.legs[0]?.isOver === true ? true : undefined,
    );
  });

  it('cannot be made to end a call: operator and record are told so', { timeout: 60_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: LONG },
      {
        simulator: {
          disturbances: {
            restFailures: [
              { purpose: 'hang-up', status: 500, times: 1000 },
              { purpose: 'look-up', status: 500, times: 1000 },
            ],
          },
        },
      },
    );
    const stop = new AbortController();
    const calling = running.simulator.call({ script: QUIET, maxDurationMs: 40_000, signal: stop.signal });
    const [live] = await running.active(1, ({ transcript }) => transcript.length > 0);
    const callId = live?.callId ?? '';
    expect(await running.phone.hangUp(callId)).toBe('pending');
    expect(await running.record(callId)).toMatchObject({
      status: 'completed',
      endReason: 'operator-hangup',
      hangUp: 'pending',
    });
    stop.abort();
    await calling;
  });

  it('refuses to end a call, and reports its end later: it is over in the record, too', {
    timeout: 60_000,
  }, async () => {
    const restFailures = [{ purpose: 'hang-up' as const, status: 401, times: 1000 }];
    const script: CallerStep[] = [{ type: 'pause', durationMs: 3000 }, { type: 'hang-up' }];
    await using running = await startCarrierPhone(
      id,
      { firstMessage: LONG },
      { simulator: { disturbances: { restFailures }, callees: { [CALLEE]: { type: 'human', script } } } },
    );
    const call = await running.phone.call({ to: CALLEE });
    await running.active(1, ({ transcript }) => transcript.length > 0);
    expect(await running.phone.hangUp(call.callId)).toBe('failed');
    const { incidents } = await running.record(call.callId, ({ hangUp }) => hangUp === 'done');
    expect(incidents).toMatchObject([{ code: 'hangup-failed' }]);
  });

  it('fails twice and then hangs up: nobody notices', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      { firstMessage: LONG },
      { simulator: { disturbances: { restFailures: [{ purpose: 'hang-up', status: 503, times: 2 }] } } },
    );
    const calling = running.simulator.call({ script: QUIET });
    const [live] = await running.active(1, ({ transcript }) => transcript.length > 0);
    await running.phone.hangUp(live?.callId ?? '');
    await calling;
    expect(await running.record(live?.callId ?? '')).toMatchObject({ incidents: [], error: null });
  });

  it('does not transfer: the caller stays with the agent and the operator is told', {
    timeout: 40_000,
  }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { disturbances: { restFailures: [{ purpose: 'transfer', status: 422, times: 9 }] } } },
    );
    const calling = running.simulator.call({ script: QUIET });
    const [live] = await running.active(1, ({ transcript }) => transcript.length > 0);
    const callId = live?.callId ?? '';
    await expect(running.phone.transfer(callId, '+15005550030')).rejects.toMatchObject({
      code: 'CARRIER_FAILED',
    });
    await running.active(1, ({ status }) => status === 'active');
    await running.phone.hangUp(callId);
    await calling;
    expect(await running.record(callId)).toMatchObject({ endReason: 'operator-hangup' });
  });

  it('has eight calls at once that do not mix', { timeout: 60_000 }, async () => {
    await using running = await startCarrierPhone(id, {}, { serve: { maxStreamsPerIp: 20 } });
    const numbers = Array.from({ length: 8 }, (_, index) => `+1500555004${index}`);
    const reports = await Promise.all(
      numbers.map((from, index) =>
        running.simulator.call({
          from,
          to: OWN_NUMBER,
          script: [
            { type: 'pause', durationMs: 300 + index * 60 },
            { type: 'press', digits: String(index) },
            { type: 'pause', durationMs: 600 },
            { type: 'hang-up' },
          ],
        }),
      ),
    );
    for (const [index, report] of reports.entries()) {
      const record = await running.record(report.carrierCallId);
      expect(record).toMatchObject({ caller: numbers[index], endReason: 'caller-hangup' });
      const keys = record.transcript.filter(({ role }) => role === 'system').map(({ text }) => text);
      expect(keys).toEqual([`Key ${index}`]);
    }
    expect(running.records).toHaveLength(8);
  });
});

describe('an outbound call that cannot work', () => {
  it.each(['12', '', '+1 500 555', 'tel:+15005550020'])('is refused at once: %j', async (to) => {
    await using running = await startCarrierPhone('carrier-b');
    await expect(running.phone.call({ to })).rejects.toMatchObject({
      code: expect.stringMatching(/^(REQUEST|CONFIG)_/),
    });
    expect(running.simulator.requests).toEqual([]);
    await expect(running.phone.call({ to: CALLEE, ringTimeoutSeconds: 0 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});
