import { describe, expect, it } from 'vitest';
import { CarrierError, ProviderError } from '../../src/base/errors.js';
import type { CallOutcome, EndReason } from '../../src/contract/call-record.js';
import { KINDS, OUTBOUND, Scene, type SceneKind } from './scene.js';

const SORRY = 'en-US I am sorry, something went wrong. Please call again later.';

interface Expected {
  endReason: EndReason;
  outcome: CallOutcome;
  /** Requests after the call was up, or all of a call that never was. `ID` stands for the carrier's id. */
  requests?: (kind: SceneKind) => string[];
}

interface Scenario extends Expected {
  name: string;
  only?: Partial<SceneKind>;
  play(scene: Scene): unknown;
}

const none = () => [];
const hangUp = () => ['hangUp ID'];
const ringing = (kind: SceneKind) =>
  kind.direction === 'outbound' ? [`dial ${OUTBOUND.to}`] : kind.steering === 'commands' ? ['answer ID'] : [];

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'the caller gives up before the answer',
    only: { direction: 'inbound' },
    async play(scene) {
      await scene.ring();
      scene.over('canceled');
    },
    endReason: 'caller-hangup',
    outcome: 'canceled',
    requests: ringing,
  },
  {
    name: 'the caller gives up before the answer, and the answer is refused for it',
    only: { direction: 'inbound', steering: 'commands' },
    async play(scene) {
      scene.bench.rest.failures.answer = new CarrierError('over', { status: 422, retryable: false });
      await scene.ring();
      scene.over('canceled');
    },
    endReason: 'caller-hangup',
    outcome: 'canceled',
    requests: ringing,
  },
  {
    name: 'the answer is refused although the call was answered',
    only: { direction: 'inbound', steering: 'commands' },
    async play(scene) {
      let refuse: (error: Error) => void = () => {};
      scene.bench.rest.answers.answer = new Promise((_, reject) => (refuse = reject));
      await scene.ring();
      await scene.answer();
      scene.stream();
      refuse(new CarrierError('no answer in time', { status: null, retryable: false }));
      await scene.bench.pass(5000);
      scene.stop();
      scene.over('answered');
    },
    endReason: 'caller-hangup',
    outcome: 'answered',
  },
  {
    name: 'the caller has left before a stream came',
    only: { direction: 'inbound', steering: 'replies' },
    async play(scene) {
      await scene.ring();
      scene.over('answered');
    },
    endReason: 'stream-lost',
    outcome: 'failed',
    requests: none,
  },
  {
    name: 'the other side hangs up during the greeting',
    async play(scene) {
      await scene.up();
      scene.agentSpeaks();
      await scene.bench.pass(100);
      scene.stop();
      scene.over('answered');
    },
    endReason: 'caller-hangup',
    outcome: 'answered',
    requests: none,
  },
  {
    name: 'a stop is all that tells of the end',
    async play(scene) {
      await scene.up();
      scene.stop();
    },
    endReason: 'caller-hangup',
    outcome: 'answered',
    // A carrier that is steered by commands keeps a call up that has no stream.
    requests: ({ steering }) => (steering === 'commands' ? ['lookUp ID', 'hangUp ID'] : []),
  },
  {
    name: 'the report of the end comes first, then the stop',
    async play(scene) {
      await scene.up();
      scene.over('answered');
      await scene.bench.pass(1000);
      scene.stop();
    },
    endReason: 'caller-hangup',
    outcome: 'answered',
    requests: none,
  },
  {
    name: 'the report of the end comes and no stop',
    async play(scene) {
      await scene.up();
      scene.over('answered');
    },
    endReason: 'carrier-hangup',
    outcome: 'answered',
    requests: none,
  },
  {
    name: 'the report of the end comes, then the socket is cut',
    async play(scene) {
      await scene.up();
      scene.over('answered');
      scene.cut();
    },
    endReason: 'carrier-hangup',
    outcome: 'answered',
    requests: none,
  },
  {
    name: 'the socket is cut, and the call is over at the carrier',
    only: { steering: 'replies' },
    async play(scene) {
      scene.bench.rest.over = true;
      await scene.up();
      scene.cut();
    },
    endReason: 'stream-lost',
    outcome: 'answered',
    requests: () => ['lookUp ID'],
  },
  {
    name: 'the socket is cut, and the report of the end follows',
    only: { steering: 'commands' },
    async play(scene) {
      await scene.up();
      scene.bench.rest.failures.startStream = new CarrierError('over', { status: 422, retryable: false });
      scene.cut();
      await scene.bench.pass();
      scene.over('answered');
    },
    endReason: 'carrier-hangup',
    outcome: 'answered',
    requests: () => ['startStream ID preferred'],
  },
  {
    name: 'the socket is cut, and no other comes',
    only: { steering: 'commands' },
    async play(scene) {
      await scene.up();
      scene.cut();
      await scene.bench.pass(9999);
      expect(scene.isLive).toBe(true);
    },
    endReason: 'stream-lost',
    outcome: 'answered',
    requests: () => ['startStream ID preferred', 'hangUp ID'],
  },
  {
    name: 'the agent hangs up',
    async play(scene) {
      await scene.up();
      scene.agentSpeaks();
      scene.bench.engine.context.endCall('agent-hangup');
      await scene.bench.pass(1000);
      scene.stop();
      scene.over('answered');
    },
    endReason: 'agent-hangup',
    outcome: 'answered',
    requests: hangUp,
  },
  {
    name: 'an operator hangs up',
    async play(scene) {
      await scene.up();
      await scene.bench.desk.hangUp(scene.callId);
    },
    endReason: 'operator-hangup',
    outcome: 'answered',
    requests: hangUp,
  },
  {
    name: 'an operator hangs up while it rings',
    only: { direction: 'outbound' },
    async play(scene) {
      await scene.ring();
      scene.status('ringing');
      await scene.bench.desk.hangUp(scene.callId);
      scene.over('canceled');
    },
    endReason: 'operator-hangup',
    outcome: 'canceled',
    requests: () => [`dial ${OUTBOUND.to}`, 'hangUp ID'],
  },
  {
    name: 'an operator hangs up before the answer to the dial',
    only: { direction: 'outbound' },
    async play(scene) {
      let taken = () => {};
      scene.bench.rest.answers.dial = new Promise((resolve) => (taken = resolve));
      await scene.dial();
      const done = scene.bench.desk.hangUp(scene.callId);
      await scene.bench.pass(1000);
      expect(scene.bench.rest.of('hangUp')).toEqual([]);
      taken();
      await done;
      expect(scene.dialled).toMatchObject({ callId: scene.callId });
    },
    endReason: 'operator-hangup',
    outcome: 'canceled',
    requests: () => [`dial ${OUTBOUND.to}`, 'hangUp ID'],
  },
  ...(['busy', 'no-answer', 'failed', 'canceled'] as const).map((outcome) => ({
    name: `the carrier reports ${outcome}`,
    only: { direction: 'outbound' } as const,
    async play(scene: Scene) {
      await scene.ring();
      scene.status('ringing');
      scene.over(outcome);
    },
    endReason: outcome,
    outcome,
    requests: ringing,
  })),
  {
    name: 'nobody answers, and no report says so',
    only: { direction: 'outbound' },
    async play(scene) {
      await scene.ring();
      await scene.bench.pass(54_999);
      expect(scene.isLive).toBe(true);
    },
    endReason: 'no-answer',
    outcome: 'no-answer',
    requests: () => [`dial ${OUTBOUND.to}`, 'lookUp ID', 'hangUp ID'],
  },
  {
    name: 'the call was busy, and no report says so',
    only: { direction: 'outbound' },
    async play(scene) {
      await scene.ring();
      Object.assign(scene.bench.rest, { over: true, outcome: 'busy' });
    },
    endReason: 'busy',
    outcome: 'busy',
    requests: () => [`dial ${OUTBOUND.to}`, 'lookUp ID', 'hangUp ID'],
  },
  {
    name: 'it is answered, and no stream comes',
    only: { direction: 'outbound' },
    async play(scene) {
      await scene.ring();
      await scene.answer();
      scene.bench.rest.requests.length = 0;
    },
    endReason: 'stream-lost',
    outcome: 'failed',
    requests: hangUp,
  },
  {
    name: 'it lasts too long',
    async play(scene) {
      await scene.up();
      await scene.bench.pass(60 * 60_000);
    },
    endReason: 'max-duration',
    outcome: 'answered',
    requests: hangUp,
  },
  {
    name: 'the engine breaks, the carrier says sorry and is done',
    async play(scene) {
      await scene.up();
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
      // Where instructions take the place of the stream, it ends here.
      if (scene.kind.steering === 'replies') scene.stop();
      await scene.bench.pass(3000);
      expect(scene.isLive).toBe(true);
      if (scene.kind.steering === 'replies') scene.over('answered');
      else scene.report({ type: 'speech-ended' });
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: ({ steering }) =>
      steering === 'replies' ? [`speak ID ${SORRY}`] : [`speak ID ${SORRY}`, 'hangUp ID'],
  },
  {
    name: 'the engine breaks, and nobody says that the sorry is over, and the call',
    only: { steering: 'replies', direction: 'inbound' },
    async play(scene) {
      await scene.up();
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
      scene.stop();
      await scene.bench.pass(4000);
      expect(scene.isLive).toBe(true);
      scene.bench.rest.over = true;
      await scene.bench.pass(4000);
      expect(scene.isLive).toBe(false);
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: () => [`speak ID ${SORRY}`, 'lookUp ID', 'lookUp ID'],
  },
  {
    name: 'the engine breaks, and nobody says when the sorry is over',
    async play(scene) {
      await scene.up();
      scene.bench.engine.context.endCall('provider-failed', {
        code: 'PROVIDER_FAILED',
        message: 'The speech synthesis failed.',
        untold: true,
      });
      await scene.bench.pass(20);
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: ({ steering, direction }) => {
      const looks = steering === 'replies' && direction === 'inbound' ? 6 : 1;
      return [`speak ID ${SORRY}`, ...Array<string>(looks).fill('lookUp ID'), 'hangUp ID'];
    },
  },
  {
    name: 'the engine breaks when the carrier has said that the call is over',
    async play(scene) {
      await scene.up();
      scene.over('answered');
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
      expect(scene.isLive).toBe(false);
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: none,
  },
  {
    name: 'the engine breaks, and the carrier does not speak',
    async play(scene) {
      await scene.up();
      scene.bench.rest.failures.speak = new CarrierError('no', { status: 500, retryable: false });
      scene.bench.engine.context.clock.after(1, () => {
        throw new ProviderError('The key is wrong.', { status: 401, retryable: false });
      });
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: () => [`speak ID ${SORRY}`, 'hangUp ID'],
  },
  {
    name: 'the other side hangs up in the middle of the sorry',
    only: { steering: 'commands' },
    async play(scene) {
      await scene.up();
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
      scene.stop();
      scene.over('answered');
    },
    endReason: 'provider-failed',
    outcome: 'answered',
    requests: () => [`speak ID ${SORRY}`],
  },
];

it('last words that are refused after the end leave no note', async () => {
  const scene = new Scene({ steering: 'replies', direction: 'inbound' });
  await scene.up();
  let refuse: (error: Error) => void = () => {};
  scene.bench.rest.answers.speak = new Promise((_, reject) => (refuse = reject));
  scene.bench.engine.trouble = 'dtmf';
  scene.report({ type: 'dtmf', digit: '1' });
  scene.over('answered');
  refuse(new CarrierError('over', { status: 404, retryable: false }));
  expect((await scene.expectEnd()).incidents).toEqual([]);
});

function matching(scenario: Scenario): SceneKind[] {
  const { steering, direction } = scenario.only ?? {};
  return KINDS.filter(
    (kind) =>
      (steering === undefined || kind.steering === steering) &&
      (direction === undefined || kind.direction === direction),
  );
}

describe.each(SCENARIOS)('when $name', (scenario) => {
  it.each(matching(scenario))('an $direction call, $steering, has one end', async (kind) => {
    const scene = new Scene(kind);
    await scenario.play(scene);
    const record = await scene.expectEnd();
    expect([record.endReason, record.outcome]).toEqual([scenario.endReason, scenario.outcome]);
    if (scenario.requests === undefined) return;
    const requests = scenario.requests(kind).map((line) => line.replace('ID', scene.carrierCallId));
    expect(scene.bench.rest.requests).toEqual(requests);
  });
});

/** How far a call has come when the server stops, and what is asked of the carrier then. */
const PHASES: readonly {
  name: string;
  only?: Partial<SceneKind>;
  reach(scene: Scene): Promise<unknown>;
  outcome: CallOutcome;
  endReason?: EndReason;
  requests: string[];
}[] = [
  {
    name: 'rings',
    only: { steering: 'commands', direction: 'inbound' },
    reach: (scene) => scene.ring(),
    outcome: 'canceled',
    requests: ['answer ID', 'hangUp ID'],
  },
  {
    name: 'rings over there',
    only: { direction: 'outbound' },
    reach: (scene) => scene.ring(),
    outcome: 'canceled',
    requests: [`dial ${OUTBOUND.to}`, 'hangUp ID'],
  },
  {
    name: 'waits for its stream',
    only: { steering: 'commands', direction: 'inbound' },
    async reach(scene) {
      await scene.ring();
      await scene.answer();
    },
    outcome: 'answered',
    requests: ['answer ID', 'startStream ID preferred', 'hangUp ID'],
  },
  { name: 'is up', reach: (scene) => scene.up(), outcome: 'answered', requests: ['hangUp ID'] },
  {
    name: 'waits for its stream once more',
    only: { steering: 'commands' },
    async reach(scene) {
      await scene.up();
      scene.cut();
    },
    outcome: 'answered',
    requests: ['startStream ID preferred', 'hangUp ID'],
  },
  {
    name: 'sends keys',
    async reach(scene) {
      await scene.up();
      void scene.bench.desk.sendDigits(scene.callId, '1').catch(() => {});
    },
    outcome: 'answered',
    requests: ['sendDigits ID 1', 'hangUp ID'],
  },
  {
    name: 'is being handed over',
    async reach(scene) {
      await scene.up();
      await scene.bench.desk.transfer(scene.callId, '+15550123');
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100'],
  },
  {
    name: 'is being ordered to be handed over',
    async reach(scene) {
      await scene.up();
      void scene.bench.desk.transfer(scene.callId, '+15550123');
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100'],
  },
  {
    name: 'is refused to be handed over at that moment',
    async reach(scene) {
      await scene.up();
      scene.bench.rest.failures.transfer = new CarrierError('no', { status: 400, retryable: false });
      scene.bench.desk.transfer(scene.callId, '+15550123').catch(() => {});
    },
    outcome: 'answered',
    endReason: 'transferred',
    requests: ['transfer ID +15550123 +15550100', 'hangUp ID'],
  },
  {
    name: 'hears a sorry',
    async reach(scene) {
      await scene.up();
      scene.bench.engine.trouble = 'dtmf';
      scene.report({ type: 'dtmf', digit: '1' });
    },
    outcome: 'answered',
    endReason: 'provider-failed',
    requests: [`speak ID ${SORRY}`, 'hangUp ID'],
  },
];

describe.each(PHASES)('a call that $name when the server stops', (phase) => {
  it.each(matching(phase as unknown as Scenario))('$direction, $steering', async (kind) => {
    const scene = new Scene(kind);
    await phase.reach(scene);
    const closes = [...(scene.socket?.closes ?? [])];
    await scene.bench.desk.shutDown(5000);
    const record = await scene.expectEnd();
    expect([record.endReason, record.outcome]).toEqual([phase.endReason ?? 'server-shutdown', phase.outcome]);
    expect(scene.bench.rest.requests).toEqual(
      phase.requests.map((line) => line.replace('ID', scene.carrierCallId)),
    );
    // The sockets are the server's to close.
    if (phase.endReason !== 'provider-failed') expect(scene.socket?.closes ?? []).toEqual(closes);
  });
});
