// Which files the WebAssembly module is built from, and their fingerprint.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../', import.meta.url);
const FILES = [
  '.cargo/config.toml',
  'Cargo.toml',
  'crates/transcoder/Cargo.toml',
  'crates/transcoder-wasm/Cargo.toml',
];
const FOLDERS = ['crates/transcoder/src', 'crates/transcoder-wasm/src'];

/** Paths of all sources, relative to the root, with forward slashes, in the order of their code points. */
export function wasmSources() {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(fileURLToPath(new URL(folder, ROOT)), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.rs'))
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
  );
  return [...FILES, ...found].sort((a, b) => (a < b ? -1 : 1));
}

/** SHA-256 over paths and contents. Line ends count as LF, so that every checkout has the same. */
export function hashWasmSources() {
  const hash = createHash('sha256');
  for (const path of wasmSources()) {
    const text = readFileSync(new URL(path, ROOT), 'utf8').replaceAll('\r\n', '\n');
    hash.update(`${path}\n${Buffer.byteLength(text)}\n${text}`);
  }
  return hash.digest('hex');
}
