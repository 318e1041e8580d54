import { createServer, connect, type AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Ledger, openLedger } from '../../src/testing/index.js';

let ledger: Ledger = openLedger();
afterEach(() => ledger.close());

const kinds = async () => (await ledger.read()).map(({ kind }) => kind);

it('counts a timer that does not keep the process alive, and says who set it', async () => {
  ledger = openLedger();
  const timer = ledger.run(() => setTimeout(() => {}, 60_000).unref());
  const [entry, ...more] = await ledger.read();
  expect(entry).toMatchObject({ kind: 'timer', openedAt: expect.stringContaining('ledger.test') });
  expect(more).toEqual([]);
  clearTimeout(timer);
  expect(await ledger.read()).toEqual([]);
});

it('counts what follows from a task later, and nothing of others', async () => {
  ledger = openLedger();
  const others = setTimeout(() => {}, 60_000);
  const timer = await ledger.run(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return setTimeout(() => {}, 60_000);
  });
  expect(await kinds()).toEqual(['timer']);
  clearTimeout(timer);
  clearTimeout(others);
});

it('counts a server and the connections that it takes, and no client of others', async () => {
  ledger = openLedger();
  const server = ledger.run(() => createServer().listen(0, '127.0.0.1'));
  await new Promise((resolve) => server.once('listening', resolve));
  const taken = new Promise((resolve) => server.once('connection', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  await taken;
  expect((await kinds()).sort()).toEqual(['server', 'socket']);
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
  expect(await ledger.read()).toEqual([]);
});
