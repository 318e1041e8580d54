// When the caller had finished, as the record has it and as the carrier heard it: whole calls in both voice modes, over both carriers.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions, CallRecord } from '../../src/index.js';
import { type CallerStep, type CallReport, openToneVoice } from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { rotated } from '../support/rotated.js';

const SAID = ['Three loaves of bread.', 'And a cake.'];
const WAIT: CallerStep = { type: 'wait-for-agent' };
const SCRIPT: readonly CallerStep[] = [
  WAIT,
  ...SAID.flatMap((text): CallerStep[] => [{ type: 'say', text }, WAIT]),
  { type: 'hang-up' },
];
/** The line sends sound in frames of this length: an end is heard with the frame that it is in, and one later where frames are cut anew. */
const FRAME_MS = 20;

const LINES = rotated(
  REALTIME_VENDORS.flatMap((vendor) => SIMULATED_CARRIERS.map((id) => ({ vendor, id, name: vendor.name }))),
  [({ name }) => name, ({ id }) => id],
);

async function call(
  id: (typeof SIMULATED_CARRIERS)[number],
  agent: AgentOptions,
  script: readonly CallerStep[] = SCRIPT,
) {
  await using running = await startCarrierPhone(
    id,
    { firstMessage: 'Hello, this is the bakery.', ...agent },
    { simulator: { openVoice: openToneVoice } },
  );
  const report = await running.simulator.call({ script });
  return { report, record: await running.record(report.carrierCallId) };
}

function expectEnds({ report, record }: { report: CallReport; record: CallRecord }): void {
  const streamAt = report.startedAt + (report.answer.answeredAfterMs ?? Number.NaN);
  const [greeting, ...answers] = record.turns;
  expect(greeting?.speechEndedAt).toBeNull();
  expect(answers.map(({ userText }) => userText)).toEqual(SAID);
  for (const [place, { index, speechEndedAt, startedAt, latency }] of answers.entries()) {
    const late = (speechEndedAt ?? Number.NaN) - streamAt - (report.turns[place]?.callerEndMs ?? Number.NaN);
    expect(late).toBeGreaterThanOrEqual(-1);
    expect(late).toBeLessThanOrEqual(FRAME_MS + 1);
    expect(startedAt).toBeLessThanOrEqual(speechEndedAt ?? Number.NaN);
    const answer = record.transcript.find((entry) => entry.role === 'agent' && entry.turnIndex === index);
    // Nobody has heard the answer before its first frame.
    const firstAt = (speechEndedAt ?? Number.NaN) + (latency.totalMs ?? Number.NaN);
    expect(answer?.at).toBeGreaterThanOrEqual(firstAt - 1);
    expect(answer?.at).toBeLessThanOrEqual(firstAt + 1);
  }
}

describe('what a caller says in several pieces', { timeout: 60_000 }, () => {
  it.each(SIMULATED_CARRIERS)('is dated piece by piece, on %s', async (id) => {
    const pieces: CallerStep[] = [
      { type: 'say', text: 'Where is my parcel?' },
      { type: 'pause', durationMs: 200 },
      { type: 'say', text: 'The order is four.' },
    ];
    const { report, record } = await call(id, {}, [WAIT, ...pieces, WAIT, { type: 'hang-up' }]);
    const streamAt = report.startedAt + (report.answer.answeredAfterMs ?? Number.NaN);
    const said = record.transcript.filter(({ role }) => role === 'user');
    expect(said.map(({ text, turnIndex }) => [text, turnIndex])).toEqual([
      ['Where is my parcel?', 1],
      ['The order is four.', 1],
    ]);
    expect(report.callerSpeech).toHaveLength(2);
    for (const [place, { startMs }] of report.callerSpeech.entries()) {
      const late = (said[place]?.at ?? Number.NaN) - streamAt - startMs;
      expect(Math.abs(late)).toBeLessThanOrEqual(FRAME_MS + 1);
    }
  });
});

describe('the end of speech', { timeout: 60_000 }, () => {
  it.each(SIMULATED_CARRIERS)('is in the record of a pipeline, on %s', async (id) => {
    expectEnds(await call(id, {}));
  });

  it.each(LINES)('is in the record of $name, on $id', async ({ vendor, id }) => {
    const played = await vendor.play({
      utterances: SAID,
      replies: [{ text: 'They are ready at noon.' }, { text: 'The cake, too.' }],
    });
    try {
      expectEnds(await call(id, { engine: played.engine }));
    } finally {
      await played.emulator.close();
    }
  });
});
