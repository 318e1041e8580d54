// The phase of a call as its record shows it, whoever says what it is.
import { describe, expect, it } from 'vitest';
import type { CallPhase } from '../../src/contract/call-record.js';
import { NOBODY_WAITS } from '../../src/conversation/wait.js';
import { Scene, type SceneKind } from './scene.js';

const KIND: SceneKind = { steering: 'replies', direction: 'inbound' };
const OUTGOING: SceneKind = { steering: 'commands', direction: 'outbound' };

async function scene(kind = KIND): Promise<Scene> {
  const up = new Scene(kind);
  await up.up();
  return up;
}

const says = ({ bench }: Scene, phase: CallPhase) =>
  bench.engine.context.fact({ type: 'phase.changed', phase });
const told = ({ bench, callId }: Scene) =>
  bench.ofType('phase.changed', callId).map(({ phase, previous }) => [phase, previous]);

describe('the phase of a call', () => {
  it('is none before the agent says so', async () => {
    const ringing = new Scene({ ...KIND, steering: 'commands' });
    await ringing.ring();
    expect(ringing.record.phase).toBeNull();
    expect((await scene()).record.phase).toBeNull();
  });

  it('is told where it is another one, with the one before, whichever engine says so', async () => {
    const up = await scene();
    says(up, 'thinking');
    says(up, 'thinking');
    says(up, 'speaking');
    await up.bench.pass(40);
    expect(told(up)).toEqual([
      ['thinking', undefined],
      ['speaking', 'thinking'],
    ]);
    const since = up.bench.ofType('phase.changed', up.callId).at(-1)?.at;
    expect(up.record.phase).toEqual({ name: 'speaking', since });
  });

  it('is ending once the agent ends the call, and no other one until the end', async () => {
    const up = await scene();
    says(up, 'speaking');
    up.bench.engine.context.endCall('agent-hangup');
    says(up, 'listening');
    expect(told(up).at(-1)).toEqual(['ending', 'speaking']);
    expect(up.record.phase?.name).toBe('ending');
    await up.bench.pass(5000);
    says(up, 'listening');
    expect((await up.expectEnd()).phase).toBeNull();
    expect(told(up)).toHaveLength(2);
  });

  it('is ending while the carrier says that something went wrong', async () => {
    const up = await scene();
    says(up, 'thinking');
    const failure = { code: 'PROVIDER_FAILED', message: 'It is gone.', wait: NOBODY_WAITS };
    up.bench.engine.context.endCall('provider-failed', failure);
    await up.bench.pass(4000);
    expect(up.bench.rest.requests.join()).toContain('speak');
    expect(up.record).toMatchObject({ status: 'active', phase: { name: 'ending' } });
  });

  it('is ending while a message is left on a machine', async () => {
    const up = await scene(OUTGOING);
    says(up, 'speaking');
    up.report({ type: 'machine-detection', verdict: 'machine' });
    says(up, 'held');
    up.report({ type: 'machine-detection', verdict: 'machine-ready' });
    expect(told(up)).toEqual([
      ['speaking', undefined],
      ['held', 'speaking'],
      ['ending', 'held'],
    ]);
  });

  it('is none behind an end that comes in the middle of it', async () => {
    const up = await scene();
    says(up, 'speaking');
    up.stop();
    const { phase, seq } = await up.expectEnd();
    expect(phase).toBeNull();
    expect(up.bench.events.filter((event) => event.seq > seq)).toEqual([]);
  });
});
