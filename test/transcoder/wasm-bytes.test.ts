import { expect, it } from 'vitest';
import { hashWasmSources, wasmSources } from '../../scripts/wasm-sources.mjs';
import { SOURCES_SHA256, TOOLCHAIN } from '../../src/transcoder/wasm-bytes.generated.js';

it('the WASM bytes in the repository belong to the sources of today (npm run build:wasm renews them)', () => {
  expect(wasmSources()).toContain('crates/transcoder-wasm/src/lib.rs');
  expect(SOURCES_SHA256).toBe(hashWasmSources());
  expect(TOOLCHAIN).toMatch(/^rustc \d+\.\d+.*, core [0-9a-f]{16}$/);
});
