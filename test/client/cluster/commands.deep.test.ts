// Commands on a call whose server stands still or was killed, given to another one by REST.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { WAIT } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { ClusterProcesses, type ClusterProcess } from '../../support/cluster-processes.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';

const LONG_MS = 60_000;
/** A server that does not answer is given up after half a second; the rest is for a busy machine. */
const IN_TIME_MS = 10_000;
const OTHER = '+15005550030';

const order = ({ port }: ClusterProcess, path: string, body: object = {}) =>
  fetch(`http://127.0.0.1:${port}/api/dashboard/calls/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(IN_TIME_MS),
  });

describeOnRedis('a command on a call', (program) => {
  const broker = eachRedis(program);

  it.each(
    SIMULATED_CARRIERS.flatMap((id) => [
      { how: 'stands still', signal: 'SIGSTOP', id } as const,
      { how: 'was killed', signal: 'SIGKILL', id } as const,
    ]),
  )(
    'whose server $how is refused in time, and carried out where the call goes on, on $id',
    async ({ signal, id }) => {
      await using cluster = await ClusterProcesses.three(id, broker.redis.url);
      const script = [WAIT, { type: 'pause', durationMs: 110_000 }] as const;
      const calling = cluster.simulator.call({ script: [...script] });
      const { callId } = await eventually(
        'the greeting',
        () => cluster.facts.find(({ type }) => type === 'turn.completed'),
        LONG_MS,
      );
      const owner = cluster.owner();
      const left = cluster.processes.filter((process) => process !== owner) as [
        ClusterProcess,
        ClusterProcess,
      ];
      cluster.proxy.useAll(left.map(({ port }) => port));
      const isKnown = async () => ((await left[0].record(callId))?.status === 'active' ? true : undefined);
      await eventually('the call at the others', isKnown, LONG_MS);
      owner.child.kill(signal);
      const refused = await order(left[0], `${callId}/transfer`, { to: OTHER });
      expect([refused.status, await refused.json()]).toMatchObject([
        409,
        { error: { code: 'REQUEST_CONFLICT' } },
      ]);
      await cluster.moved(owner);
      await eventually(
        'a hang-up',
        async () => ((await order(left[1], `${callId}/hangup`)).status === 202 ? true : undefined),
        LONG_MS,
      );
      owner.child.kill('SIGCONT');
      await calling;
      for (const record of await cluster.records(callId, left))
        expect(record).toMatchObject({ endReason: 'operator-hangup', transfer: null, error: null });
      expect(cluster.ended).toHaveLength(1);
    },
    180_000,
  );
});
