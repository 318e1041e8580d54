// What the doors may ask of the live calls. The directory implements it; the server knows only this.
import type { CallAnswer, CallDetails, CarrierMessage, WebhookReply } from '../carriers/carrier.js';
import type { CallControls } from '../contract/call-command.js';
import type { CallDirection, CallRecord } from '../contract/call-record.js';
import type { EngineRecipe } from '../engines/engine.js';

/** The media socket of a call, as a session needs it. */
export interface StreamSocket {
  send(text: string): void;
  /** Starts the closing handshake. `reason` is shown to the other side. */
  close(code: number, reason: string): void;
  /** Bytes handed over and not yet taken by the network. */
  readonly bufferedBytes: number;
}

/** Where the server puts what arrives on a socket. No method throws. */
export interface StreamReceiver {
  receiveText(text: string): void;
  /** Something that is not a text message: binary, oversized, invalid. Counted. `reason` is a static sentence. */
  receiveUnexpected(reason: string): void;
  socketClosed(code: number): void;
}

/** What is known of a call when its stream is accepted. Null where only the start message can tell. */
export interface StreamAdmission {
  callId: string;
  carrierCallId: string | null;
  caller: string | null;
  callee: string | null;
  direction: CallDirection | null;
  /** Of the stream within its call; undefined without a token. */
  number?: number | undefined;
  /** Name of the agent that it was invited for, where it has one. */
  agent?: string | undefined;
}

/** An inbound call that rings, or an outbound one that was answered. */
export interface WaitingCall {
  callId: string;
  carrierCallId: string;
  caller: string;
  callee: string;
  direction: CallDirection;
  /** Public host that the carrier used for the webhook. */
  host: string;
  /** Public host of another process, which has room for its first stream. @default the carrier's stream comes where webhooks do */
  streamHost?: string | undefined;
  /** What the carrier tells beside. */
  details?: CallDetails | undefined;
}

/** An outbound call as the application asks for it. */
export interface OutboundRequest {
  /** E.164. */
  to: string;
  from: string;
  /** Makes the engine of this call; the desk's own when undefined. */
  recipe: EngineRecipe | undefined;
  /** What another process makes `recipe` of, beside the name of the agent. */
  texts?:
    | {
        readonly variables?: Readonly<Record<string, string | number>>;
        readonly firstMessage?: string | undefined;
      }
    | undefined;
  machineDetection: boolean;
  /** Left on an answering machine; undefined hangs up on one. */
  voicemailMessage: string | undefined;
  ringTimeoutSeconds: number;
}

/** An outbound call that the carrier has taken. */
export interface PlacedCall {
  callId: string;
  /** Resolves with the record when the call is over and stored. Never rejects. */
  ended: Promise<CallRecord>;
}

/** A carrier's report on a call: every message that is no `incoming-call`. */
export type CallReport = Exclude<CarrierMessage, { type: 'incoming-call' | 'acknowledged' }>;

/** How a delivery about a call was answered. */
export interface KeptReply {
  readonly reply: WebhookReply;
  /** What the carrier was told to do with the call; undefined for an acknowledgment. */
  readonly answer: CallAnswer['type'] | undefined;
  /** `Clock.now()`. */
  readonly at: number;
}

/** What the doors and the application may ask. Calls are found by our id or the carrier's. */
export interface CallDesk extends CallControls {
  /** Calls with a session: ringing, dialing, and with a stream. */
  readonly liveCount: number;
  /** Calls that the application decides on, or that were told to open a stream; they hold a place for that (see `holdsPlace`), and have no session yet. */
  readonly expectedCount: number;
  /** Calls that count toward `maxCalls`. */
  readonly takenPlaces: number;
  /** True while new calls get the busy answer because the process does not keep up with those that are up. */
  readonly isOverloaded: boolean;
  /** True once new calls are refused because the server is about to stop. */
  readonly isDraining: boolean;
  /** True while new calls get the busy answer because the money for an hour or a day is used up. */
  readonly isOverBudget: boolean;
  /** True for a call with a session. */
  isLive(callId: string): boolean;
  /** True for a call that rings while the application decides what becomes of it. */
  isChoosing(callId: string): boolean;
  /** True for a call that was told to open a stream, which has not come here. */
  isInvited(callId: string): boolean;
  /**
   * True for a call that counts toward `maxCalls`: with a session, or told within the last ten seconds to open a stream. A webhook that
   * anybody may have sent takes no place until its stream is there.
   */
  holdsPlace(callId: string): boolean;
  /** True for a call that ended lately (at least the last hour). */
  hasEnded(callId: string): boolean;
  /** True also for one that has ended at another process, as far as that was heard. */
  isOver(callId: string): boolean;
  /**
   * True when a stream for the call would be taken: it is not over, has none or is about to lose the one it has, and no stream of that number has
   * come before. `number` as in `StreamAdmission`.
   */
  expectsStream(callId: string, number?: number): boolean;
  /**
   * Takes a call in and says what its carrier shall do with it. A carrier that is steered by commands is steered from here; the
   * answer then only tells the door what happened. Where the application decides, the answer comes with its decision, and nothing is told
   * to a carrier that is steered by commands. The same call again gets an answer that does no harm. A promise never rejects.
   */
  ring(call: WaitingCall): CallAnswer | Promise<CallAnswer> | undefined;
  /** Answers that were given to deliveries about a call, by delivery: whoever asks keeps them few. They are forgotten with the call. */
  repliesTo(carrierCallId: string): Map<string, KeptReply>;
  /** Takes a stream. @throws RequestError REQUEST_CONFLICT when none is expected. */
  admit(admission: StreamAdmission, socket: StreamSocket): StreamReceiver;
  /** Turns a call away for want of room, money or time: a record, and a command where the carrier needs one. */
  refuse(call: WaitingCall): void;
  /**
   * A carrier's report on a call. Unknown calls, reports out of order and reports of a foreign call under our id change nothing.
   * Returns what the carrier shall do where the report asks for it. `host` as in `WaitingCall`. Never throws.
   */
  report(report: CallReport, host: string): CallAnswer | undefined;
  /** Places a call. @throws RequestError while shutting down, ConfigError, LimitError without room (`maxCalls`) or money, under overload, or while draining, CarrierError: a record tells of the attempt. */
  dial(request: OutboundRequest): Promise<PlacedCall>;
  /** Takes no new call from now on; those that are up, or were told to open a stream, go on. */
  drain(): void;
  /** Ends every call and hangs up through the carrier. Resolves when the carrier has answered for each, or after `timeoutMs`. */
  shutDown(timeoutMs: number): Promise<void>;
}
