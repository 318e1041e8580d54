import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { ReportFields } from '../support/call-bench.js';
import { OUTBOUND, Scene, type SceneKind } from './scene.js';

type Status = Extract<ReportFields, { type: 'status' }>;

const status = (value: Status['status'], fields: Partial<Status> = {}): Status => ({
  type: 'status',
  status: value,
  outcome: null,
  sequence: null,
  ...fields,
});

interface Recorded {
  name: string;
  kind: SceneKind;
  /** Webhooks of one call as they were sent; numbers tell them apart where the carrier numbers them. */
  reports: ReportFields[];
  machineDetection: boolean;
  expected: Partial<CallRecord>;
}

const A_OUT: SceneKind = { steering: 'replies', direction: 'outbound' };
const B_OUT: SceneKind = { steering: 'commands', direction: 'outbound' };
const cost: ReportFields = { type: 'cost', costUsd: 0.004 };
const recording: ReportFields = {
  type: 'recording',
  recording: { url: 'https://example.com/r', durationMs: 1000, status: 'completed' },
};

const RECORDED: readonly Recorded[] = [
  {
    name: 'busy, numbered',
    kind: A_OUT,
    machineDetection: false,
    reports: [
      status('initiated', { sequence: 0 }),
      status('ringing', { sequence: 1 }),
      status('completed', { outcome: 'busy', sequence: 2 }),
    ],
    expected: { endReason: 'busy', outcome: 'busy' },
  },
  {
    name: 'no answer, not numbered',
    kind: B_OUT,
    machineDetection: false,
    reports: [status('initiated'), status('completed', { outcome: 'no-answer' }), cost],
    expected: { endReason: 'no-answer', outcome: 'no-answer' },
  },
  {
    name: 'answered and over, numbered',
    kind: A_OUT,
    machineDetection: false,
    reports: [
      status('initiated', { sequence: 0 }),
      status('ringing', { sequence: 1 }),
      status('active', { sequence: 2 }),
      status('completed', { outcome: 'answered', sequence: 3 }),
      recording,
    ],
    expected: {
      endReason: 'caller-hangup',
      outcome: 'answered',
      recording: { status: 'completed' } as never,
    },
  },
  {
    name: 'answered and over, not numbered',
    kind: B_OUT,
    machineDetection: false,
    reports: [
      status('initiated'),
      status('active'),
      status('completed', { outcome: 'answered', endedBy: 'callee' }),
      cost,
    ],
    expected: { endReason: 'caller-hangup', outcome: 'answered', cost: { telephony: 0.004 } as never },
  },
  {
    name: 'answered by a person, not numbered',
    kind: B_OUT,
    machineDetection: true,
    reports: [
      status('active'),
      { type: 'machine-detection', verdict: 'human' },
      status('completed', { outcome: 'answered' }),
    ],
    expected: { endReason: 'caller-hangup', outcome: 'answered', amd: { answeredBy: 'human' } as never },
  },
  {
    name: 'a machine and then its beep',
    kind: B_OUT,
    machineDetection: true,
    reports: [
      status('initiated'),
      status('active'),
      { type: 'machine-detection', verdict: 'machine' },
      { type: 'machine-detection', verdict: 'machine-ready' },
    ],
    expected: { endReason: 'agent-hangup', outcome: 'voicemail', amd: { answeredBy: 'machine' } as never },
  },
];

/** Every order, and any of them more than once. */
function anyOrder(reports: readonly ReportFields[]): fc.Arbitrary<ReportFields[]> {
  const indexes = reports.map((_, index) => index);
  return fc
    .tuple(fc.shuffledSubarray(indexes, { minLength: indexes.length }), fc.array(fc.constantFrom(...indexes)))
    .chain(([order, extra]) =>
      fc.shuffledSubarray([...order, ...extra], { minLength: order.length + extra.length }),
    )
    .map((order) => order.flatMap((index) => reports[index] ?? []));
}

/** What may not depend on the order: everything but times and the count of facts. */
function essence(record: CallRecord) {
  const {
    status: at,
    outcome,
    endReason,
    error,
    incidents,
    transfer,
    transcript,
    caller,
    carrierCallId,
  } = record;
  return {
    at,
    outcome,
    endReason,
    error,
    incidents,
    transfer,
    transcript,
    caller,
    carrierCallId,
    amd: record.amd?.answeredBy,
    recording: record.recording,
    telephony: record.cost.telephony,
  };
}

describe.each(RECORDED)(
  'webhooks of a call that was $name',
  ({ kind, reports, machineDetection, expected }) => {
    const play = async (order: readonly ReportFields[]) => {
      const scene = new Scene(kind);
      await scene.ring({ machineDetection });
      for (const report of order) scene.report(report);
      await scene.bench.pass(3000);
      scene.report({ type: 'speech-ended' });
      const record = await scene.expectEnd();
      expect(scene.bench.rest.of('speak').length).toBeLessThan(2);
      expect(scene.bench.rest.of('startStream').length).toBeLessThan(2);
      return record;
    };

    it('make one and the same record in any order and however often they are delivered', async () => {
      const inOrder = await play(reports);
      expect(inOrder).toMatchObject(expected);
      await fc.assert(
        fc.asyncProperty(anyOrder(reports), async (order) => {
          expect(essence(await play(order))).toEqual(essence(inOrder));
        }),
        { numRuns: 60 },
      );
    });
  },
);

describe.each([A_OUT, B_OUT])('the end as the first report of a call ($steering)', (kind) => {
  const pricing = { 'carrier-a': { outbound: { perMinute: 0.014 } } };
  const ANSWERED_AT = Date.UTC(2026, 0, 1);
  const over = (fields: Partial<Status>) => status('completed', { outcome: 'answered', ...fields });

  it.each<[string, readonly Status[]]>([
    ['the carrier counts it', [over({ durationMs: 61_000 })]],
    ['the carrier counts it, and the answer is told later', [over({ durationMs: 61_000 }), status('active')]],
    [
      'the carrier dates both',
      [over({ occurredAt: ANSWERED_AT + 61_000 }), status('active', { occurredAt: ANSWERED_AT })],
    ],
  ])('tells how long it was and what it cost: %s', async (_, reports) => {
    const scene = new Scene(kind, { pricing });
    await scene.ring();
    for (const report of reports) scene.report(report);
    const record = await scene.expectEnd();
    expect(record).toMatchObject({
      outcome: 'answered',
      endReason: 'caller-hangup',
      durationMs: 61_000,
      answeredAt: (record.endedAt ?? 0) - 61_000,
      cost: { telephony: 0.028, estimated: true },
      usage: { telephonySeconds: 120 },
    });
  });

  it('leaves what it does not tell unknown, and what was never answered', async () => {
    for (const fields of [{}, { outcome: 'busy' as const }]) {
      const scene = new Scene(kind, { pricing });
      await scene.ring();
      scene.report(over(fields));
      expect(await scene.expectEnd()).toMatchObject({ durationMs: null, answeredAt: null, usage: null });
    }
  });

  it('gives way to what was seen here', async () => {
    const scene = new Scene(kind, { pricing });
    await scene.up();
    await scene.bench.pass(10_000);
    scene.report(over({ durationMs: 61_000 }));
    scene.stop();
    expect(await scene.expectEnd()).toMatchObject({ durationMs: 10_000, endReason: 'caller-hangup' });
  });
});

describe('an inbound call that is given up before the answer', () => {
  const kind: SceneKind = { steering: 'commands', direction: 'inbound' };
  const over = (scene: Scene) => void scene.over('canceled');
  const ring = (scene: Scene) => void scene.bench.ring();

  it.each([
    ['rings, is over', [ring, over]],
    ['is over, rings', [over, ring]],
    ['rings twice, is over twice', [ring, ring, over, over]],
    ['is over, rings, is over', [over, ring, over]],
  ])('%s: one record', async (_, steps) => {
    const scene = new Scene(kind);
    for (const step of steps) step(scene);
    const record = await scene.expectEnd();
    expect(record).toMatchObject({ endReason: 'caller-hangup', outcome: 'canceled', answeredAt: null });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });
});

describe('the answer of an outbound call', () => {
  it.each([
    ['the report first', ['active', 'asks']],
    ['the question first', ['asks', 'active']],
    ['the question twice', ['asks', 'asks', 'active', 'active']],
  ])('is told once: %s', async (_, steps) => {
    const scene = new Scene(A_OUT);
    await scene.ring({ ...OUTBOUND });
    for (const step of steps) {
      if (step === 'active') scene.status('active');
      else expect(scene.asks()).toMatchObject({ type: 'stream' });
    }
    const told = scene.bench.ofType('call.status', scene.callId).map((fact) => fact.status);
    expect(told).toEqual(['initiated', 'initiated', 'active']);
    scene.stream();
    expect(scene.bench.ofType('call.started', scene.callId)).toHaveLength(1);
  });
});
