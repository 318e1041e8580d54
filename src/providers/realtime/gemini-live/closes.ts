// Why the service has closed a connection. Its sentence is the only diagnosis, and may quote what was sent: it becomes words of ours.
import type { FailureKind, WireFailure } from '../../wire/failure.js';
import type { SocketClose } from '../../wire/vendor-socket.js';

const REASONS: readonly (readonly [RegExp, FailureKind, string, { isAboutKey: true }?])[] = [
  [/api.?key|unauthenticated|credential/i, 'fatal', 'refused the key', { isAboutKey: true }],
  [/quota|billing|prepay|spend/i, 'fatal', 'has no quota left for the key'],
  [/resource.?exhausted|rate.?limit|too many/i, 'throttled', 'is asked for too much at a time'],
  [/model.*not (found|supported)|not found for api version/i, 'fatal', 'knows no such model'],
  [/location/i, 'fatal', 'does not serve this place'],
  [/permission|denied|not allowed/i, 'fatal', 'does not allow this with the key', { isAboutKey: true }],
  [/deadline|abort|cancell?ed|unavailable|go.?away/i, 'transient', 'ended the connection'],
];

const INVALID_ARGUMENT = 1007;
const POLICY = 1008;

/** What a close means; undefined where its code alone says it. */
export function readClose({ code, reason }: SocketClose): WireFailure | undefined {
  const known = REASONS.find(([words]) => words.test(reason));
  const fail = (kind: FailureKind, sentence: string): WireFailure => ({
    kind,
    status: null,
    retryAfterMs: null,
    reason: `${sentence} (${code})`,
  });
  if (known !== undefined) return { ...fail(known[1], known[2]), ...known[3] };
  if (code === INVALID_ARGUMENT) return fail('fatal', 'does not take these settings or this message');
  return code === POLICY ? fail('fatal', 'does not allow this') : undefined;
}
