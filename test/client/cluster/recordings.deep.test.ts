// Recordings of a cluster whose servers are killed.
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { type ClusterProcess, ClusterProcesses } from '../../support/cluster-processes.js';
import { makeFolder } from '../../support/data-folder.js';
import { describeOnRedis, eachRedis } from '../../support/redis-server.js';

const TOKEN = 'a-token-of-sixteen-characters';
const LONG_MS = 60_000;

function ask({ port }: ClusterProcess, path: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return fetch(`http://127.0.0.1:${port}/api/dashboard/calls/${path}`, { headers });
}

describeOnRedis('recordings of a cluster', (program) => {
  const broker = eachRedis(program);

  it.each(SIMULATED_CARRIERS)(
    'are finished by a server that was killed in the call, are away while it is, and play once it is back, on %s',
    async (id) => {
      await using cluster = await ClusterProcesses.on(id, broker.redis.url);
      const folders = new Map<number, string>();
      const fork = async (at?: number) => {
        const dataDir = folders.get(at ?? 0) ?? (await makeFolder());
        const serve = { dataDir, localRecording: true, dashboardToken: TOKEN };
        const process = await cluster.fork({ state: false }, serve, at);
        folders.set(process.port, dataDir);
        return process;
      };
      for (let count = 0; count < 3; count += 1) await fork();
      const script = asksUpon(new AbortController().signal);
      const calling = cluster.simulator.call({ script, maxDurationMs: LONG_MS });
      const isGreeting = ({ type }: { type: string }) => type === 'turn.completed';
      const { callId } = await eventually('the greeting', () => cluster.facts.find(isGreeting), LONG_MS);
      const owner = cluster.owner();
      // What it has just recorded is on its way to the disk.
      await pause(systemClock, 1500);
      await owner.kill();
      await calling;
      const [left] = cluster.processes.filter((process) => process !== owner) as [ClusterProcess];
      const shown = (is: (record: CallRecord) => boolean) => async () => {
        const record = (await (await ask(left, callId)).json()) as CallRecord;
        return is(record) ? record : undefined;
      };
      const isOver = ({ status }: CallRecord) => status === 'completed';
      const lost = await eventually('the end', shown(isOver), LONG_MS);
      expect(lost).toMatchObject({ endReason: 'process-lost', localRecording: { status: 'pending' } });
      const back = await fork(owner.port);
      const isMade = ({ localRecording }: CallRecord) => localRecording?.status === 'completed';
      const { localRecording } = await eventually('the recording', shown(isMade), LONG_MS);
      expect(localRecording).toMatchObject({ trouble: null, server: `http://127.0.0.1:${owner.port}` });
      const play = async () => Buffer.from(await (await ask(left, `${callId}/audio`)).arrayBuffer());
      // The others know within a second that it is there.
      const whole = await eventually('the recording', async () => {
        const played = await play();
        return played.length === localRecording?.bytes ? played : undefined;
      });
      await back.kill();
      const away = await ask(left, `${callId}/audio`);
      expect([away.status, await away.json()]).toMatchObject([503, { error: { code: 'CLUSTER_FAILED' } }]);
      await fork(owner.port);
      const isPlayed = async () => (whole.equals(await play()) ? true : undefined);
      await eventually('the recording, once more', isPlayed, LONG_MS);
    },
    240_000,
  );
});
