import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const crates = new URL('../../crates/', import.meta.url);
const sources = readdirSync(crates, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.rs'))
  .map((path) => ({ path, text: readFileSync(new URL(path, crates), 'utf8') }));

/** One file per instruction set, and the boundary to Node. */
const ALLOWED = [
  'transcoder-napi/src/boundary.rs',
  'transcoder/src/kernel/avx2.rs',
  'transcoder/src/kernel/simd128.rs',
  'transcoder/src/kernel/sse2.rs',
  'transcoder/src/sha1/sha_ni.rs',
];

it('stands in few small files, and the workspace denies it everywhere else', () => {
  const manifest = readFileSync(new URL('../Cargo.toml', crates), 'utf8');
  expect(manifest).toMatch(/^unsafe_code = "deny"$/m);
  expect(manifest).toMatch(/^undocumented_unsafe_blocks = "deny"$/m);
  const members = readdirSync(crates, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of members)
    expect(readFileSync(new URL(`${name}/Cargo.toml`, crates), 'utf8')).toMatch(
      /^\[lints\]\nworkspace = true$/m,
    );
  const allowing = sources.filter(({ text }) => /allow\([^)]*unsafe_code/.test(text)).map(({ path }) => path);
  expect(allowing.sort()).toEqual(ALLOWED);
});
