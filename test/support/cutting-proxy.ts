// A network between an HTTP client and a server that breaks connections.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly url: string;
  /** Connections that were made so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * Passes bytes on, and breaks the n-th connection when the n-th number of bytes has come from the server; what is over the list lives.
 * `rewrite` changes the server's bytes, without changing how many they are.
 */
export async function startCuttingProxy(
  port: number,
  cuts: readonly number[],
  rewrite: (text: string) => string = (text) => text,
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    let left = cuts[connections] ?? Number.POSITIVE_INFINITY;
    connections += 1;
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk: Buffer) => {
      const bytes = Buffer.from(rewrite(chunk.toString('latin1')), 'latin1');
      client.write(bytes.subarray(0, Math.min(left, bytes.length)));
      left -= bytes.length;
      // The end of the bytes before it reaches the client, as on a real line that breaks.
      if (left <= 0) setImmediate(() => client.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
