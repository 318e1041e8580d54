// Messages that are not used: each kind is noted once per call.
import type { Logger } from '../../base/log.js';

/** A service that makes up names must not fill the memory. */
const MAX_NAMES = 50;

export interface UnknownLogOptions {
  /** Of the call. */
  readonly logger: Logger;
  /** Kinds that nobody needs to know of. @default none */
  readonly known?: readonly string[];
}

export function createUnknownLog({ logger, known = [] }: UnknownLogOptions): (name: string) => void {
  const names = new Set<string>();
  return (name) => {
    if (known.includes(name) || names.has(name) || names.size >= MAX_NAMES) return;
    names.add(name);
    logger.debug({ type: name }, 'ignored a message of a provider');
  };
}
