// Rebuilds the WASM module from today's sources and holds it against the kept one: the same bytes where the same toolchain built
// both, the same answers in any case. Leaves the kept one in its place.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const path = join(root, 'src/transcoder/wasm-bytes.generated.ts');

/** @param {string} text @param {string} name */
function constant(text, name) {
  const value = new RegExp(`${name}[^=]*=\\s*'([^']*)'`).exec(text)?.[1];
  if (value === undefined) throw new Error(`no ${name} in ${path}`);
  return value;
}

/** @param {string[]} args */
function node(args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
}

const kept = readFileSync(path, 'utf8');
try {
  node(['scripts/build-wasm.mjs', '--force']);
  const rebuilt = readFileSync(path, 'utf8');
  if (constant(kept, 'SOURCES_SHA256') !== constant(rebuilt, 'SOURCES_SHA256')) {
    throw new Error('the kept module does not belong to the sources: run npm run build:wasm and commit it');
  }
  const toolchain = constant(rebuilt, 'TOOLCHAIN');
  if (constant(kept, 'TOOLCHAIN') !== toolchain) {
    console.log(
      `the kept module was built by another toolchain than ${toolchain}: only answers are compared`,
    );
  } else if (constant(kept, 'WASM_BASE64') !== constant(rebuilt, 'WASM_BASE64')) {
    throw new Error(
      'the same toolchain gives other bytes than the kept ones: run npm run build:wasm and commit it',
    );
  } else {
    console.log(`the same bytes (${toolchain})`);
  }
  node(['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', 'test/transcoder']);
} finally {
  writeFileSync(path, kept);
}
