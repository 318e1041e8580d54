// A network between an HTTP client and a server that breaks connections.
import { connect } from 'node:net';
import { type Joint, openJoint } from './joint.js';

export interface CuttingProxy extends Pick<Joint, 'url' | 'close'> {
  /** Connections that were made so far. */
  readonly connections: number;
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
  let connections = 0;
  const { url, close } = await openJoint(
    () => connect(port, '127.0.0.1'),
    (client, upstream) => {
      let left = cuts[connections] ?? Number.POSITIVE_INFINITY;
      connections += 1;
      client.on('data', (chunk) => upstream.write(chunk));
      upstream.on('data', (chunk: Buffer) => {
        const bytes = Buffer.from(rewrite(chunk.toString('latin1')), 'latin1');
        client.write(bytes.subarray(0, Math.min(left, bytes.length)));
        left -= bytes.length;
        // The end of the bytes before it reaches the client, as on a real line that breaks.
        if (left <= 0) setImmediate(() => client.destroy());
      });
    },
  );
  return {
    url,
    close,
    get connections() {
      return connections;
    },
  };
}
