// Messages that are not used: each kind is noted once per call.
import type { Logger } from '../../base/log.js';

/** A service that makes up names must not fill the memory. */
const MAX_NAMES = 50;

export function createUnknownLog(options: { callId: string; logger: Logger }): (name: string) => void {
  const { callId, logger } = options;
  const names = new Set<string>();
  return (name) => {
    if (names.has(name) || names.size >= MAX_NAMES) return;
    names.add(name);
    logger.debug({ callId, type: name }, 'a message of a provider is not used');
  };
}
