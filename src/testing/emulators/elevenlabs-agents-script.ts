// What the emulated agent is told to hear and to say, how it is configured, and what it shows of its conversations.
import type { EmulatedItem, EmulateRealtimeOptions, RealtimePart } from './realtime-script.js';

/** Settings of the agent that a client may replace. */
export type AgentOverride = 'prompt' | 'firstMessage' | 'language' | 'voice';

export interface EmulateElevenLabsAgentsOptions extends EmulateRealtimeOptions {
  /** The agent that there is. @default 'agent-1' */
  readonly agentId?: string;
  /** Refuses conversations without a signed address. @default false */
  readonly isPrivate?: boolean;
  /** How long a signed address can be used, in milliseconds. @default 15 minutes */
  readonly signedUrlMs?: number;
  /** Audio of the caller and of the agent, as the vendor names formats. @default 'ulaw_8000' */
  readonly inputFormat?: string;
  readonly outputFormat?: string;
  /** What the security settings allow. @default all */
  readonly allowedOverrides?: readonly AgentOverride[];
  /** What the agent greets with, where it is not told otherwise. @default it waits for the caller */
  readonly firstMessage?: string;
  /** Variables that the agent's texts need. @default none */
  readonly variables?: readonly string[];
  /** How the end of an answer is told: by an event, by a mark on its last audio, or not at all. @default 'event' */
  readonly end?: 'event' | 'mark' | 'none';
  /** Tells how likely it is that the caller speaks. @default false */
  readonly vadScores?: boolean;
  /** Tells the caller's words while they come. @default true */
  readonly tentative?: boolean;
  /** Waits for the results of its tools. @default true */
  readonly expectsResults?: boolean;
  /** Time between two pings, and the longest time to the pong, in milliseconds. @default 2000, 10000 */
  readonly pingEveryMs?: number;
  readonly pongWithinMs?: number;
}

/** What one conversation was sent, and made of it. */
export interface ElevenLabsAgentsConnection {
  readonly url: URL;
  /** What it was begun with; empty before. */
  readonly initiation: Readonly<Record<string, unknown>>;
  readonly formats: { readonly input: string; readonly output: string };
  /** Everything but audio, in order. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** The conversation as the agent has it. What was interrupted is there as the vendor corrected it. */
  readonly items: readonly EmulatedItem[];
  /** What the agent was told beside the conversation. */
  readonly context: readonly string[];
  /** Audio of the caller, in milliseconds. */
  readonly audioMs: number;
}

/** The same for one connection. */
export interface AgentsScript extends EmulateElevenLabsAgentsOptions, RealtimePart {
  /** Tells the connections of a server apart: ids are never given twice. */
  readonly number: number;
}
