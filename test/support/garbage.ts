// What is alive after a collection of garbage.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Frees what nothing refers to. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

/** Bytes of live objects. */
export async function liveBytes(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
