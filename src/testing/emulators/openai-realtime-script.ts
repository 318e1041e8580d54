// What the emulated Realtime service can be told beside the script, and what it shows of its connections.
import type { EmulatedItem, EmulateRealtimeOptions, RealtimePart } from './realtime-script.js';

export interface EmulateOpenAIRealtimeOptions extends EmulateRealtimeOptions {
  /** Leaves out the padding of base64. @default false */
  readonly withoutPadding?: boolean;
  /** How long after the caller's turn the text of it comes; null: never. @default 0 */
  readonly transcriptAfterMs?: number | null;
  /** `full` is the vendor; `subset` leaves out whatever servers of this wire leave out. @default 'full' */
  readonly dialect?: 'full' | 'subset';
  /** Length of a session, in milliseconds: then it expires. @default an hour */
  readonly sessionMs?: number;
}

/** What one connection was sent, and made of it. */
export interface OpenAIRealtimeConnection {
  readonly url: URL;
  /** The session as it is now. */
  readonly session: Readonly<Record<string, unknown>>;
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly items: readonly EmulatedItem[];
  /** Audio of the caller, in milliseconds. */
  readonly audioMs: number;
  /** Codes of the errors that were told. */
  readonly errors: readonly string[];
}

/** The same for one connection. */
export interface RealtimeScript extends EmulateOpenAIRealtimeOptions, RealtimePart {}
