// Options of emulators by their names: one that is misspelt would be passed over, and the test would be of something else.
import { ConfigError } from '../../base/errors.js';
import { checkOptions } from '../../base/option-checks.js';
import type { ReplyPace } from './reply-stream.js';
import type { EmulatorOptions } from './vendor-server.js';

const COMMON: Readonly<Record<keyof EmulatorOptions, true>> = {
  apiKey: true,
  clock: true,
  port: true,
  timeline: true,
  tls: true,
};

/** `own`: names that only this emulator has. `where`: its call. @throws ConfigError */
export function checkEmulatorOptions<T extends EmulatorOptions>(
  options: T,
  own: Readonly<Record<Exclude<keyof T, keyof EmulatorOptions>, true>>,
  where: string,
): void {
  const known = [...Object.keys(own), ...Object.keys(COMMON)];
  checkOptions(options, { known }, where);
}

/** Names of what every streamed reply may say of its pace. */
export const REPLY_PACE: Readonly<Record<keyof ReplyPace, true>> = {
  firstTokenMs: true,
  tokenMs: true,
  pieceBytes: true,
  errorAfter: true,
  cutAfter: true,
  hangAfter: true,
};

/** The scripted replies as a queue; empty where a function gives them, or nobody does. `names`: of one reply. @throws ConfigError */
export function queueReplies<T extends object>(
  replies: readonly T[] | ((...ask: never) => T) | undefined,
  names: Readonly<Record<keyof T, true>>,
): T[] {
  if (replies === undefined || typeof replies === 'function') return [];
  if (!Array.isArray(replies))
    throw new ConfigError(
      'CONFIG_INVALID',
      "replies must be a function, or a list like [{ text: 'Hello.' }].",
    );
  for (const [index, reply] of replies.entries())
    checkOptions(reply, { known: Object.keys(names) }, `replies[${index}]`);
  return [...replies];
}
