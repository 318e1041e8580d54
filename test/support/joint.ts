// A server of this machine that joins each connection to one of its own: what proxies of tests are made of.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Joint extends AsyncDisposable {
  readonly url: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

function pipe(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
}

/** `reach` makes the other connection; one that ends takes the other with it. `join`: @default passes everything on */
export async function openJoint(reach: () => Socket, join = pipe): Promise<Joint> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = reach();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    join(client, upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}
