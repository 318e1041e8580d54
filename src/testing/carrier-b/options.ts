// What carrier B's simulator can be told.
import type { Callee, Disturbances, SimulatorOptions } from '../simulator.js';

/** Codecs of a stream by their names on the wire. */
export const STREAM_CODECS = ['PCMU', 'PCMA', 'G722', 'OPUS', 'AMR-WB', 'L16'] as const;
export type StreamCodecName = (typeof STREAM_CODECS)[number];

export type ByteOrder = 'little' | 'big';

/** How keys that a person presses are told. Where both ways are used, the second follows 60 ms later. */
export type DigitsRoute = 'socket-first' | 'webhook-first' | 'socket-only' | 'webhook-only';

/**
 * What machine detection makes of the one who answers. `as-called`: the truth (a machine whose beep comes before the
 * verdict gets no verdict, as on the wire). `reversed`: the end of the greeting is told before the verdict.
 * `no-greeting`: the verdict alone.
 */
export type MachineDetection = 'as-called' | 'reversed' | 'no-greeting' | 'not-sure' | 'silence';

/** Who is called, with one more kind than all carriers have. */
export type CarrierBCallee = Callee | { type: 'rejects'; ringMs?: number };

/** What can go wrong here beside what can go wrong with every carrier. */
export interface CarrierBDisturbances extends Disturbances {
  /** Every webhook leaves this much later, in milliseconds. */
  webhookDelayMs?: number;
  /** After each event comes one of a type that nobody knows. */
  unknownEvents?: boolean;
  /** `call.recording.saved` comes with the end of each call, though nobody asked for a recording. */
  unaskedRecordings?: boolean;
  /** Fields that an event can do without are left out, or null. */
  optionalFields?: 'missing' | 'null';
  /** Before each event the same one comes in the flat envelope of the API's first version. */
  flatEnvelopes?: boolean;
  /** `streaming.*` events are named `call.streaming.*`, as some samples have it. */
  prefixedStreamEvents?: boolean;
  /** Media chunks swap places with their neighbors. */
  shuffledChunks?: boolean;
  /** Every fifth media chunk comes twice. */
  repeatedChunks?: boolean;
  /** Every tenth media chunk lacks its last byte. */
  oddPayloads?: boolean;
  /** An `error` frame that nobody provoked follows `start`. */
  errorFrames?: boolean;
  /** This many streams from now on are not opened: `streaming.failed`. */
  failedStreams?: number;
  /** This many streams from now on are closed after `connected`, before `start`. */
  closedBeforeStart?: number;
}

/** Settings of the Call Control Application, by their names on the wire. */
export interface ApplicationSettings {
  /** @default `https://<webhookHost>/webhooks/carrier-b/voice` */
  webhook_event_url?: string;
  /** With `1` every webhook has the flat envelope of the first version. @default '2' */
  webhook_api_version?: '1' | '2';
  /** `call.cost` follows the end of each call. @default false */
  call_cost_in_webhooks?: boolean;
  /** @default false */
  first_command_timeout?: boolean;
  /** @default 30 */
  first_command_timeout_secs?: number;
}

export interface CarrierBSimulatorOptions extends Omit<SimulatorOptions, 'callees' | 'disturbances'> {
  /** What the phone server has to send as Bearer token. */
  apiKey: string;
  /** The one Call Control Application of the account. */
  connectionId: string;
  /** 32 bytes that the key pair is made of. @default a random key pair */
  privateKeySeed?: Uint8Array;
  /** Numbers of the account, E.164. With them, outbound calls must come from one. */
  phoneNumbers?: readonly string[];
  application?: ApplicationSettings;
  callees?: Readonly<Record<string, CarrierBCallee>>;
  disturbances?: CarrierBDisturbances;
  /** Codec that the carrier sends, whatever was asked for; a list is for the streams of a call in turn, its last entry for all others. @default as asked for */
  grant?: StreamCodecName | readonly StreamCodecName[];
  /** Of L16 samples on the wire, both ways. @default 'little' */
  l16ByteOrder?: ByteOrder;
  /** Of L16 that the carrier sends. @default 16000 */
  l16SampleRateHz?: 8000 | 16000;
  /** @default 'socket-first' */
  digits?: DigitsRoute;
  /** @default 'as-called' */
  machineDetection?: MachineDetection;
  /** A dial that carries a stream URL opens the socket while it rings. @default true */
  earlySocket?: boolean;
  /** What becomes of a stream that is asked for while one is open: it takes its place, or is refused with 90045. @default 'replaces' */
  secondStream?: 'replaces' | 'refused';
  /** Legs whose id `call.bridged` carries. @default 'both' */
  bridgedLegs?: 'both' | 'caller' | 'target';
  /** How long the phone server may take for a webhook. @default 2000 */
  webhookTimeoutMs?: number;
  /** Pauses before the repetitions of a webhook; when they are used up it is lost. @default [200, 400, 800, 1600, 3200] */
  webhookRetryDelaysMs?: readonly number[];
}
