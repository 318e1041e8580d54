// What LevelDB does in the threads of this process: Node does not tell of work that native modules have there.
import { require } from '../../../src/base/commonjs.js';

type Work = (...parameters: unknown[]) => unknown;

/** Bindings that count. */
const bindings = new WeakSet<object>();
let pending = 0;

/** True when a database owes an answer. */
export function isAnyStoring(): boolean {
  return pending > 0;
}

/** From now on what this process asks of LevelDB is counted until it is answered. */
export function countStored(): void {
  const binding = require('classic-level/binding.js') as Record<string, Work>;
  if (bindings.has(binding)) return;
  bindings.add(binding);
  for (const [name, work] of Object.entries(binding))
    if (typeof work === 'function') binding[name] = (...parameters) => counted(work(...parameters));
}

function counted(answer: unknown): unknown {
  if (!(answer instanceof Promise)) return answer;
  pending += 1;
  const isAnswered = () => {
    pending -= 1;
  };
  answer.then(isAnswered, isAnswered);
  return answer;
}
