// A broker and servers that are reached by TLS, with certificates of an authority of one's own. Servers are processes, because NODE_EXTRA_CA_CERTS is read as one starts.
import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { Offhook } from '../../../src/index.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually, OWN_NUMBER, PUBLIC_HOST, startCarrier } from '../../support/carrier-phone.js';
import { Authority, type CertificateFiles, pemOf } from '../../support/certificates.js';
import { CLUSTER_SECRET } from '../../support/cluster-node.js';
import { ClusterProcesses } from '../../support/cluster-processes.js';
import { freePort } from '../../support/free-port.js';
import { describeNeeding } from '../../support/needing.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { REDIS_PROGRAM, RedisServer } from '../../support/redis-server.js';

const LONG_MS = 60_000;

/** What stands before a server that speaks TLS to the others. */
async function openFront(files: CertificateFiles, port: number) {
  const front = createServer(pemOf(files), (request, response) => {
    const { method, url: path, headers } = request;
    const onward = requestHttp({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  front.on('tlsClientError', () => {});
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    address: `https://127.0.0.1:${(front.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}

describeNeeding(
  [REDIS_PROGRAM, 'openssl'],
  'servers of a cluster that speak TLS',
  (program = '', openssl = '') => {
    const authority = new Authority(openssl);
    afterAll(() => authority[Symbol.dispose]());

    const tlsWith = (files: CertificateFiles) => [
      ...['--tls-cert-file', files.cert, '--tls-key-file', files.key],
      ...['--tls-ca-cert-file', authority.file, '--tls-auth-clients', 'no'],
    ];

    async function startRedis(files: CertificateFiles) {
      const port = await freePort();
      const redis = await RedisServer.start(program, ['--tls-port', String(port), ...tlsWith(files)]);
      return {
        redis,
        url: `rediss://127.0.0.1:${port}`,
        [Symbol.asyncDispose]: () => redis.kill(),
      };
    }

    it.each(SIMULATED_CARRIERS)(
      'hold a call whose stream comes to another one, with an authority of their own, on %s',
      async (id) => {
        await using broker = await startRedis(authority.certify());
        await using cluster = await ClusterProcesses.on(id, broker.url, {
          NODE_EXTRA_CA_CERTS: authority.file,
        });
        const ports = [await freePort(), await freePort()] as const;
        await using one = await openFront(authority.certify(), ports[0]);
        await using two = await openFront(authority.certify(), ports[1]);
        await cluster.fork({ address: one.address }, {}, ports[0]);
        await cluster.fork({ address: two.address }, {}, ports[1]);
        const isLost = new AbortController();
        const calling = cluster.simulator.call({ script: asksUpon(isLost.signal) });
        const { callId } = await eventually(
          'the greeting',
          () => cluster.facts.find(({ type }) => type === 'turn.completed'),
          LONG_MS,
        );
        const owner = cluster.owner();
        cluster.proxy.useAll(ports.filter((port) => port !== owner.port));
        cluster.simulator.legs[0]?.dropStream();
        await eventually('another owner', () => (cluster.owner() === owner ? undefined : true), LONG_MS);
        isLost.abort();
        expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
        const [record, other] = await cluster.records(callId);
        expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
        expect(other).toEqual(record);
        expect(cluster.ended).toHaveLength(1);
        for (const { log } of cluster.processes) expect(log.join('')).not.toContain('cannot be trusted');
      },
      120_000,
    );

    it.each([
      { what: 'of an authority that is not known', isKnown: false, fix: /NODE_EXTRA_CA_CERTS=/ },
      { what: 'for another host', names: 'DNS:other.example', fix: /not for the host in its address/ },
    ])(
      'say at the start how to mend a certificate of the broker $what',
      async ({ names, isKnown = true, fix }) => {
        await using broker = await startRedis(authority.certify(names));
        const env = isKnown ? { NODE_EXTRA_CA_CERTS: authority.file } : {};
        await using cluster = await ClusterProcesses.on('carrier-a', broker.url, env);
        const failed = await cluster.fork().then(
          () => '',
          (error: Error) => error.message,
        );
        expect(failed).toContain("code: 'CONFIG_INVALID'");
        expect(failed).toContain('The broker in cluster.url cannot be trusted.');
        expect(failed).toMatch(fix);
      },
      120_000,
    );

    describe('to a Redis Cluster', () => {
      /** `url`: of the node that does not have the keys. */
      async function startRedisCluster(files: CertificateFiles, announced: readonly string[] = []) {
        const settings = [...tlsWith(files), ...announced];
        const redis = await RedisCluster.start(program, { masters: 2, isTls: true, settings });
        const { name, master, other } = await redis.place('phones');
        return {
          name,
          url: redis.tlsUrlOf(other, 'localhost'),
          has: redis.tlsUrlOf(master),
          [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
        };
      }

      it('trust the node that has the keys by the host that it announces', async () => {
        await using broker = await startRedisCluster(authority.certify('DNS:localhost'), [
          ...['--cluster-announce-hostname', 'localhost'],
          ...['--cluster-preferred-endpoint-type', 'hostname'],
        ]);
        const env = { NODE_EXTRA_CA_CERTS: authority.file };
        await using cluster = await ClusterProcesses.on('carrier-a', broker.url, env);
        const { port } = await cluster.fork({ name: broker.name });
        await eventually(
          'the broker',
          async () => {
            const ready = (await (await fetch(`http://127.0.0.1:${port}/ready`)).json()) as {
              broker: string;
            };
            return ready.broker === 'there' || undefined;
          },
          LONG_MS,
        );
      }, 120_000);

      it('say at the start which node has a certificate for another host', async () => {
        await using broker = await startRedisCluster(authority.certify('DNS:localhost'));
        const env = { NODE_EXTRA_CA_CERTS: authority.file };
        await using cluster = await ClusterProcesses.on('carrier-a', broker.url, env);
        const failed = await cluster.fork({ name: broker.name }).then(
          () => '',
          (error: Error) => error.message,
        );
        expect(failed).toContain("code: 'CONFIG_INVALID'");
        const node = new URL(broker.has).host;
        expect(failed).toContain(`The node ${node} of the Redis Cluster in cluster.url cannot be trusted.`);
        expect(failed).toContain('not for the host in its address');
      }, 120_000);
    });

    it('start where the certificate of the broker has expired, and say so', async () => {
      await using broker = await startRedis(authority.certify(undefined, -1));
      const env = { NODE_EXTRA_CA_CERTS: authority.file };
      await using cluster = await ClusterProcesses.on('carrier-a', broker.url, env);
      const { log } = await cluster.fork();
      await eventually('the warning', () => log.join('').includes('has expired'), LONG_MS);
    }, 120_000);

    it('start where the scheme of the URL is for the other port of the broker, and say so', async () => {
      await using broker = await startRedis(authority.certify());
      const urls = {
        'use redis:// in cluster.url': broker.redis.url.replace('redis:', 'rediss:'),
        'use rediss:// in cluster.url': broker.url.replace('rediss:', 'redis:'),
      };
      for (const [advice, url] of Object.entries(urls)) {
        await using cluster = await ClusterProcesses.on('carrier-a', url);
        const { log } = await cluster.fork();
        await eventually('the warning', () => log.join('').includes(advice), LONG_MS);
      }
    }, 120_000);

    it('say how to mend the certificate of one of them, and go on with calls', async () => {
      await using redis = await RedisServer.start(program).then((started) => ({
        url: started.url,
        [Symbol.asyncDispose]: () => started.kill(),
      }));
      await using cluster = await ClusterProcesses.on('carrier-b', redis.url, {
        NODE_EXTRA_CA_CERTS: authority.file,
      });
      const port = await freePort();
      await using front = await openFront(authority.certify('DNS:other.example'), port);
      await cluster.fork();
      const wrong = await cluster.fork({ address: front.address }, {}, port);
      const said = await eventually(
        'a warning',
        () =>
          wrong.log
            .join('')
            .split('\n')
            .find((line) => line.includes('not reached at its cluster.address')),
        LONG_MS,
      );
      expect(said).toContain('CLUSTER_FAILED');
      expect(said).toContain('not for the host in its address');
      expect(said).toContain(front.address);
      const report = await cluster.simulator.call({ script: asksUpon(AbortSignal.abort()) });
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    }, 120_000);

    it('reject serve() with a coded error where a certificate does not fit', async () => {
      await using broker = await startRedis(authority.certify());
      const { simulator, carrier } = await startCarrier('carrier-a', { url: 'http://127.0.0.1:1' });
      const phone = new Offhook({ carrier, phoneNumber: OWN_NUMBER, webhookUrl: PUBLIC_HOST });
      const port = await freePort();
      const serving = phone.serve({
        agent: phone.agent({ name: 'desk', systemPrompt: 'You help.' }),
        port,
        host: '127.0.0.1',
        manageWebhook: false,
        dataDir: false,
        cluster: {
          url: broker.url,
          name: 'phones',
          secret: CLUSTER_SECRET,
          address: `http://127.0.0.1:${port}`,
        },
      });
      await expect(serving).rejects.toMatchObject({
        name: 'ConfigError',
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      });
      await simulator.close();
    });
  },
);
