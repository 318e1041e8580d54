// Where simulated services listen: on this machine only.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../base/errors.js';

/** Listens on 127.0.0.1 and resolves with the port; 0 takes a free one. @throws ConfigError for a port that is in use. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new ConfigError('CONFIG_PORT_IN_USE', `The REST API cannot listen on port ${port}.`, { cause })),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
