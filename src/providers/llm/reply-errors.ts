// Errors of language models: what their codes mean, in the answer to a request and inside a stream that had begun well.
import {
  codedFailure,
  type FailureKind,
  kindOfStatus,
  refusalFailure,
  toShownCode,
  transientFailure,
  type WireFailure,
} from '../wire/failure.js';
import type { HttpAnswer } from '../wire/http-channel.js';
import { parseObject, toNumber, toObject, toText } from '../wire/json.js';

/** Codes that say that the same again would fail again, or that it is too much. Everything else may pass. */
const FATAL_CODE = /invalid|auth|permission|quota|billing|not_found|unsupported|context_length/i;
const THROTTLED_CODE = /rate_limit|overloaded|too_many/i;

/** A refusal of the whole request. `text`: its body. */
export function toRefusal(answer: HttpAnswer, text: string): WireFailure {
  const code = errorCode(parseObject(text)?.error);
  const failure = refusalFailure({
    status: answer.status,
    retryAfter: answer.header('retry-after'),
    code,
  });
  return answer.status === 429 && kindOfCode(code) === 'fatal' ? { ...failure, kind: 'fatal' } : failure;
}

/** An error object inside a stream. */
export function toStreamFailure(error: unknown): WireFailure {
  const code = errorCode(error);
  const status = toNumber(toObject(error)?.code);
  const shown = toShownCode(status === undefined ? code : String(status)).map((each) => ` (${each})`);
  const reason = `broke off its answer${shown.join('')}`;
  const kind = kindOfCode(code) ?? (status === undefined ? 'transient' : kindOfStatus(status));
  if (kind === 'fatal') return codedFailure(reason, code);
  return { ...transientFailure(reason), kind };
}

/** Undefined when the code says nothing. A quota that is used up is answered with 429, but waiting does not help. */
function kindOfCode(code: string): FailureKind | undefined {
  if (FATAL_CODE.test(code)) return 'fatal';
  return THROTTLED_CODE.test(code) ? 'throttled' : undefined;
}

function errorCode(error: unknown): string {
  const object = toObject(error);
  return toText(object?.code) || toText(object?.type);
}
