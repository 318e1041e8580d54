// Recordings of a cluster: each stays with the server that made it, and any other one gives it out, piece by piece as its reader takes them.
import { ClusterError, RecordingError } from '../../base/errors.js';
import { describeError, type Logger } from '../../base/log.js';
import type { CallDirectory } from '../../calls/call-directory.js';
import type { Coordinator } from '../../cluster/coordinator.js';
import type { CallRecord, LocalRecording } from '../../contract/call-record.js';
import type { PlayableRecording, RecordingSource } from '../../dashboard/call-audio.js';
import type { CallStore } from '../../stores/call-store.js';
import type { LocalRecordings } from '../local-recordings.js';
import { askNode, isUnreached, type NodeRequests, type RequestHandlers } from './requests.js';

/** In one message, in bytes. */
const PART_BYTES = 256 * 1024;
/** For one message: a disk may have to wake. */
const ASK_MS = 5000;

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

type Part = NodeRequests['recording-part'];

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
    const { size } = await this.#ask(callId, server, { file, start: 0, end: 0 });
    return {
      size,
      read: (start, end) => this.#readThere(callId, server, { file, start, end }),
      close: async () => {},
    };
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

  async *#readThere(
    callId: string,
    server: string,
    { file, start, end }: Part['ask'],
  ): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const { bytes } = await this.#ask(callId, server, { file, start: at, end });
      const part = Buffer.from(bytes, 'base64');
      if (part.length === 0)
        throw new ClusterError('Another node has sent less of a recording than there is.');
      at += part.length;
      yield part;
    }
  }

  async #ask(callId: string, server: string, ask: Part['ask']): Promise<Part['answer']> {
    let cause: unknown;
    // One that has just died counts as there for a moment, beside the one that came after it.
    for (const { nodeId, address } of this.#nodes) {
      if (address !== server) continue;
      try {
        const request = { type: 'recording-part', callId, ask } as const;
        return await askNode(this.#coordinator, nodeId, { request, timeoutMs: ASK_MS });
      } catch (error) {
        if (!(error instanceof ClusterError)) throw error;
        cause = error;
      }
    }
    const message = `The recording is on the server ${server}, which is not reached: try again once it is back.`;
    throw new ClusterError(message, { cause });
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
