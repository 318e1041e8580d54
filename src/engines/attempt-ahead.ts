// Work for a call that has not begun. What fails in it is done again when the call needs it, and only then is it a trouble worth telling.
import { describeError } from '../base/log.js';
import type { PreparationContext } from './engine.js';

/** What `task` gives. Undefined when it throws, and when it gives a promise: nothing that is prepared is waited for. */
export function attemptAhead<T>(
  { callId, logger }: Pick<PreparationContext, 'callId' | 'logger'>,
  task: () => T,
): T | undefined {
  const note = (error: unknown) =>
    logger.debug({ callId, ...describeError(error) }, 'a part of a call could not be prepared');
  try {
    const result = task();
    if (!(result instanceof Promise)) return result;
    result.catch(note);
  } catch (error) {
    note(error);
  }
  return undefined;
}
