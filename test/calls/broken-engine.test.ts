import { expect, it } from 'vitest';
import { CarrierError, ProviderError } from '../../src/base/errors.js';
import { beginWait, NOBODY_WAITS } from '../../src/conversation/wait.js';
import { play, type Scenario, SORRY } from './scenario.js';
import { Scene } from './scene.js';

const FAILURE = { code: 'PROVIDER_FAILED', message: 'The language model failed.' };

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'the engine breaks, the carrier apologizes and is done',
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
    name: 'the engine breaks, and nobody says that the apology is over, and the call',
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
    name: 'the engine breaks, and nobody says when the apology is over',
    async play(scene) {
      await scene.up();
      scene.bench.engine.context.endCall('provider-failed', {
        code: 'PROVIDER_FAILED',
        message: 'The speech synthesis failed.',
        wait: NOBODY_WAITS,
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
    requests: () => [],
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
    name: 'the other side hangs up in the middle of the apology',
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

it('an apology of the carrier is on the record, with the time that it took to be taken', async () => {
  const scene = new Scene({ steering: 'commands', direction: 'inbound' });
  await scene.up();
  let take: () => void = () => {};
  scene.bench.rest.answers.speak = new Promise((resolve) => (take = () => resolve(undefined)));
  scene.bench.engine.trouble = 'dtmf';
  scene.report({ type: 'dtmf', digit: '1' });
  await scene.bench.pass(250);
  take();
  await scene.bench.pass(0);
  scene.report({ type: 'speech-ended' });
  const message = 'The carrier has taken the order to tell the caller that something went wrong.';
  expect((await scene.expectEnd()).incidents).toMatchObject([
    { code: 'apology-spoken', message, durationMs: 250 },
  ]);
});

it('an apology of the carrier counts with what the caller had waited for it before', async () => {
  const scene = new Scene({ steering: 'commands', direction: 'inbound' });
  await scene.bench.pass(60_000);
  await scene.up();
  const { context } = scene.bench.engine;
  await scene.bench.pass(5000);
  const at = context.clock.now();
  // The time of an engine is that of its call.
  expect(at).toBe(5000);
  const wait = beginWait(NOBODY_WAITS, { since: at - 3000.4, at });
  context.endCall('provider-failed', { ...FAILURE, wait });
  await scene.bench.pass(20);
  scene.report({ type: 'speech-ended' });
  expect((await scene.expectEnd()).incidents).toMatchObject([{ code: 'apology-spoken', durationMs: 3000 }]);
});

it('an apology of the agent is on the record, and one of the carrier behind it is no second one', async () => {
  const scene = new Scene({ steering: 'commands', direction: 'inbound' });
  await scene.up();
  const { context } = scene.bench.engine;
  const at = context.clock.wallNow();
  context.fact({ type: 'apology.spoken', waitedMs: 4199.7 });
  context.endCall('provider-failed', { ...FAILURE, wait: NOBODY_WAITS });
  await scene.bench.pass(20);
  expect(scene.bench.rest.requests.at(-1)).toBe(`speak ${scene.carrierCallId} ${SORRY}`);
  scene.report({ type: 'speech-ended' });
  const message = 'The agent has told the caller that something went wrong.';
  expect((await scene.expectEnd()).incidents).toEqual([
    { at, code: 'apology-spoken', message, durationMs: 4200 },
  ]);
});

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

play(SCENARIOS);
