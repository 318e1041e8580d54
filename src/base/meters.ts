// What is measured where no fact tells of it: in the path of the audio, and at the doors. Rooms take it like a clock or a logger.
import type { ProviderStage } from '../contract/call-record.js';

/** Where measurements of a cluster go. No method throws. */
export interface ClusterMeters {
  brokerAnswered(tookMs: number): void;
  /** A question was refused, or not answered in time. One that was not asked, since the broker is known to be away, is none. */
  askFailed(asked: 'broker' | 'node'): void;
}

/** Where measurements go. No method throws. A `code` is one of our errors'. What is called for every frame must not allocate. */
export interface Meters {
  /** A 20 ms frame of the agent left, `lateMs` after its time. Fifty times a second for each call. */
  frameSent(lateMs: number): void;
  /** What waits for its time in the outbound queues of all calls has grown, or shrunk, by so much audio. */
  queued(deltaMs: number): void;
  /** So much audio of a caller was dropped, because it came faster than anybody speaks. */
  audioDropped(audioMs: number): void;
  /** A provider has failed for good, or the engine itself. */
  providerFailed(stage: ProviderStage, code: string): void;
  /** A webhook was turned away because of its signature. `carrier` is the id of the door. */
  webhookRefused(carrier: string, code: string): void;
}

/** Meters that nobody reads. */
export const silentMeters: Meters = {
  frameSent() {},
  queued() {},
  audioDropped() {},
  providerFailed() {},
  webhookRefused() {},
};
