// The demo's servers as one cluster: each in a process of its own, behind a load balancer, with a broker.
import { randomBytes } from 'node:crypto';
import { toLocalUrl } from '../../base/host-name.js';
import { loadRedisPackage } from '../../cluster/redis/package.js';
import type { CarrierAStream } from '../carrier-a/stream.js';
import { freePort } from '../loopback.js';
import { type DemoBroker, startBroker, useBroker } from './demo-broker.js';
import { type DemoProxy, startProxy } from './demo-proxy.js';
import type { DemoServer, DemoServerSettings } from './demo-server.js';
import { type MortalServer, startMortalServer } from './mortal-server.js';

export interface DemoNode extends Pick<MortalServer, 'kill' | 'start'> {
  readonly name: string;
}

export interface DemoCluster extends DemoServer {
  readonly nodes: readonly DemoNode[];
  /** Which one the stream came to. */
  nodeOf(stream: Pick<CarrierAStream, 'path'>): DemoNode | undefined;
}

/**
 * Starts them behind `port` and `host` of the settings. `broker`: the URL of one that runs. @default one of its own
 * @throws ConfigError when it cannot; nothing is left running then.
 */
export async function startCluster(
  settings: DemoServerSettings,
  { count, broker: url }: { count: number; broker?: string | undefined },
): Promise<DemoCluster> {
  await loadRedisPackage();
  const name = `demo-${randomBytes(8).toString('hex')}`;
  const secret = randomBytes(32).toString('base64');
  const servers: (MortalServer | undefined)[] = Array(count).fill(undefined);
  const ports: (number | undefined)[] = Array(count).fill(undefined);
  let [proxy, broker]: [DemoProxy?, DemoBroker?] = [];

  const start = async (index: number): Promise<void> => {
    // A port that was let go may be another one's by now.
    const port = await freePort();
    const cluster = { url: broker?.url ?? '', name, secret, address: `http://127.0.0.1:${port}` };
    servers[index] = await startMortalServer({ ...settings, host: '127.0.0.1', port, cluster });
    ports[index] = port;
  };
  const nodes = ports.map((_, index) => ({
    name: `server ${index + 1}`,
    start: () => start(index),
    async kill() {
      ports[index] = undefined;
      await servers[index]?.kill();
    },
  }));
  const end = async (order: 'drain' | 'disconnect'): Promise<void> => {
    await Promise.all(servers.map((server) => server?.[order]()));
    const [ending, last] = [proxy, broker];
    proxy = broker = undefined;
    await ending?.close();
    await last?.close();
  };
  try {
    proxy = await startProxy({ ...settings, ports: () => ports.filter((port) => port !== undefined) });
    broker = await (url === undefined ? startBroker() : useBroker(url, name));
    const started = await Promise.allSettled(nodes.map((node) => node.start()));
    for (const one of started) if (one.status === 'rejected') throw one.reason;
  } catch (error) {
    await end('disconnect');
    throw error;
  }
  const address = toLocalUrl(settings.host, settings.port);
  return {
    url: address,
    dashboardUrl: `${address}/`,
    nodes,
    nodeOf({ path }) {
      const port = proxy?.portOf(path);
      return port === undefined ? undefined : nodes[ports.indexOf(port)];
    },
    drain: () => end('drain'),
    disconnect: () => end('disconnect'),
  };
}
