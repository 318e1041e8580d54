// Code that only some need is loaded when the first of them comes.

/** A function whose code is loaded with its first call. Calls that come meanwhile wait, in order; `failed` hears why one of these cannot run, or has failed. */
export function loadedOnUse<A extends unknown[]>(
  load: () => Promise<(...args: A) => void>,
  failed: (error: unknown, ...args: A) => void,
): (...args: A) => void {
  let run: ((...args: A) => void) | undefined;
  let loading: Promise<(...args: A) => void> | undefined;
  return (...args) => {
    if (run !== undefined) return run(...args);
    loading ??= load();
    loading
      .then((loaded) => {
        run = loaded;
        loaded(...args);
      })
      .catch((error: unknown) => failed(error, ...args))
      // Nobody waits for it, and the calls of the process must not end with it.
      .catch(() => {});
  };
}
