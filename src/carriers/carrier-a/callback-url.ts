// The callback URLs that the carrier is given: they carry our name of the call, and come back with every webhook.
import { RequestError } from '../../base/errors.js';
import type { WebhookRoute } from '../carrier.js';
import { decodeForm, queryOf } from './form.js';

const RESUME_PATH = /\/resume\/([\w-]{1,128})\/([1-9]\d{0,5})(?:\?|$)/;
const CALL_ID = /^[\w-]{1,128}$/;

/** What the target of a webhook says beside its route. */
export interface Callback {
  /** Ours; null when there is none, or one that we would not give. */
  readonly callId: string | null;
  /** The webhook tells how a transfer went. */
  readonly isTransfer: boolean;
}

/** A webhook URL for one call. `baseUrl` is `https://<host>/webhooks/<carrier>`. */
export function callbackUrl(
  baseUrl: string,
  route: WebhookRoute,
  callback: { readonly callId: string; readonly isTransfer?: boolean },
): string {
  const query = new URLSearchParams({ callId: callback.callId });
  if (callback.isTransfer === true) query.set('transfer', '1');
  return `${baseUrl}/${route}?${query}`;
}

/** What the `resume` URL of a stream names. @throws RequestError */
export function readResume(target: string): { callId: string; number: number } {
  const [, callId = '', number = ''] = RESUME_PATH.exec(target) ?? [];
  if (callId === '') throw new RequestError('REQUEST_INVALID', 'The path names no call and no number.');
  return { callId, number: Number(number) };
}

/** Reads back what `callbackUrl` wrote. `target` is path and query, as received. */
export function readCallback(target: string): Callback {
  const query = decodeForm(queryOf(target));
  const callId = query.get('callId') ?? '';
  return { callId: CALL_ID.test(callId) ? callId : null, isTransfer: query.get('transfer') === '1' };
}
