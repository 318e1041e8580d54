import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, and those that the network in memory gives out: who closes a port to open it again finds it
 * free.
 */
const FIRST_PORT = 12_000;
const PORTS_OF_A_STRETCH = 200;
const STRETCHES = 40;

/** Listens there, or resolves with `undefined` where somebody else does. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

/** A stretch of ports for this process alone, also beside another run of the suite: it is whose process listens on its first port. */
async function claimStretch(): Promise<number> {
  for (let tries = 0; tries < STRETCHES; tries += 1) {
    const first = FIRST_PORT + ((process.pid + tries) % STRETCHES) * PORTS_OF_A_STRETCH;
    const claim = await listen(first);
    if (claim === undefined) continue;
    claim.unref();
    return first;
  }
  throw new Error('every stretch of ports is taken');
}

let claimed: Promise<number> | undefined;
let count = 0;

/** A port of the loopback address that was free a moment ago, another one each time. */
export async function freePort(): Promise<number> {
  claimed ??= claimStretch();
  const first = await claimed;
  for (let tries = 1; tries < PORTS_OF_A_STRETCH; tries += 1) {
    count = (count % (PORTS_OF_A_STRETCH - 1)) + 1;
    const port = first + count;
    const server = await listen(port);
    if (server === undefined) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error('there is no free port');
}
