// What the emulated Live API can be told beside the script, and what it shows of its connections.
import type { EmulatedItem, EmulateRealtimeOptions } from './realtime-script.js';

export interface EmulateGeminiLiveOptions extends EmulateRealtimeOptions {
  /** How long after the caller's turn the words of it come; null: never. @default 0 */
  readonly transcriptAfterMs?: number | null;
  /** Says of the caller's words that they are complete. @default false, as the vendor mostly does */
  readonly marksFinished?: boolean;
  /** A turn is complete when it would have been heard; false: as soon as it is sent. @default true */
  readonly waitsForPlayback?: boolean;
  /** Sessions can be resumed. @default true */
  readonly resumable?: boolean;
}

/** What one connection was sent, and made of it. */
export interface GeminiLiveConnection {
  readonly url: URL;
  /** What it was set up with. */
  readonly setup: Readonly<Record<string, unknown>>;
  /** Messages without those of caller audio. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** The conversation, that of the resumed session included. */
  readonly items: readonly EmulatedItem[];
  /** Audio of the caller, in milliseconds. */
  readonly audioMs: number;
  /** Codes that the service has closed it with. */
  readonly closes: readonly number[];
}
