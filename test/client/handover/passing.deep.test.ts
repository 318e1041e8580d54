// What somebody sends to the port of one server reaches the other one as what it is, and never as an order.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

/** Sends bytes, and resolves with what was answered within a moment. */
async function exchange(port: number, text: string, forMs = 150): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (data: Buffer) => {
    answer += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.write(text);
  await pause(forMs);
  socket.destroy();
  return answer;
}

const HEADS = [
  'GET /api/dashboard/active HTTP/1.1',
  'DELETE /dashboard HTTP/1.1',
  'GET / HTTP/1.1\r\nx-offhook-passed: true',
];

it('an order in the body of a request that is passed on is none', { timeout: 60_000 }, async () => {
  await using deploy = await Deploy.on('carrier-a');
  const old = await deploy.serve();
  deploy.proxy.switchTo(old.port);
  // The old one is there for as long as its call is.
  const isOver = new AbortController();
  const calling = deploy.simulator.call({
    script: [{ type: 'wait-until', signal: isOver.signal, timeoutMs: 50_000 }, { type: 'hang-up' }],
  });
  await eventually('the call', () => (old.started.length === 1 ? true : undefined));
  const next = await deploy.serve();
  // What is no order is answered by the next one.
  expect((await fetch(`http://127.0.0.1:${old.port}/api/dashboard/active`)).status).toBe(200);
  const order = '{"timeoutSeconds":0}';
  const smuggled = `POST /drain HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${order.length}\r\n\r\n${order}`;
  const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  for (const head of HEADS) {
    await exchange(old.port, `${head}\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    await exchange(
      old.port,
      `${head}\r\nHost: 127.0.0.1\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    );
  }
  expect((await fetch(`http://127.0.0.1:${next.port}/ready`)).status).toBe(200);
  expect(next.logger.sentences('info')).not.toContain('draining: no new calls are taken');
  isOver.abort();
  await calling;
});
