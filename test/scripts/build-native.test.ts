import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { soon } from '../support/soon.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A clone with nothing in it but what the addon is built from, and a cargo that does what a test says. */
let clone: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'offhook-native-'));
  for (const path of ['scripts/build-native.mjs', 'scripts/setup.mjs', 'Cargo.toml', 'Cargo.lock'])
    cpSync(join(root, path), join(clone, path));
  for (const crate of ['transcoder', 'transcoder-napi']) {
    for (const path of ['src', 'build.rs', 'Cargo.toml']) {
      const from = join(root, 'crates', crate, path);
      if (existsSync(from)) cpSync(from, join(clone, 'crates', crate, path), { recursive: true });
    }
  }
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  // What was built behind a start ends after it, and may leave a file in the meantime.
  rmSync(clone, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

/** Begins, waits until it is let through, and then does as it is told. Asked to end, it leaves a note. */
function writeCargo(then: string): void {
  mkdirSync(join(clone, 'bin'));
  const lines = [
    '#!/bin/sh',
    '[ "$1" = --version ] && exit 0',
    'trap "touch ended; exit 1" TERM',
    // The shell reports what was killed under it to whoever may have gone already.
    'trap "" PIPE',
    'touch begun',
    'while [ ! -f gate ]; do sleep 0.05; done',
    then,
  ];
  writeFileSync(join(clone, 'bin/cargo'), lines.join('\n'));
  chmodSync(join(clone, 'bin/cargo'), 0o755);
}

const letThrough = () => writeFileSync(join(clone, 'gate'), '');

async function isThere(name: string): Promise<void> {
  while (!existsSync(join(clone, name))) await setTimeout(20);
}

/** A start: it builds the addon behind itself, says that it serves, and lives until it is told to end. */
function start(env: { PATH?: string } = {}): {
  child: ChildProcess;
  said: (wanted: RegExp) => Promise<string>;
} {
  const script = `
    import { buildBehind } from './scripts/setup.mjs';
    await buildBehind('[4/4]');
    console.log('serving');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: clone,
    env: { ...process.env, PATH: `${join(clone, 'bin')}${delimiter}${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += String(chunk);
  });
  const said = async (wanted: RegExp): Promise<string> => {
    while (!wanted.test(text)) await setTimeout(20);
    return text;
  };
  return { child, said };
}

const BUILT =
  'mkdir -p target/release; for end in so dylib; do echo new >target/release/libtranscoder_napi.$end; done';

const addons = () =>
  readdirSync(join(clone, 'crates/transcoder-napi')).filter((name) => name.includes('.node'));

describe.skipIf(process.platform === 'win32')('the native addon behind npm start', () => {
  it('is built while the start goes on, and the next start has it', async () => {
    writeCargo(BUILT);
    const { said } = start();
    const first = await said(/serving/);
    expect(first).toMatch(/building it behind the demo.*this start runs on WebAssembly.*\nserving\n$/);
    expect(addons()).toEqual([]);
    letThrough();
    await said(/native addon: built, the next start uses it\n/);
    expect(addons()).toHaveLength(1);
    const [addon = ''] = addons();
    expect(await start().said(/serving/)).toBe('offhook: [4/4] native addon: up to date\nserving\n');

    // One of other sources is out of the way before anything can load it.
    writeFileSync(join(clone, 'Cargo.lock'), '# other');
    rmSync(join(clone, 'gate'));
    await start().said(/serving/);
    expect(addons()).toEqual([]);
    letThrough();
    await soon(() => expect(addons().includes(addon)).toBe(true));
  });

  it('that cannot be built is one line', async () => {
    writeCargo(
      'echo "warning: unused" >&2; echo "error: linker cc not found" >&2; echo "  | note" >&2; exit 101',
    );
    const { said } = start();
    const serving = await said(/serving\n/);
    letThrough();
    const text = (await said(/failed.*\n/)).slice(serving.length);
    expect(text).toMatch(/^offhook: \[4\/4\] native addon: the build failed, [^\n]*linker cc not found\)\n$/);
    expect(addons()).toEqual([]);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)('ends with the start that it is for: %s', async (signal) => {
    writeCargo(BUILT);
    const { child, said } = start();
    await said(/serving/);
    await isThere('begun');
    child.kill(signal);
    await isThere('ended');
    expect(addons()).toEqual([]);
  });

  it('is not built where there is no cargo', async () => {
    mkdirSync(join(clone, 'bin'));
    const { said } = start({ PATH: join(clone, 'bin') });
    expect(await said(/serving/)).toMatch(/not built, there is no cargo; the transcoder uses WebAssembly\n/);
  });
});
