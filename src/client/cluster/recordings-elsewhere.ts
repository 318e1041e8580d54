// A recording as another node has it, fetched piece by piece as its reader takes them.
import { ClusterError } from '../../base/errors.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import type { PlayableRecording } from '../../dashboard/call-audio.js';
import { askNode, type NodeRequests, reachableNodes } from './requests.js';

/** For one message: a disk may have to wake. */
export const ASK_MS = 5000;

type Part = NodeRequests['recording-part'];

/** What is read, and the `cluster.address` of who has it, as the record of the call has them. */
interface RecordingPlace {
  readonly callId: string;
  readonly file: string | null;
  readonly server: string;
}

/** @throws ClusterError where no node with that address is reached, and what that node throws */
export async function readElsewhere(
  place: RecordingPlace,
  coordinator: Coordinator,
): Promise<PlayableRecording> {
  const { file } = place;
  const { size } = await askFor({ file, start: 0, end: 0 }, place, coordinator);
  return {
    size,
    read: (start, end) => partsOf({ file, start, end }, place, coordinator),
    close: async () => {},
  };
}

async function* partsOf(
  { file, start, end }: Part['ask'],
  place: RecordingPlace,
  coordinator: Coordinator,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const { bytes } = await askFor({ file, start: at, end }, place, coordinator);
    const part = Buffer.from(bytes, 'base64');
    if (part.length === 0) throw new ClusterError('Another node has sent less of a recording than there is.');
    at += part.length;
    yield part;
  }
}

async function askFor(
  ask: Part['ask'],
  { callId, server }: RecordingPlace,
  coordinator: Coordinator,
): Promise<Part['answer']> {
  let cause: unknown;
  // One that has just died counts as there for a moment, beside the one that came after it.
  for (const { nodeId, address } of reachableNodes(coordinator)) {
    if (address !== server) continue;
    try {
      const request = { type: 'recording-part', callId, ask } as const;
      return await askNode(coordinator, nodeId, { request, timeoutMs: ASK_MS });
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      cause = error;
    }
  }
  const message = `The recording is on the server ${server}, which is not reached: try again once it is back.`;
  throw new ClusterError(message, { cause });
}
