// The path of a stream: /ws/stream/<callId>[/<token>]?caller=..&callee=..
import { isDecodable } from '../base/decodable.js';
import { NotFoundError, RequestError } from '../base/errors.js';

const PREFIX = '/ws/stream/';
const MAX_TARGET_LENGTH = 4096;
const MAX_PARTY_LENGTH = 128;
const CALL_ID = /^[\w.~-]{1,128}$/;

/** What a stream's URL says. The query is only a claim. */
export interface StreamTarget {
  readonly callId: string;
  readonly token: string | undefined;
  readonly caller: string | null;
  readonly callee: string | null;
}

/** @throws RequestError for what is no path of ours to begin with, NotFoundError for another path. */
export function parseStreamTarget(target: string): StreamTarget {
  const queryStart = target.includes('?') ? target.indexOf('?') : target.length;
  const path = target.slice(0, queryStart);
  if (
    target.length > MAX_TARGET_LENGTH ||
    !path.startsWith('/') ||
    path.includes('//') ||
    !isDecodable(path)
  ) {
    throw new RequestError('REQUEST_INVALID', 'The path is malformed.');
  }
  if (!path.startsWith(PREFIX)) throw new NotFoundError('No such path.');
  const [segment = '', ...rest] = path.slice(PREFIX.length).split('/');
  const callId = decodeURIComponent(segment);
  if (!CALL_ID.test(callId) || /^\.+$/.test(callId)) {
    throw new RequestError('REQUEST_INVALID', 'The path has no valid call ID.');
  }
  const query = new URLSearchParams(target.slice(queryStart + 1));
  const token = rest.join('/');
  return {
    callId,
    token: token === '' ? undefined : token,
    caller: party(query.get('caller')),
    callee: party(query.get('callee')),
  };
}

/** A number or another word for a party, without control characters. A plus that was not encoded arrives as a blank. */
function party(value: string | null): string | null {
  if (value === null || value === '') return null;
  return value
    .replace(/\p{Cc}/gu, '')
    .replace(/^ (?=\d)/, '+')
    .slice(0, MAX_PARTY_LENGTH);
}
