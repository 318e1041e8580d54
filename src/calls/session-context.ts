// What the parts of a session know of the call they belong to, and what they may ask of it.
import type { CallIdentity } from '../contract/call-event.js';
import type { CallFailure } from '../contract/call-record.js';
import { CarrierError, ConfigError, OffhookError, RequestError } from '../base/errors.js';
import type { EngineRecipe } from '../engines/engine.js';
import type { CallEnding } from './ending/call-ending.js';
import type { CallEnvironment } from './call-environment.js';
import type { CallLedger } from './facts/call-ledger.js';
import type { CallTimers } from './call-timers.js';

/**
 * `answer`: the carrier's word that an inbound call was answered. `ring`: that it was answered
 * or not. `stream`: a stream that is expected. `retry`: before it is asked for again. `report`: what may still come after the
 * report of the end. `transfer`, `machine`, `announcement`, `max`: the longest time of each. `look`: before the carrier is asked whether the announcement is over. `budget`: an end that is due at once.
 * `keys`: before a recording goes on behind keys. `resumption`: before the carrier is asked again whether it still has the call.
 */
export type TimerName =
  | 'answer'
  | 'ring'
  | 'stream'
  | 'retry'
  | 'report'
  | 'transfer'
  | 'machine'
  | 'announcement'
  | 'look'
  | 'max'
  | 'budget'
  | 'keys'
  | 'resumption';

export interface SessionContext {
  readonly callId: string;
  readonly environment: CallEnvironment;
  /** Of the agent that the caller talks to. */
  readonly recipe: EngineRecipe;
  readonly ledger: CallLedger;
  readonly timers: CallTimers<TimerName>;
  readonly identity: CallIdentity;
  readonly isOver: boolean;
  /** Public host of this server. @throws ConfigError when nothing has told it. */
  host(): string;
  /** Public host for the first stream alone; undefined where that is `host`. */
  readonly firstStreamHost: string | undefined;
  /** Resolves when the call is kept as it stands, for another process; undefined where nothing is kept. */
  kept(): Promise<void> | undefined;
  /** The one way out. */
  end(ending: CallEnding): void;
}

/** Does something outside once the call is kept as it stands; in this tick where nothing is kept. */
export async function onceKept<T>(context: SessionContext, act: () => Promise<T>): Promise<T> {
  const kept = context.kept();
  if (kept !== undefined) await kept;
  // Meanwhile another process may have it, or nobody.
  if (context.isOver) throw new RequestError('REQUEST_CONFLICT', 'The call is not here any more.');
  return act();
}

/** `https://<public host>/webhooks/<carrier>`. @throws ConfigError when no host is known. */
export function webhookBaseUrl(context: SessionContext): string {
  return `https://${context.host()}/webhooks/${context.environment.carrier.id}`;
}

/** An error as a record may show it. Foreign errors carry content, so their sentence is ours. */
export function toFailure(error: unknown, otherwise: CallFailure): CallFailure {
  return OffhookError.isInstance(error) ? { code: error.code, message: error.message } : otherwise;
}

/** True for an error after which the carrier may have done all the same what it was asked for. */
export function leavesOpen(error: unknown): boolean {
  if (error instanceof CarrierError) return error.status === null && !error.retryable;
  return !(error instanceof ConfigError);
}
