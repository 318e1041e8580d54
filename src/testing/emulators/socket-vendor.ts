// An emulated vendor that is asked for sockets alone.
import type { EmulatorRequest, VendorPeer } from './vendor-peer.js';
import { type EmulatorOptions, type PeerHandler, type Refusal, VendorServer } from './vendor-server.js';

export interface SocketVendor<Connection extends PeerHandler> {
  /** What a bad handshake is answered with. */
  refuse(request: EmulatorRequest, apiKey: string): Refusal | undefined;
  /** `number` counts the connections from 1. */
  connect(peer: VendorPeer, server: VendorServer, number: number): Connection;
}

/** Listens for a vendor, and keeps its connections in the order in which they came. */
export async function serveSockets<Connection extends PeerHandler>(
  options: EmulatorOptions,
  vendor: SocketVendor<Connection>,
): Promise<VendorServer & { readonly connections: readonly Connection[] }> {
  const connections: Connection[] = [];
  const server = new VendorServer(options, (owner) => ({
    refuse: (request) => vendor.refuse(request, owner.apiKey),
    connect(peer) {
      const connection = vendor.connect(peer, owner, connections.length + 1);
      connections.push(connection);
      return connection;
    },
  }));
  await server.listen(options.port);
  return Object.assign(server, { connections });
}
