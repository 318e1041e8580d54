import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, a stretch for each worker: who closes a port to open it again finds it free. */
const FIRST_PORT = 12_000;
const PORTS_OF_A_WORKER = 400;
const WORKERS = 48;

const first = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS_OF_A_WORKER;
let count = process.pid % PORTS_OF_A_WORKER;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A port of the loopback address that was free a moment ago, another one each time. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_OF_A_WORKER; tries += 1) {
    count = (count + 1) % PORTS_OF_A_WORKER;
    const port = first + count;
    if (await isFree(port)) return port;
  }
  throw new Error('there is no free port');
}
