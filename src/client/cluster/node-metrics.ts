// What all nodes measure, as any process of the cluster shows it: each is asked for its own.
import type { Coordinator } from '../../cluster/coordinator.js';
import { byServer } from '../../observability/by-server.js';
import { askNode, reachableNodes } from './requests.js';

/** A scraper waits for it, ten seconds by default. */
const ASK_MS = 2000;

/** By `cluster.address`. `own`: that of a process that is a node itself. Never rejects. */
export async function metricsOfNodes(
  coordinator: Coordinator,
  own?: { readonly address: string; readonly text: string },
): Promise<string> {
  const request = { type: 'metrics', callId: null, ask: {} } as const;
  const asked = reachableNodes(coordinator).map(async ({ nodeId, address }) => ({
    address,
    text: await askNode(coordinator, nodeId, { request, timeoutMs: ASK_MS }).then(
      ({ text }) => text,
      () => undefined,
    ),
  }));
  // One that has just died is there for a moment, beside the one that came after it at its address.
  const texts = new Map<string, string | undefined>();
  for (const { address, text } of [...(own === undefined ? [] : [own]), ...(await Promise.all(asked))])
    texts.set(address, texts.get(address) ?? text);
  return byServer(
    [...texts]
      .map(([server, text]) => ({ server, text }))
      .toSorted((a, b) => a.server.localeCompare(b.server)),
  );
}
