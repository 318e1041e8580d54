import { expect } from 'vitest';
import { CarrierError } from '../../src/base/errors.js';
import { play, type Scenario } from './scenario.js';
import { OUTBOUND, type Scene, type SceneKind } from './scene.js';

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
    endReason: 'caller-hangup',
    outcome: 'answered',
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
      expect(scene.dialed).toMatchObject({ callId: scene.callId });
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
];

play(SCENARIOS);
