// The example of a cluster behind its nginx: two servers, and one that stands still.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { start } from '../../examples/cluster/server.js';
import { type CallRecord, type CarrierId, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { Carrier } from '../../src/index.js';
import { WAIT } from '../support/asking-caller.js';
import { eventually, OWN_NUMBER, startCarrier } from '../support/carrier-phone.js';
import { CLUSTER_SECRET } from '../support/cluster-node.js';
import { freePort } from '../support/free-port.js';
import { describeNeeding } from '../support/needing.js';
import { nginxOf, openProxy, openTls } from '../support/proxies.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { RedisServer } from '../support/redis-server.js';

const PATIENCE_MS = 40_000;

/** Takes connections, as the system does for a process that is stopped, and answers nothing. */
async function startFrozen() {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (data) => void asked.push(data.toString('latin1').split(' ', 1)[0] ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, asked, [Symbol.asyncDispose]: async () => void server.close() };
}

async function startServer(carrier: Carrier, broker: RedisServer, webhookHost: string, port: number) {
  const ended: CallRecord[] = [];
  const { phone, server } = await start({
    ...{ carrier, webhookHost, port, host: '127.0.0.1', trustProxy: 'loopback' },
    ...{ dataDir: false, manageWebhook: false, dashboardUrl: false, handleSignals: false, drainSeconds: 1 },
    logger: new RecordedLogger(),
    cluster: {
      url: broker.url,
      name: 'phones',
      secret: CLUSTER_SECRET,
      address: `http://127.0.0.1:${port}`,
    },
    onCallEnd: (record) => void ended.push(record),
  });
  return { server, ended, [Symbol.asyncDispose]: () => phone.disconnect() };
}

async function calls(nginx: string, redis: string, id: CarrierId): Promise<void> {
  await using frozen = await startFrozen();
  const ports = [await freePort(), await freePort()] as const;
  await using proxy = await openProxy(nginxOf(nginx), 'cluster', [
    ['10.0.0.5:8000', `127.0.0.1:${ports[0]}`],
    ['10.0.0.6:8000', `127.0.0.1:${ports[1]}`],
    ['10.0.0.7:8000', `127.0.0.1:${frozen.port}`],
  ]);
  await using tls = await openTls(proxy);
  const webhookHost = `localhost:${proxy.port}`;
  const { simulator, carrier } = await startCarrier(id, { url: tls.url, webhookHost });
  await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
  const broker = await RedisServer.start(redis);
  await using __ = { [Symbol.asyncDispose]: () => broker.kill() };
  await using one = await startServer(carrier, broker, webhookHost, ports[0]);
  await using other = await startServer(carrier, broker, webhookHost, ports[1]);
  const ask = async (path: string, method: string) =>
    (
      await fetch(`${tls.url}${path}`, {
        method,
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
    ).status;

  expect(await ask('/cluster', 'POST')).toBe(404);
  // Nobody signed the webhook: a server that lives says so.
  const passesOn = (method: string, path: string, status: number) =>
    eventually(
      `a ${method} to the server that stands still`,
      async () => {
        expect(await ask(path, method)).toBe(status);
        return frozen.asked.includes(method) ? true : undefined;
      },
      PATIENCE_MS,
    );
  await Promise.all([passesOn('POST', `/webhooks/${id}/voice`, 403), passesOn('GET', '/health', 200)]);

  const report = await simulator.call({
    to: OWN_NUMBER,
    script: [WAIT, { type: 'say', text: 'Are you open?' }, WAIT, { type: 'hang-up' }],
  });
  expect(report).toMatchObject({ ok: true, protocolErrors: [] });
  await simulator.settled();
  const show = async ({ server }: typeof one) => {
    const [record] = (await server.calls.list()).calls;
    return record && server.calls.get(record.callId);
  };
  const record = await eventually('the same record on both', async () => {
    const [here, there] = [await show(one), await show(other)];
    return here?.hangUp !== 'pending' && here?.endedAt != null && isDeepStrictEqual(here, there)
      ? here
      : undefined;
  });
  expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
  expect(record.transcript.map(({ role }) => role).slice(0, 3)).toEqual(['agent', 'user', 'agent']);
  expect([...one.ended, ...other.ended]).toHaveLength(1);
}

describeNeeding(
  ['nginx', 'openssl', 'redis-server'],
  'servers behind nginx',
  (nginx = '', _ = '', redis = '') => {
    // Beside each other, since both are mostly a caller who speaks.
    it.concurrent.each(SIMULATED_CARRIERS)(
      'hold a call while one of them stands still, on %s',
      { timeout: 120_000 },
      (id) => calls(nginx, redis, id),
    );
  },
);
