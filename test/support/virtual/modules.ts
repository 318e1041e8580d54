// Modules that are loaded when they are first needed: their code comes from another process, which takes real time.

/** Compilers that count. */
const compilers = new WeakSet<object>();
let loading = 0;

/** True when code is on its way. */
export function isAnyLoading(): boolean {
  return loading > 0;
}

/** Counts a module until it is there. */
export async function counted<T>(module: Promise<T>): Promise<T> {
  loading += 1;
  try {
    return await module;
  } finally {
    loading -= 1;
  }
}

/** From now on WebAssembly that this process compiles is counted: `fetch` does so when it is first used. */
export function countCompiled(): void {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
  };
  if (compilers.has(WebAssembly.compile)) return;
  const { compile } = WebAssembly;
  WebAssembly.compile = (bytes) => counted(compile(bytes));
  compilers.add(WebAssembly.compile);
}
