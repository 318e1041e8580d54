// Both carriers, both directions, every ending: whole calls on loopback with the local stack. Each has a server and a carrier of
// its own and mostly waits, so they run side by side.
import { pause } from '../../src/base/pause.js';
import { systemClock } from '../../src/base/clock.js';
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { CallerStep, SimulatedLeg } from '../../src/testing/index.js';
import { type CarrierPhone, eventually, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';

const CALLEE = '+15005550020';
const OTHER = '+15005550030';
const LONG = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen. '.repeat(3);
const QUIET: readonly CallerStep[] = [{ type: 'pause', durationMs: 30_000 }];
const HANGS_UP: readonly CallerStep[] = [{ type: 'pause', durationMs: 700 }, { type: 'hang-up' }];
const TALKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'What time is it?' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

/** The one leg of a simulator, once it is over. */
async function legOf(running: CarrierPhone, index = 0): Promise<SimulatedLeg> {
  const leg = await eventually('the end of the leg', () => {
    const found = running.simulator.legs[index];
    return found?.isOver === true ? found : undefined;
  });
  expect(leg.violations).toEqual([]);
  return leg;
}

const isSpeaking = (call: CallRecord) => call.transcript.length > 0;

describe.concurrent.each(SIMULATED_CARRIERS)('%s, inbound', (id) => {
  it('is answered, talks and is hung up by the caller', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id);
    const report = await running.simulator.call({ from: CALLEE, to: OWN_NUMBER, script: TALKS });
    expect(report).toMatchObject({ ok: true, carrier: id, answer: { outcome: 'answered' } });
    const record = await running.record(report.carrierCallId);
    expect(record).toMatchObject({
      carrier: id,
      direction: 'inbound',
      caller: CALLEE,
      callee: OWN_NUMBER,
      outcome: 'answered',
      endReason: 'caller-hangup',
      error: null,
    });
    expect(record.turnCount).toBeGreaterThanOrEqual(2);
    expect(record.media?.unexpectedMessages).toBe(0);
    expect(report.agentSpeechMs).toBeGreaterThan(500);
    await legOf(running);
    expect(running.records.map(({ callId }) => callId)).toEqual([record.callId]);
  });

  it('ends on a word of the operator, and the carrier knows', async () => {
    await using running = await startCarrierPhone(id, { firstMessage: LONG });
    const calling = running.simulator.call({ from: CALLEE, script: QUIET });
    const [live] = await running.active(1, isSpeaking);
    await running.phone.hangUp(live?.callId ?? '');
    const report = await calling;
    expect(await running.record(report.carrierCallId)).toMatchObject({ endReason: 'operator-hangup' });
    await legOf(running);
  });

  it('takes keys once each, into transcript and record', async () => {
    await using running = await startCarrierPhone(id);
    const report = await running.simulator.call({
      script: [
        { type: 'pause', durationMs: 500 },
        { type: 'press', digits: '12#' },
        { type: 'pause', durationMs: 800 },
        { type: 'hang-up' },
      ],
    });
    const record = await running.record(report.carrierCallId);
    const keys = record.transcript.filter(({ role }) => role === 'system').map(({ text }) => text);
    expect(keys).toEqual(['Key 1', 'Key 2', 'Key #']);
  });

  it('sends keys and goes on as the same call', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({ script: QUIET, maxDurationMs: 30_000 });
    const [live] = await running.active(1, isSpeaking);
    const callId = live?.callId ?? '';
    await running.phone.sendDigits(callId, '12#');
    const leg = await eventually('the keys', () =>
      running.simulator.legs[0]?.sentDigits.join('') === '12#' ? running.simulator.legs[0] : undefined,
    );
    expect(leg.isOver).toBe(false);
    await pause(systemClock, 2500);
    await running.active(1, ({ status }) => status === 'active');
    await running.phone.hangUp(callId);
    await calling;
    const record = await running.record(callId);
    expect(record).toMatchObject({ endReason: 'operator-hangup', outcome: 'answered', error: null });
    await legOf(running);
    expect(await running.history()).toHaveLength(1);
  });

  it('is handed over to another number', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({
      script: QUIET,
      maxDurationMs: 30_000,
      transferTo: { type: 'human', ringMs: 300, script: HANGS_UP },
    });
    const [live] = await running.active(1, isSpeaking);
    const callId = live?.callId ?? '';
    await running.phone.transfer(callId, OTHER);
    const record = await running.record(callId);
    expect(record).toMatchObject({
      endReason: 'transferred',
      outcome: 'answered',
      transfer: { to: OTHER, result: 'connected' },
    });
    await calling;
    await legOf(running);
  });

  it('comes back to the agent when the other number is busy', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id);
    const calling = running.simulator.call({
      script: QUIET,
      maxDurationMs: 30_000,
      transferTo: { type: 'busy' },
    });
    const [live] = await running.active(1, isSpeaking);
    const callId = live?.callId ?? '';
    await running.phone.transfer(callId, OTHER);
    const [back] = await running.active(1, ({ transfer }) => transfer?.result === 'busy');
    expect(back?.status).toBe('active');
    await pause(systemClock, 1500);
    await running.phone.hangUp(callId);
    await calling;
    expect(await running.record(callId)).toMatchObject({
      endReason: 'operator-hangup',
      transfer: { result: 'busy' },
    });
    await legOf(running);
  });

  it('is turned away with the busy tone when there is no room', async () => {
    await using running = await startCarrierPhone(id, { firstMessage: LONG }, { serve: { maxCalls: 1 } });
    const first = running.simulator.call({ script: QUIET });
    const [live] = await running.active(1, isSpeaking);
    const second = await running.simulator.call({ from: OTHER, script: QUIET });
    expect(second.answer.outcome).toBe('busy');
    await running.phone.hangUp(live?.callId ?? '');
    await first;
    const history = await eventually('both records', async () => {
      const records = await running.history();
      return records.length === 2 ? records : undefined;
    });
    expect(history.map(({ endReason }) => endReason).sort()).toEqual(['operator-hangup', 'over-capacity']);
  });

  it('is hung up when the server stops', async () => {
    const running = await startCarrierPhone(id, { firstMessage: LONG });
    const calling = running.simulator.call({ script: QUIET });
    await running.active(1, isSpeaking);
    await running.phone.disconnect();
    await calling;
    expect(running.records.map(({ endReason }) => endReason)).toEqual(['server-shutdown']);
    await legOf(running);
    await running[Symbol.asyncDispose]();
  });

  it('is one record when every webhook comes twice and out of order', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { disturbances: { duplicates: 1, shuffle: 7 } } },
    );
    const report = await running.simulator.call({ script: HANGS_UP });
    await running.simulator.settled();
    const record = await running.record(report.carrierCallId);
    expect(record.endReason).toBe('caller-hangup');
    expect(await running.history()).toHaveLength(1);
    expect(running.records).toHaveLength(1);
    expect(running.simulator.webhooks.map(({ status }) => status).filter((status) => status !== 200)).toEqual(
      [],
    );
  });

  it('is refused, and never a record, when its webhooks are signed with a wrong clock or key', async () => {
    if (id === 'carrier-a') return; // Carrier A signs no time.
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { disturbances: { clockSkewSeconds: 302 } } },
    );
    const report = await running.simulator.call({ script: QUIET, maxDurationMs: 3000 });
    expect(report.answer.outcome).not.toBe('answered');
    expect(running.simulator.webhooks.every(({ status }) => status === 403)).toBe(true);
    expect(await running.history()).toEqual([]);
  });
});

describe.concurrent.each(SIMULATED_CARRIERS)('%s, outbound', (id) => {
  it('is answered by a person, talks and is hung up by them', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { [CALLEE]: { type: 'human', ringMs: 300, script: TALKS } } } },
    );
    const call = await running.phone.call({ to: CALLEE, firstMessage: 'Hello, this is a call for you.' });
    const record = await call.ended;
    expect(record).toMatchObject({
      callId: call.callId,
      carrier: id,
      direction: 'outbound',
      caller: OWN_NUMBER,
      callee: CALLEE,
      outcome: 'answered',
      endReason: 'caller-hangup',
    });
    expect(record.answeredAt).toBeGreaterThan(record.startedAt);
    expect(record.transcript.some(({ text }) => text.includes('a call for you'))).toBe(true);
    await legOf(running);
    expect(running.records).toHaveLength(1);
  });

  it.each([
    ['busy', { type: 'busy' }, 'busy'],
    ['not answered', { type: 'no-answer', ringMs: 400 }, 'no-answer'],
    ['unreachable', { type: 'unreachable' }, 'failed'],
  ] as const)('is %s', async (_, callee, outcome) => {
    await using running = await startCarrierPhone(id, {}, { simulator: { callees: { '*': callee } } });
    const call = await running.phone.call({ to: CALLEE, ringTimeoutSeconds: 5 });
    const record = await call.ended;
    expect(record).toMatchObject({ outcome, endReason: outcome, answeredAt: null, durationMs: null });
    await legOf(running);
    expect(running.records).toHaveLength(1);
  });

  it('leaves a message on a machine', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { '*': { type: 'machine', ringMs: 200, greetingMs: 1500, beep: true } } } },
    );
    const call = await running.phone.call({
      to: CALLEE,
      machineDetection: true,
      voicemailMessage: 'Please call us back.',
    });
    const record = await call.ended;
    expect(record).toMatchObject({ outcome: 'voicemail', amd: { answeredBy: 'machine' } });
    const leg = await legOf(running);
    expect(leg.spoken).toEqual(['Please call us back.']);
  });

  it('hangs up on a machine that it has no message for', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { '*': { type: 'machine', ringMs: 200, greetingMs: 1000 } } } },
    );
    const call = await running.phone.call({ to: CALLEE, machineDetection: true });
    expect(await call.ended).toMatchObject({ outcome: 'voicemail' });
    expect((await legOf(running)).spoken).toEqual([]);
  });

  it('hangs up on a fax', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { '*': { type: 'fax', ringMs: 200 } } } },
    );
    const call = await running.phone.call({ to: CALLEE, machineDetection: true });
    expect(await call.ended).toMatchObject({ outcome: 'failed', amd: { answeredBy: 'fax' } });
    await legOf(running);
  });

  it('lets the agent talk to a human that detection has heard', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { '*': { type: 'human', ringMs: 200, script: TALKS } } } },
    );
    const call = await running.phone.call({
      to: CALLEE,
      machineDetection: true,
      voicemailMessage: 'Please call us back.',
    });
    expect(await call.ended).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup' });
    expect((await legOf(running)).spoken).toEqual([]);
  });

  it('is called off while it rings', async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { callees: { '*': { type: 'no-answer' } } } },
    );
    const call = await running.phone.call({ to: CALLEE });
    await running.phone.hangUp(call.callId);
    expect(await call.ended).toMatchObject({ outcome: 'canceled', endReason: 'operator-hangup' });
    await legOf(running);
  });

  it('is a record with its error when the carrier refuses it', async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      { simulator: { disturbances: { restFailures: [{ purpose: 'dial', status: 401, times: 9 }] } } },
    );
    await expect(running.phone.call({ to: CALLEE })).rejects.toMatchObject({ code: 'CARRIER_FAILED' });
    const record = await eventually('the record', () => running.records[0]);
    expect(record).toMatchObject({
      outcome: 'failed',
      endReason: 'failed',
      error: { code: 'CARRIER_FAILED' },
    });
  });

  it('goes on when the answer to the dial is lost', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(
      id,
      {},
      {
        simulator: {
          callees: { '*': { type: 'human', ringMs: 300, script: TALKS } },
          disturbances: { lostAnswers: ['dial'] },
        },
      },
    );
    const call = await running.phone.call({ to: CALLEE });
    expect(await call.ended).toMatchObject({ outcome: 'answered', endReason: 'caller-hangup' });
    expect(running.simulator.legs).toHaveLength(1);
    await legOf(running);
  });
});

describe('carrier-a, recording', () => {
  it('records an inbound and an outbound call, and the record gets the address afterwards', {
    timeout: 60_000,
  }, async () => {
    await using running = await startCarrierPhone(
      'carrier-a',
      {},
      {
        serve: { recording: true },
        simulator: { callees: { '*': { type: 'human', script: HANGS_UP } } },
      },
    );
    const report = await running.simulator.call({ script: HANGS_UP });
    const call = await running.phone.call({ to: CALLEE });
    await call.ended;
    for (const callId of [report.carrierCallId, call.callId]) {
      const record = await running.record(callId, ({ recording }) => recording !== null);
      expect(record.recording).toMatchObject({ status: 'completed' });
      expect(record.recording?.url).toMatch(/^https?:\/\//);
    }
  });
});
