// A carrier that was told of another stream ends the one that is up, and does not say whether for that, or because the caller has left.
import { expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { KeptScene } from '../resume/left-call.js';

/** A call that is to go to another process with its next stream. */
async function moving(): Promise<KeptScene> {
  const scene = new KeptScene({ steering: 'replies', direction: 'inbound' });
  await scene.ring();
  scene.next(1);
  await scene.bench.pass(1000);
  scene.bench.desk.movableCalls()[0]?.renewStream();
  await scene.bench.pass();
  expect(scene.bench.rest.of('openStream')).toHaveLength(1);
  return scene;
}

it('ends the call at once where the carrier says that it is over', async () => {
  const scene = await moving();
  scene.bench.rest.over = true;
  scene.stop();
  await scene.bench.pass();
  expect(scene.bench.rest.of('lookUp')).toEqual([`lookUp ${scene.carrierCallId}`]);
  expect(scene.record).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered' });
});

it('leaves the other stream its time where the carrier has the call still', async () => {
  const scene = await moving();
  scene.stop();
  await scene.bench.pass(4000);
  expect(scene.bench.rest.of('lookUp')).toHaveLength(1);
  scene.next(3);
  await scene.bench.pass(1000);
  expect(scene.isLive).toBe(true);
});

it('leaves it its time where the carrier cannot say, and ends the call when none has come', async () => {
  const scene = await moving();
  scene.bench.rest.failures.lookUp = new CarrierError('no', { status: 500, retryable: true });
  scene.stop();
  await scene.bench.pass(4000);
  expect(scene.isLive).toBe(true);
  expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost' });
});

it('believes a stream that has come in the meantime more than the answer', async () => {
  const scene = await moving();
  let answer = () => {};
  scene.bench.rest.answers.lookUp = new Promise((resolve) => {
    answer = resolve;
  });
  scene.bench.rest.over = true;
  scene.stop();
  await scene.bench.pass();
  scene.next(3);
  answer();
  await scene.bench.pass(1000);
  expect(scene.isLive).toBe(true);
});
