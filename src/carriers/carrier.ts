// Contract of a telephony carrier: its webhooks, its media stream and its REST API, each in our words.
import type { AudioFormat } from '../audio/format.js';
import type { LooseEnds } from '../base/loose-ends.js';
import type {
  CallDirection,
  CallOutcome,
  CallStatus,
  CarrierId,
  Recording,
} from '../contract/call-record.js';
import type { CallPrices, StatedCallPrices } from '../contract/price.js';
import type { CarrierSetting } from './setting.js';

/** A webhook as it arrived. */
export interface WebhookRequest {
  readonly method: string;
  /** Path and query, character for character as received. */
  readonly target: string;
  /** Names in lower case; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Uint8Array;
}

/**
 * Route of a webhook: the last segment of `/webhooks/<carrier>/<route>`. `resume` goes on with the call and a number, see
 * `StreamInvitation`.
 */
export type WebhookRoute = 'voice' | 'status' | 'recording' | 'amd' | 'resume';

/** Names the call that a webhook is about. */
export interface CallReference {
  readonly carrierCallId: string;
  /** Ours, where the carrier gives back what it was told (a callback URL, a client state); null otherwise. */
  readonly callId: string | null;
  /** The carrier's name of this delivery, the same when it repeats one; absent when it gives none. */
  readonly deliveryId?: string;
}

/**
 * Who answered an outbound call. `machine`: its greeting may still be running. `machine-ready`: the greeting is over, a
 * message can be spoken now.
 */
export type MachineVerdict = 'human' | 'machine' | 'machine-ready' | 'fax' | 'unknown';

/** What became of a transfer. `connected` may come as late as the end of the connected call. */
export type TransferResult = 'connected' | 'busy' | 'no-answer' | 'failed';

/** What a carrier tells of an inbound call beside its parties. Each is a claim of the network, and null where nothing is told. */
export interface CallDetails {
  readonly callerName: string | null;
  /** Who was dialed first, where another line has forwarded the call. */
  readonly forwardedFrom: string | null;
  /** By name in lower case. */
  readonly sipHeaders: Readonly<Record<string, string>>;
  /** Of the caller, by their number. */
  readonly location: CallerLocation | null;
}

/** Where a caller's number is registered. What is not known is null. */
export interface CallerLocation {
  readonly city: string | null;
  /** State or province. */
  readonly region: string | null;
  readonly postalCode: string | null;
  /** As ISO 3166-1 alpha-2 where the carrier keeps to it. */
  readonly country: string | null;
}

/** What a verified webhook says. */
export type CarrierMessage =
  /** A call waits for instructions: an inbound one rings, an outbound one was answered. Wants a `CallAnswer`. */
  | ({
      type: 'incoming-call';
      direction: CallDirection;
      caller: string;
      callee: string;
      /** Absent where the carrier tells nothing else. */
      details?: CallDetails;
    } & CallReference)
  /** Progress of a call. `sequence` orders the reports of one call; null when the carrier numbers none. */
  | ({
      type: 'status';
      status: CallStatus;
      /** Set with `completed`. */
      outcome: CallOutcome | null;
      sequence: number | null;
      /** With `completed`: who has left, where the carrier tells. */
      endedBy?: 'caller' | 'callee';
      /** With `completed`: time from the answer on, where the carrier counts it. */
      durationMs?: number;
      /** When it happened, epoch milliseconds on the carrier's clock, where it tells. */
      occurredAt?: number;
    } & CallReference)
  | ({ type: 'machine-detection'; verdict: MachineVerdict } & CallReference)
  | ({ type: 'recording'; recording: Recording } & CallReference)
  /** A key; the same one may also come on the stream. */
  | ({ type: 'dtmf'; digit: string } & CallReference)
  /** Wants a `CallAnswer` where instructions travel in the reply: with a failed transfer the caller is still there. */
  | ({ type: 'transfer'; result: TransferResult } & CallReference)
  /** A stream is over and the call is not: the carrier has come to the `resume` URL of an invitation. Wants a `CallAnswer`. */
  | ({
      type: 'resume';
      /** Of the URL. */
      number: number;
    } & CallReference)
  /** The carrier could not open the stream, or lost it; `streamId` is null where it does not say which. */
  | ({ type: 'stream-failed'; streamId: string | null } & CallReference)
  /** The other side has put the call on hold, or taken it back: a line on hold may carry no audio at all. */
  | ({ type: 'hold'; isHeld: boolean } & CallReference)
  /** What `speak` was asked to say has been said. */
  | ({ type: 'speech-ended' } & CallReference)
  /** Something else that happened on the leg: the carrier has it, or had it lately. */
  | ({ type: 'leg-event' } & CallReference)
  /** What the carrier charges for the call, in US dollars. */
  | ({ type: 'cost'; costUsd: number } & CallReference)
  /** Understood, and nothing to do. */
  | { type: 'acknowledged' };

/** Where a carrier that takes instructions in replies goes when a stream is over and the call is not. */
export interface StreamResume {
  /** `https://<public host>/webhooks/<carrier>/resume/<callId>/<number>`: each number is asked for once, its repetitions get the same answer. */
  readonly url: string;
  /** How long it waits before. */
  readonly holdSeconds: number;
}

/** Where the carrier shall open the media stream of a call. */
export interface StreamInvitation {
  /** A `wss` URL; caller and callee are in its query. */
  readonly url: string;
  /** The same facts once more, for carriers that drop a query. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Undefined for a carrier without a `resume` route. */
  readonly resume?: StreamResume | undefined;
}

/** What the carrier shall do with a call that waits for an answer. */
export type CallAnswer =
  | ({ type: 'stream' } & StreamInvitation)
  /** Keep the caller, and ask again. Only where there is a `resume` route. */
  | { type: 'hold'; resume: StreamResume }
  /** Answer, speak the text with the carrier's own voice, and hang up. Only where instructions travel in the reply. */
  | { type: 'say'; text: string; language: string | undefined }
  /** Answer and connect to another number; the result comes as a `transfer` message. Only where instructions travel in the reply. */
  | ({ type: 'transfer' } & TransferRequest)
  | { type: 'busy' }
  | { type: 'reject' }
  | { type: 'hang-up' };

/** An HTTP answer in the carrier's own words. */
export interface WebhookReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** HTTP words <-> our words. */
export interface WebhookDialect {
  readonly routes: readonly WebhookRoute[];
  /** @throws RequestError for a body that is verified but senseless. */
  parse(route: WebhookRoute, request: WebhookRequest): CarrierMessage;
  /** The answer to what waits for one. Without content where the carrier takes commands instead. */
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
      /** What the carrier sends; null for a codec that we do not speak (`codec` names it). */
      format: AudioFormat | null;
      /** What the carrier takes. */
      outboundFormat: AudioFormat;
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
  | { type: 'spoken-text'; id: string; text: string; final: boolean; language?: string }
  /** Known, and of no use to us. */
  | { type: 'ignored' }
  /** Malformed, unknown or out of place. `reason` is a static sentence without content of the message. */
  | { type: 'unexpected'; reason: string };

/** Wire words <-> our words for one stream. Holds the stream's id and state; never throws. */
export interface MediaDialect {
  /** Reads one text message. */
  decode(text: string): MediaMessage;
  /** Audio in the outbound format that `start` named. */
  encodeAudio(payload: Uint8Array): string;
  encodeMark(name: string): string;
  encodeClear(): string;
}

/** An outbound call to be placed. */
export interface DialRequest {
  /** Ours. Comes back in every webhook of the call, which may be there before the answer to the request is. */
  readonly callId: string;
  readonly from: string;
  readonly to: string;
  /** `https://<public host>/webhooks/<carrier>`, without a slash at the end. */
  readonly webhookBaseUrl: string;
  readonly ringTimeoutSeconds: number;
  /** The carrier ends the call after this time by itself, should we not. */
  readonly maxCallSeconds: number;
  readonly machineDetection: boolean;
  readonly recording: boolean;
}

/** Where a running call is handed over to. */
export interface TransferRequest {
  readonly callId: string;
  /** E.164. */
  readonly to: string;
  /** The own number that is shown; undefined leaves the choice to the carrier. */
  readonly callerId: string | undefined;
  readonly webhookBaseUrl: string;
  readonly ringTimeoutSeconds: number;
}

/** What the carrier says of a call when it is asked. */
export interface CallLookup {
  readonly isOver: boolean;
  /** Null while it is not over, and where the carrier does not tell. */
  readonly outcome: CallOutcome | null;
  /** What the carrier charges, in US dollars; null while it does not say. */
  readonly costUsd: number | null;
}

/** Where a number of the account leads. */
export interface NumberUrls {
  /** Null when none is set. */
  readonly voice: string | null;
  readonly status: string | null;
  /** Something else at the carrier outranks the voice URL. */
  readonly isOverridden: boolean;
}

/**
 * The carrier's REST API. Every method @throws CarrierError, and ConfigError when credentials are missing. A request is repeated
 * only where that is safe; `retryable` of the error says that nothing was done.
 */
export interface CarrierRest {
  /** True when credentials are there. */
  readonly configured: boolean;
  /** Places a call. A CarrierError with `status` null leaves open whether it was placed. */
  dial(request: DialRequest): Promise<{ carrierCallId: string }>;
  /** Ends a call, also one that still rings. One that is over already is a success. */
  hangUp(carrierCallId: string): Promise<void>;
  /** Has the carrier end a running call by itself so many seconds after its beginning. Absent where it cannot. */
  limit?(carrierCallId: string, maxCallSeconds: number): Promise<void>;
  /** Connects the caller to another number. Resolves when the carrier has taken the order; the result comes as a `transfer` message. */
  transfer(carrierCallId: string, request: TransferRequest): Promise<void>;
  /** Gives a running call to a stream; one that is open ends. Absent where `commands` do it. */
  openStream?(carrierCallId: string, stream: StreamInvitation): Promise<void>;
  /** Plays keys (`0-9 A-D # * w W`) to the other side. Where that replaces the stream, the next one is opened by `stream`. */
  sendDigits(carrierCallId: string, digits: string, stream: StreamInvitation): Promise<void>;
  /**
   * Speaks a text with the carrier's own voice. The carrier hangs up afterwards, or sends `speech-ended`. `language` is a BCP 47 tag.
   */
  speak(carrierCallId: string, text: string, options: { language: string | undefined }): Promise<void>;
  /** Records a call that is in progress. Only where `supports.recording`. */
  startRecording(carrierCallId: string, request: { callId: string; webhookBaseUrl: string }): Promise<void>;
  /** Deletes what was recorded of a call; none is a success. Absent where the carrier records nothing for us. */
  deleteRecordings?(carrierCallId: string): Promise<void>;
  lookUp(carrierCallId: string): Promise<CallLookup>;
  /** Points a number at our webhooks. Does nothing when it points there already. Only where `supports.voiceUrl`. */
  setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void>;
  /** Reads what `setVoiceUrl` sets; undefined when the account does not own the number. Absent where the carrier cannot tell. */
  voiceUrls?(phoneNumber: string): Promise<NumberUrls | undefined>;
}

/** Codec of a stream that is asked for: the carrier's best, or the one that every carrier and phone speaks. */
export type StreamCodec = 'preferred' | 'fallback';

/** Commands of a carrier that takes no instructions in the reply to a webhook. Each @throws like CarrierRest. */
export interface CarrierCommands {
  /** Answers an inbound call that rings. `status` with `active` follows. */
  answer(carrierCallId: string, request: { callId: string }): Promise<void>;
  /** Turns an inbound call away. */
  reject(carrierCallId: string, reason: 'busy' | 'rejected'): Promise<void>;
  /** Opens the media stream of an answered call; replaces one that is open. */
  startStream(
    carrierCallId: string,
    request: StreamInvitation & { callId: string; codec: StreamCodec },
  ): Promise<void>;
  /** Ends the media stream; the call goes on. No stream is a success. */
  stopStream(carrierCallId: string): Promise<void>;
}

/** What a carrier's webhook routes need. They exist for every carrier, configured or not. */
export interface WebhookDoor {
  /** Also the path segment under `/webhooks`, and the name in records, prices and metrics. Kebab-case, at most 40 characters. */
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
  readonly supports: {
    readonly recording: boolean;
    /** The voice URL of a number can be set. */
    readonly voiceUrl: boolean;
    /** Sending keys ends the stream and opens another one. */
    readonly digitsReplaceStream: boolean;
    /** `lookUp` tells what a call costs, some time after its end. */
    readonly callCost: boolean;
    /** What it tells of the cost of a call is for the media stream, too. Else the stream is billed apart, and stays an estimate. */
    readonly callCostCoversStream: boolean;
  };
  /** What its streams usually carry, for who has to know before `start` says so; undefined where there is no usual format. */
  readonly usualLine?: { readonly inbound: AudioFormat; readonly outbound: AudioFormat } | undefined;
  /** What it charges for calls. Without it that is not known, unless `pricing` says so. */
  readonly prices?: StatedCallPrices | undefined;
  /** There for a carrier that is steered by commands; undefined where instructions travel in the reply to a webhook. */
  readonly commands?: CarrierCommands | undefined;
  /**
   * Key material for stream tokens, derived from the webhook secret; undefined without one. The same on every process that
   * has the secret.
   */
  readonly streamTokenKey: Uint8Array | undefined;
  /** What messages and checks say of its settings. Without it a missing credential is not named. */
  readonly settings?: readonly CarrierSetting[] | undefined;
  /** The same carrier for one server: what is asked of it ends, and fails, with the server's loose ends. Without it a request may outlive the server by the time that it takes. */
  during?(looseEnds: LooseEnds): Carrier;
  /** Checks the signature of a stream's upgrade where the carrier sends one. @throws SignatureError. */
  verifyUpgrade(request: WebhookRequest, host: string): void;
  readonly webhooks: WebhookDialect;
  /** A dialect for one stream. `codec` is what was asked for with `startStream`. */
  openMedia(codec?: StreamCodec): MediaDialect;
  readonly rest: CarrierRest;
}

/** A carrier that comes with the package. */
export interface ShippedCarrier {
  /** The firm, for people. */
  readonly vendor: string;
  /** The carrier as the environment configures it. @throws ConfigError */
  create(): Carrier;
  readonly settings: readonly CarrierSetting[];
  /** Origin of its REST API. */
  readonly api: string;
  readonly prices: CallPrices;
}
