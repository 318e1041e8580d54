// Contract of a telephony carrier: its webhooks, its media stream and its REST API, each in the words of the house.
import type { AudioFormat } from '../audio/format.js';
import type { CallDirection, CallOutcome, CallStatus, CarrierId } from '../contract/call-record.js';

/** A webhook as it arrived. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query, character for character as received. */
  readonly target: string;
  /** Names in lower case; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Uint8Array;
}

/** Route of a webhook: the last segment of `/webhooks/<carrier>/<route>`. */
export type WebhookRoute = 'voice' | 'status' | 'recording' | 'amd';

/** What a verified webhook says. */
export type CarrierMessage =
  /** A call wants an answer (inbound), or an outbound call was answered and wants its stream. */
  | {
      type: 'incoming-call';
      carrierCallId: string;
      direction: CallDirection;
      caller: string;
      callee: string;
      /** The carrier's name of this delivery, the same when it repeats one; absent when it gives none. */
      deliveryId?: string;
    }
  | {
      type: 'status';
      carrierCallId: string;
      status: CallStatus;
      /** Set with `completed`. */
      outcome: CallOutcome | null;
      /** Order of the carrier's reports of one call; null when it gives none. */
      sequence: number | null;
    }
  /** Understood, and nothing to do. */
  | { type: 'acknowledged' };

/** What the carrier shall do with a call that waits for an answer. */
export type CallAnswer =
  | { type: 'stream'; url: string; parameters: Readonly<Record<string, string>> }
  | { type: 'busy' }
  | { type: 'reject' }
  | { type: 'hang-up' };

/** An HTTP answer in the carrier's own words. */
export interface WebhookReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** HTTP words <-> house words. */
export interface WebhookDialect {
  readonly routes: readonly WebhookRoute[];
  /** @throws RequestError for a body that is verified but senseless. */
  parse(route: WebhookRoute, request: WebhookRequest): CarrierMessage;
  /** The answer to an `incoming-call`. */
  answer(answer: CallAnswer): WebhookReply;
  /** The answer to everything else. On the voice route it makes no call. */
  acknowledge(route: WebhookRoute): WebhookReply;
}

/** A message of the media stream, from the carrier. */
export type MediaMessage =
  | { type: 'connected' }
  | {
      type: 'start';
      carrierCallId: string;
      streamId: string;
      /** What the carrier sends and takes; null for a codec that we do not speak (`codec` names it). */
      format: AudioFormat | null;
      codec: string;
      parameters: Readonly<Record<string, string>>;
    }
  /** Encoded audio of the caller, any length. */
  | { type: 'audio'; payload: Uint8Array }
  | { type: 'dtmf'; digit: string }
  /** A mark of ours was played, or was dropped by our clear. */
  | { type: 'mark'; name: string }
  | { type: 'stop' }
  /** Text of what a simulated caller says. No carrier sends it; the call simulator does. */
  | { type: 'spoken-text'; id: string; text: string; final: boolean }
  /** Known, and of no use to us. */
  | { type: 'ignored' }
  /** Malformed, unknown or out of place. `reason` is a static sentence without content of the message. */
  | { type: 'unexpected'; reason: string };

/** Wire words <-> house words for one stream. Holds the stream's id and state; never throws. */
export interface MediaDialect {
  /** Reads one text message. */
  decode(text: string): MediaMessage;
  /** Audio in the format that `start` named. */
  encodeAudio(payload: Uint8Array): string;
  encodeMark(name: string): string;
  encodeClear(): string;
}

/** The carrier's REST API. Every method @throws CarrierError, and ConfigError when credentials are missing. */
export interface CarrierRest {
  /** True when credentials are there. */
  readonly configured: boolean;
  /** Ends a call. One that is over already is a success. */
  hangUp(carrierCallId: string): Promise<void>;
  /** Connects the caller to another number; the stream ends. `callerId` is the own number that is shown. */
  transfer(carrierCallId: string, to: string, callerId: string | undefined): Promise<void>;
  /** True when the carrier says that the call is over. */
  isOver(carrierCallId: string): Promise<boolean>;
  /** Points a number at our webhooks. Does nothing when it points there already. */
  setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void>;
}

/** What a carrier's webhook routes need. They exist for every carrier, configured or not. */
export interface WebhookDoor {
  /** Also the path segment under `/webhooks`. */
  readonly id: CarrierId;
  /** True when a webhook secret or key is configured: then every webhook is verified. */
  readonly verifies: boolean;
  /** Name of the setting that is missing when `verifies` is false, for the warning. */
  readonly secretSetting: string;
  /** Readies what `verify` needs. Awaited before the server listens. @throws ConfigError for a key that cannot be one. */
  prepare(): Promise<void>;
  /** @throws SignatureError. Does nothing when no secret is configured. `host` is the public host, with a port if it has one. */
  verify(request: WebhookRequest, host: string): void;
  readonly webhooks: Pick<WebhookDialect, 'routes' | 'parse' | 'acknowledge'>;
}

/** A telephony carrier. An object is an immutable recipe: streams get a dialect of their own. */
export interface Carrier extends WebhookDoor {
  /** Abilities, asked instead of names. */
  readonly supports: { readonly recording: boolean; readonly voiceUrl: boolean };
  /**
   * Key material for stream tokens, derived from the webhook secret; undefined without one. The same on every process that
   * has the secret.
   */
  readonly streamTokenKey: Uint8Array | undefined;
  /** Checks the signature of a stream's upgrade where the carrier sends one. @throws SignatureError. */
  verifyUpgrade(request: WebhookRequest, host: string): void;
  readonly webhooks: WebhookDialect;
  openMedia(): MediaDialect;
  readonly rest: CarrierRest;
}
