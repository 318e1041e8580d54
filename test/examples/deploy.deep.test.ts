// The example of a deploy, played behind nginx and behind Caddy: a call is up, the next version starts on the other port, and the call goes on.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { expect, it } from 'vitest';
import { start } from '../../examples/deploy/server.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import type { Carrier, ServeOptions } from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { eventually, OWN_NUMBER, startCarrier } from '../support/carrier-phone.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';
import { describeNeeding } from '../support/needing.js';
import {
  caddyOf,
  nginxOf,
  openProxy,
  openTls,
  type RunningProxy,
  type StartProxy,
} from '../support/proxies.js';
import { RecordedLogger } from '../support/recorded-logger.js';

const PATIENCE_MS = 40_000;
const GREETING = 'Hello, this is the bakery. How can I help?';
const QUESTION = 'Are you open?';
const WAIT: CallerStep = { type: 'wait-for-agent' };

/** A version of the example, and what happens there. */
async function startVersion(options: { carrier: Carrier; webhookHost: string } & Partial<ServeOptions>) {
  const [facts, ended]: [CallEvent[], CallRecord[]] = [[], []];
  const logger = new RecordedLogger();
  const { phone, server } = await start({
    ...{ dashboardUrl: false, manageWebhook: false, handleSignals: false, drainSeconds: 1, maxCalls: 1 },
    ...options,
    logger,
    onCallEnd: (record) => void ended.push(record),
  });
  server.events.subscribe((fact) => facts.push(fact));
  const errors = () => logger.sentences('error');
  return { server, facts, ended, errors, [Symbol.asyncDispose]: () => phone.disconnect() };
}

/** True once the proxy has found the server: it looks every second. */
async function answers({ url, cert }: RunningProxy): Promise<true | undefined> {
  const request = get(`${url}/health`, { ca: cert, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode === 200 ? true : undefined;
}

async function deploys(startProxy: StartProxy, id: CarrierId, isForward: boolean): Promise<void> {
  const ports = [await freePort(), await freePort()] as const;
  const [from, to] = isForward ? ports : [ports[1], ports[0]];
  await using proxy = await openProxy(startProxy, 'deploy', [
    ['127.0.0.1:8000', `127.0.0.1:${ports[0]}`],
    ['127.0.0.1:8001', `127.0.0.1:${ports[1]}`],
  ]);
  await using tls = await openTls(proxy);
  const webhookHost = `localhost:${proxy.port}`;
  const { simulator, carrier } = await startCarrier(id, { url: tls.url, webhookHost });
  await using _ = { [Symbol.asyncDispose]: () => simulator.close() };
  const common = { carrier, webhookHost, dataDir: await makeFolder() };

  await using old = await startVersion({ ...common, port: from });
  await eventually('the server behind the proxy', () => answers(proxy), PATIENCE_MS);
  const isMoved = new AbortController();
  const calling = simulator.call({
    to: OWN_NUMBER,
    script: [
      WAIT,
      { type: 'wait-until', signal: isMoved.signal, timeoutMs: 50_000 },
      { type: 'say', text: QUESTION },
      WAIT,
      { type: 'hang-up' },
    ],
  });
  const { callId } = await eventually(
    'the greeting',
    () => old.facts.find(({ type }) => type === 'turn.completed'),
    PATIENCE_MS,
  );
  await using next = await startVersion({ ...common, port: to });
  const moved = await eventually(
    'the call',
    () => next.facts.find(({ type }) => type === 'incident.noted'),
    PATIENCE_MS,
  );
  expect(moved.callId).toBe(callId);
  isMoved.abort();
  const report = await calling;
  expect(report).toMatchObject({ ok: true, protocolErrors: [] });
  await old.server.closed;

  // It takes one call at a time.
  await eventually('the first end', () => (next.ended.length === 1 ? true : undefined), PATIENCE_MS);
  const second = await simulator.call({ to: OWN_NUMBER, script: [WAIT, { type: 'hang-up' }] });
  expect(second).toMatchObject({ ok: true, protocolErrors: [] });
  await eventually('both ends', () => (next.ended.length === 2 ? true : undefined), PATIENCE_MS);
  const { calls } = await next.server.calls.list();
  expect(calls).toHaveLength(2);
  const [record] = next.ended;
  expect(record).toMatchObject({ callId, endReason: 'caller-hangup', term: 2, error: null });
  const [greeting, question, ...answer] = record?.transcript ?? [];
  expect([greeting?.text, question?.text]).toEqual([GREETING, QUESTION]);
  // By the real clock: on a busy machine the agent says "One moment." before its answer.
  expect(new Set(answer.map(({ role }) => role))).toEqual(new Set(['agent']));
  expect(record?.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
  expect([old.ended, old.errors(), next.errors()]).toEqual([[], [], []]);
}

describeNeeding(['nginx', 'caddy', 'openssl'], 'a deploy in mid-call', (nginx = '', caddy = '') => {
  const CELLS = [
    { name: 'nginx', id: 'carrier-a', isForward: true },
    { name: 'nginx', id: 'carrier-b', isForward: false },
    { name: 'Caddy', id: 'carrier-a', isForward: false },
    { name: 'Caddy', id: 'carrier-b', isForward: true },
  ] as const;
  it.each(CELLS)(
    'loses nothing behind $name, with $id, to the other port: $isForward',
    { timeout: 120_000 },
    ({ name, id, isForward }) => deploys(name === 'nginx' ? nginxOf(nginx) : caddyOf(caddy), id, isForward),
  );
});
