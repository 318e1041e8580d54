// What servers of OpenAI's dialects answer when they refuse a request.
import { MAX_ERROR_BYTES, readText } from '../answer-text.js';
import { refusalFailure, WireError } from '../failure.js';
import type { HttpAnswer } from '../http-channel.js';
import { parseObject, toObject, toText } from '../json.js';

/** Reads the body of an answer whose status is no success. A quota that is used up is answered with 429, but waiting does not help. */
export async function readRefusal(answer: HttpAnswer): Promise<WireError> {
  const error = toObject(parseObject(await readText(answer, MAX_ERROR_BYTES))?.error);
  const code = toText(error?.code) || toText(error?.type);
  const failure = refusalFailure({ status: answer.status, retryAfter: answer.header('retry-after'), code });
  return new WireError(/quota|billing/.test(code) ? { ...failure, kind: 'fatal' } : failure);
}
