// What many things wait for at once: each of them listens to it, and none is a leak.
import { setMaxListeners } from 'node:events';

/** An abort that everything under way hangs on, however much that is. Node warns of more than ten listeners to any other. */
export function createSharedAbort(): AbortController {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  return abort;
}
