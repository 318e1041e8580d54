// What the service's codes of errors mean for a session. Its sentences may quote what was sent: they go no further.
import { toShownCode } from '../../wire/failure.js';

/**
 * `benign`: two messages crossed on the way, nothing has changed. `busy`: an answer is under way that we did not know of. `renew`: the
 * session is over, another one may be had. `fatal`: the same again would fail again. `refused`: one message of ours changed nothing.
 */
export type ErrorKind = 'benign' | 'busy' | 'renew' | 'fatal' | 'refused';

const KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/insufficient_quota|invalid_api_key|billing|permission|model_not_found/, 'fatal'],
  [/^(session_expired|server_error)$/, 'renew'],
  [/^conversation_already_has_active_response$/, 'busy'],
  [
    /^(response_cancel_not_active|input_audio_buffer_commit_empty|item_(delete|truncate)_invalid_item_id)$/,
    'benign',
  ],
];

/** Cuts that come too late have no code of their own. */
const BENIGN_MESSAGE = /already shorter than|only model output audio/i;

export function kindOfError(code: string, message = ''): ErrorKind {
  const known = KINDS.find(([codes]) => codes.test(code))?.[1];
  return known ?? (BENIGN_MESSAGE.test(message) ? 'benign' : 'refused');
}

/** The code as it stands behind a sentence; nothing when it is no single word. */
export function shownCode(code: string): string {
  return toShownCode(code)
    .map((each) => ` (${each})`)
    .join('');
}
