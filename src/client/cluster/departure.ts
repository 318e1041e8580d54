// Which server is gone, and why it counts as gone, as a log says it.
import type { Coordinator } from '../../cluster/coordinator.js';

/** Fields of a log line. */
export interface Departure {
  /** Its `cluster.address`; undefined where it was never known here. */
  readonly address: string | undefined;
  readonly because: string;
}

/** `otherwise`: why it counts as gone, unless it has said goodbye, or its process was started anew: that one has another ID. */
export function departureOf(coordinator: Coordinator, nodeId: string, otherwise: string): Departure {
  const { address, hasLeft = false } = coordinator.find(nodeId) ?? {};
  if (hasLeft) return { address, because: 'it has left in order' };
  const isReplaced = coordinator.nodes().some((node) => node.nodeId !== nodeId && node.address === address);
  return { address, because: isReplaced ? 'another process has its address now' : otherwise };
}
