// A failure as the owner of a call takes it from an engine.
import { silentMs } from '../../src/conversation/wait.js';
import type { EngineFailure } from '../../src/engines/engine.js';

export interface TakenFailure extends Omit<EngineFailure, 'wait'> {
  /** Set where the caller was told nothing of it: how long they had heard nothing then while they waited, in milliseconds. */
  readonly untold?: true;
  readonly waitedMs?: number;
}

/** `at`: when it is taken. Its wait has to be the same when it was stored and read again. */
export function takenFailure(failure: EngineFailure | undefined, at: number): TakenFailure | undefined {
  if (failure?.wait === undefined) return failure;
  const { wait, ...rest } = failure;
  return { ...rest, untold: true, waitedMs: silentMs(JSON.parse(JSON.stringify(wait)), at) };
}
