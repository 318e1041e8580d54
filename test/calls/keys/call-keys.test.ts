import { describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { NOBODY_WAITS } from '../../../src/conversation/wait.js';
import { text } from '../../support/call-bench.js';
import { KINDS, Scene, type SceneKind } from '../scene.js';

const replied: SceneKind = { steering: 'replies', direction: 'inbound' };
const commanded: SceneKind = { steering: 'commands', direction: 'inbound' };
const REFUSED = new CarrierError('no', { status: 400, retryable: false });

describe('keys that are sent', () => {
  it.each(KINDS)('go to the carrier and into the transcript ($direction, $steering)', async (kind) => {
    const scene = new Scene(kind);
    await scene.up();
    await scene.bench.desk.sendDigits(scene.callId, '1w#D');
    expect(scene.bench.rest.requests).toEqual([`sendDigits ${scene.carrierCallId} 1w#D`]);
    expect(scene.record.transcript).toMatchObject([{ role: 'system', text: 'Sent keys 1w#D' }]);
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(kind.steering === 'replies');
    expect(scene.bench.logger.text).not.toContain('1w#D');
  });

  it.each(['', 'x', '1 2', '+1', 'd', '1'.repeat(33), 12, undefined])('cannot be %j', async (digits) => {
    const scene = new Scene(replied);
    await scene.up();
    await expect(scene.bench.desk.sendDigits(scene.callId, digits as string)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    });
    expect(scene.bench.rest.requests).toEqual([]);
  });

  it.each<[string, (scene: Scene) => Promise<unknown>]>([
    ['a call that rings', (scene) => scene.ring()],
    [
      'a call whose stream is away',
      async (scene) => {
        await scene.up();
        scene.cut();
      },
    ],
    [
      'a call that is being handed over',
      async (scene) => {
        await scene.up();
        await scene.bench.desk.transfer(scene.callId, '+15550123');
      },
    ],
    [
      'a call that is over at the carrier',
      async (scene) => {
        await scene.up();
        scene.over('answered');
      },
    ],
    [
      'a call that hears an apology',
      async (scene) => {
        await scene.up();
        scene.bench.engine.context.endCall('provider-failed', { code: 'X', message: '', wait: NOBODY_WAITS });
        await scene.bench.pass(20);
      },
    ],
  ])('nor go to %s, nor is it transferred', async (_, reach) => {
    const scene = new Scene(commanded);
    await reach(scene);
    const conflict = { code: 'REQUEST_CONFLICT' };
    await expect(scene.bench.desk.sendDigits(scene.callId, '1')).rejects.toMatchObject(conflict);
    await expect(scene.bench.desk.transfer(scene.callId, '+15550124')).rejects.toMatchObject(conflict);
  });

  it('are sent one sequence after the other', async () => {
    const scene = new Scene(replied);
    await scene.up();
    const first = scene.bench.desk.sendDigits(scene.callId, '1');
    await expect(scene.bench.desk.sendDigits(scene.callId, '2')).rejects.toMatchObject({
      code: 'REQUEST_CONFLICT',
    });
    await first;
    await expect(scene.bench.desk.sendDigits(scene.callId, '2')).rejects.toThrow('Keys cannot be sent now.');
    scene.stop();
    scene.stream();
    await scene.bench.desk.sendDigits(scene.callId, '2');
  });

  it('are sent one sequence after the other also where they leave the stream alone', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    const first = scene.bench.desk.sendDigits(scene.callId, '1');
    await expect(scene.bench.desk.sendDigits(scene.callId, '2')).rejects.toThrow('Keys cannot be sent now.');
    await first;
    await scene.bench.desk.sendDigits(scene.callId, '2');
    expect(scene.bench.rest.requests).toHaveLength(2);
  });

  it('and refused leave the call as it was', async () => {
    const scene = new Scene(replied);
    scene.bench.rest.failures.sendDigits = REFUSED;
    await scene.up();
    await expect(scene.bench.desk.sendDigits(scene.callId, '1')).rejects.toBe(REFUSED);
    expect(scene.record.transcript).toEqual([]);
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
    scene.stop();
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup' });
  });

  it('and refused after others that replaced the stream leave the call on the new one', async () => {
    const scene = new Scene(replied);
    await scene.up();
    const first = scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    scene.stream();
    await first;
    scene.bench.rest.failures.sendDigits = REFUSED;
    await expect(scene.bench.desk.sendDigits(scene.callId, '2')).rejects.toBe(REFUSED);
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
  });

  it('and refused because the caller has left end the call as its stream told', async () => {
    const scene = new Scene(replied);
    scene.bench.rest.failures.sendDigits = REFUSED;
    await scene.up();
    const sent = scene.bench.desk.sendDigits(scene.callId, '1');
    scene.stop();
    expect(scene.isLive).toBe(true);
    await expect(sent).rejects.toBe(REFUSED);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup' });
  });
});

describe('keys whose answer was lost', () => {
  const LOST = new CarrierError('no answer', { status: null, retryable: false });
  /** One key, and the time for a stream. */
  const DEADLINE_MS = 10_500;

  async function inDoubt(during: (scene: Scene) => void = () => {}) {
    const scene = new Scene(replied);
    scene.bench.rest.failures.sendDigits = LOST;
    await scene.up();
    const sent = scene.bench.desk.sendDigits(scene.callId, '1');
    during(scene);
    await expect(sent).rejects.toBe(LOST);
    return scene;
  }

  it.each([
    ['before', (scene: Scene) => scene.stop()],
    ['after', undefined],
  ])('may have replaced the stream, %s that is known', async (_, during) => {
    const scene = await inDoubt(during);
    if (during === undefined) scene.stop();
    await scene.bench.pass(DEADLINE_MS - 1);
    scene.stream();
    expect(scene.bench.engine.heard.at(-1)).toBe('resume continue');
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
    expect(scene.bench.engines).toHaveLength(1);
  });

  it('and replaced the stream in the meantime leave the new one alone', async () => {
    const scene = await inDoubt((calling) => {
      calling.stop();
      calling.stream();
    });
    await scene.bench.pass(60_000);
    expect(scene.isLive).toBe(true);
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
  });

  it('end the call as its stream told when no other one comes', async () => {
    const scene = await inDoubt();
    scene.stop();
    await scene.bench.pass(DEADLINE_MS - 1);
    expect(scene.isLive).toBe(true);
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'caller-hangup' });
    expect(scene.bench.rest.of('hangUp')).toEqual([]);
  });

  it('change nothing when nothing happens', async () => {
    const scene = await inDoubt();
    await scene.bench.pass(DEADLINE_MS);
    expect(scene.isLive).toBe(true);
    expect(scene.bench.desk.expectsStream(scene.callId)).toBe(false);
    delete scene.bench.rest.failures.sendDigits;
    await scene.bench.desk.sendDigits(scene.callId, '2');
    scene.stop();
    expect(await scene.expectEnd()).toMatchObject({ endReason: 'stream-lost' });
  });
});

describe('keys that are pressed', () => {
  it.each([
    ['by the stream alone', 's1 s1', '11'],
    ['by webhook alone', 'w1 w2', '12'],
    ['by both, the stream first', 's1 w1 s2 w2', '12'],
    ['by both, the webhook first', 'w5 s5 w5 s5', '55'],
    ['by both, one after all of the other', 's1 s2 s1 w1 w2 w1', '121'],
  ])('are told once: %s', async (_, keys, expected) => {
    const scene = new Scene(commanded);
    await scene.up();
    for (const [source, digit] of keys.split(' ')) {
      if (source === 's') scene.receiver.receiveText(text({ type: 'dtmf', digit }));
      else scene.report({ type: 'dtmf', digit: digit ?? '' });
    }
    expect(
      scene.bench
        .ofType('dtmf.received')
        .map(({ digit }) => digit)
        .join(''),
    ).toBe(expected);
    const heard = scene.bench.engine.heard.filter((line) => line.startsWith('dtmf'));
    expect(heard).toEqual([...expected].map((digit) => `dtmf ${digit}`));
  });

  it('are recorded and not heard by an agent that is on hold', async () => {
    const scene = new Scene(commanded);
    await scene.up();
    await scene.bench.desk.transfer(scene.callId, '+15550123');
    scene.report({ type: 'dtmf', digit: '3' });
    expect(scene.record.transcript).toMatchObject([{ text: 'Key 3' }]);
    expect(scene.bench.engine.heard).not.toContain('dtmf 3');
  });
});
