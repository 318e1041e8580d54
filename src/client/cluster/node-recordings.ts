// Recordings of a cluster: each stays with the server that made it, and any other one gives it out, piece by piece as its reader takes them.
import { ClusterError, RecordingError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import type { CallRecord, LocalRecording } from '../../contract/call-record.js';
import type { PlayableRecording, RecordingSource } from '../../dashboard/call-audio.js';
import type { CallStore } from '../../stores/call-store.js';
import type { LocalRecordings } from '../local-recordings.js';
import { ASK_MS, readElsewhere } from './recordings-elsewhere.js';
import { askNode, isUnreached, type RequestHandlers } from './requests.js';

/** In one message, in bytes. */
const PART_BYTES = 256 * 1024;

export interface NodeRecordingsParts {
  /** `cluster.address` of this server. */
  readonly address: string;
  readonly nodeId: string;
  readonly logger: Logger;
  readonly desk: Pick<CallDirectory, 'recordedLocally'>;
  readonly own: Pick<LocalRecordings, 'files' | 'forget'>;
  readonly coordinator: () => Coordinator | undefined;
  store(): CallStore;
}

export class NodeRecordings implements RecordingSource {
  readonly #parts: NodeRecordingsParts;

  constructor(parts: NodeRecordingsParts) {
    this.#parts = parts;
  }

  readonly handlers: Pick<RequestHandlers, 'recording-part' | 'forget-recording' | 'recorded'> = {
    'recording-part': async ({ file, start, end }, { callId }) => {
      const recording = await this.#readOwn(callId, file);
      try {
        const parts: Uint8Array[] = [];
        const last = Math.min(end, start + PART_BYTES, recording.size);
        for await (const part of recording.read(start, last)) parts.push(part);
        return { size: recording.size, bytes: Buffer.concat(parts).toString('base64') };
      } finally {
        await recording.close();
      }
    },
    'forget-recording': async (_ask, { callId }) => ({ wasThere: await this.#parts.own.forget(callId) }),
    recorded: async (recording, { callId }) => {
      const record = await this.#parts.store().get(callId);
      if (record !== undefined) this.#parts.desk.recordedLocally(record, recording);
      return {};
    },
  };

  /** @throws RecordingError, and ClusterError where the server that has it is not reached */
  async read(
    callId: string,
    file: string | null,
    server: string = this.#parts.address,
  ): Promise<PlayableRecording> {
    if (server === this.#parts.address) return this.#readOwn(callId, file);
    return readElsewhere({ callId, file, server }, this.#coordinator);
  }

  /** Deletes it on all servers that are reached. The others do it once they hear that the call was deleted. Resolves to whether there was one. @throws StoreError */
  async forget(callId: string): Promise<boolean> {
    const asked = this.#nodes.map(async ({ nodeId }) => {
      const request = { type: 'forget-recording', callId, ask: {} } as const;
      try {
        return (await askNode(this.#coordinator, nodeId, { request, timeoutMs: ASK_MS })).wasThere;
      } catch (error) {
        if (error instanceof ClusterError) return false;
        throw error;
      }
    });
    return (await Promise.all([this.#parts.own.forget(callId), ...asked])).includes(true);
  }

  /** What became of a recording of a call that is over: stated by the node that has ended it, if that is there. */
  recordedLocally(record: CallRecord, recording: LocalRecording): void {
    const { desk, logger } = this.#parts;
    const { callId, nodeId } = record;
    if (!this.#nodes.some((node) => node.nodeId === nodeId)) {
      desk.recordedLocally(record, recording);
      return;
    }
    const request = { type: 'recorded', callId, ask: recording } as const;
    askNode(this.#coordinator, nodeId, { request, timeoutMs: ASK_MS }).catch((error: unknown) => {
      // One that has just died counts as there for a while.
      if (isUnreached(error)) desk.recordedLocally(record, recording);
      else
        logger.error(
          { callId, ...describeError(error) },
          'another node did not take what became of a recording',
        );
    });
  }

  async #readOwn(callId: string, file: string | null): Promise<PlayableRecording> {
    const { files } = this.#parts.own;
    if (files !== undefined) return files.read(callId, file);
    throw new RecordingError(
      'RECORDING_ABSENT',
      'The server that has the recording keeps none now: set localRecording.',
    );
  }

  get #nodes() {
    const { coordinator, nodeId } = this.#parts;
    return (coordinator()?.nodes() ?? []).filter((node) => node.nodeId !== nodeId);
  }

  /** @throws ClusterError before it has joined */
  get #coordinator(): Coordinator {
    const coordinator = this.#parts.coordinator();
    if (coordinator === undefined) throw new ClusterError('This node has not joined.');
    return coordinator;
  }
}
