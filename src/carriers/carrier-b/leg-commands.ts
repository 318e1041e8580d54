// Commands to one call leg: the path, the idempotency key, and what it means that the leg is over.
import { randomUUID } from 'node:crypto';
import { CarrierError } from '../../base/errors.js';
import { toCallControlId } from './call-control-id.js';
import type { Fields } from './fields.js';
import type { Refusal, RestClient } from './rest-client.js';

const STATUS_NOT_FOUND = 404;
const CODE_CALL_OVER = '90018';

export interface LegCommand {
  /** Completes the sentence "The carrier …". */
  readonly purpose: string;
  readonly fields?: Fields;
  /** True where doing it once more does no harm. */
  readonly isHarmless: boolean;
  /** True for a refusal after which nothing is left to be done. */
  readonly isFine?: (refusal: Refusal) => boolean;
}

/** Sends a command under an id of its own, which stays the same when it is repeated. @throws like RestClient.request. */
export async function command(
  client: RestClient,
  target: { carrierCallId: string; action: string },
  { fields, ...rest }: LegCommand,
): Promise<void> {
  await client.request({
    ...rest,
    path: `${legPath(target.carrierCallId)}/actions/${target.action}`,
    body: { ...fields, command_id: randomUUID() },
  });
}

/** The path of a leg. @throws CarrierError for an id that cannot be one, whose path would lead elsewhere. */
export function legPath(carrierCallId: string): string {
  const id = toCallControlId(carrierCallId);
  if (id !== undefined) return `/calls/${encodeURIComponent(id)}`;
  throw new CarrierError('Not a call ID of this carrier.', { status: null, retryable: false });
}

/** True when the leg is over. A 404 without an error of the API comes from elsewhere, and says nothing about it. */
export function isLegOver({ status, code }: Refusal): boolean {
  return code === CODE_CALL_OVER || (status === STATUS_NOT_FOUND && code !== undefined);
}
