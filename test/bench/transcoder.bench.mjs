// The transcoder's backends against the libraries that one would use otherwise, one 20 ms frame at a time.
import { spawnSync } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compare } from './compare.mjs';
import { plotBars } from './plot.mjs';
import { toTable } from './table.mjs';

const built = new URL('../../dist/transcoder/', import.meta.url);
/** @type {typeof import('../../src/transcoder/select.js')} */
const { BACKEND_NAMES, loadTranscoder } = await import(new URL('select.js', built).href);
/** @type {typeof import('../../src/transcoder/native.js')} */
const { createNativeCore, loadAddon } = await import(new URL('native.js', built).href);
/** @type {typeof import('../../src/transcoder/checked.js')} */
const { createBackend } = await import(new URL('checked.js', built).href);

/** @type {typeof import('../../src/audio/level.js')} */
const { energyOf } = await import(new URL('../audio/level.js', built).href);

const require = createRequire(import.meta.url);
/** The other libraries declare what they take loosely, or not at all. @type {(name: string) => any} */
const load = (name) => {
  const module = require(name);
  return module.default ?? module;
};

/** @typedef {import('./compare.mjs').Candidate} Candidate */
/** @typedef {import('../../src/transcoder/backend.js').TranscoderBackend} TranscoderBackend */

/** Every backend, and every instruction set of the native one but the best. @returns {{ name: string, backend: TranscoderBackend }[]} */
function ourBackends() {
  const ours = BACKEND_NAMES.filter(canLoad).map((name) => ({
    name: `offhook ${name}`,
    backend: loadTranscoder(name),
  }));
  try {
    const addon = loadAddon();
    for (const [place, set] of addon.instructionSets().split(' ').slice(0, -1).entries())
      ours.push({ name: `offhook native, ${set}`, backend: createBackend(createNativeCore(addon, place)) });
  } catch {
    // Without the addon there are no instruction sets to compare.
  }
  return ours;
}

/** @param {import('../../src/transcoder/backend.js').BackendName} name */
function canLoad(name) {
  try {
    return loadTranscoder(name) !== undefined;
  } catch {
    return false;
  }
}

/** A voice-like mixture. @param {number} rateHz */
function frameOf(rateHz) {
  return Int16Array.from({ length: rateHz / 50 }, (_, n) => {
    const t = n / rateHz;
    return Math.round(9000 * Math.sin(2 * Math.PI * 220 * t) + 5000 * Math.sin(2 * Math.PI * 1900 * t));
  });
}

/** @param {Int16Array} samples */
const toFloats = (samples) => Float32Array.from(samples, (sample) => sample / 32768);
/** @param {Int16Array} samples */
const toBytes = (samples) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

/** Other resamplers between two rates. @param {number} fromHz @param {number} toHz @returns {Promise<Candidate[]>} */
async function otherResamplers(fromHz, toHz) {
  const input = frameOf(fromHz);
  const bytes = toBytes(input);
  const { resample } = require('wave-resampler');
  const Speex = load('speex-resampler');
  await Speex.initPromise;
  const speex = new Speex(1, fromHz, toHz, 4);
  const { create, ConverterType } = require('@alexanderolsen/libsamplerate-js');
  const sinc = await create(1, fromHz, toHz, { converterType: ConverterType.SRC_SINC_FASTEST });
  return [
    {
      name: 'wave-resampler, sinc',
      task: () => resample(input, fromHz, toHz, { method: 'sinc', LPF: true }),
    },
    {
      name: 'wave-resampler, linear',
      task: () => resample(input, fromHz, toHz, { method: 'linear', LPF: false }),
    },
    { name: 'speex-resampler, quality 4', task: () => speex.processChunk(bytes) },
    { name: 'libsamplerate-js, sinc fastest', task: () => sinc.full(toFloats(input)) },
  ];
}

/** @typedef {{ name: string, nanoseconds: number }} Measured */

/** @param {string} command @param {string[]} args */
const works = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Debian's libspeexdsp as a program that measures itself, or undefined where it is not installed. */
function compileSpeexdsp() {
  const program = join(mkdtempSync(join(tmpdir(), 'offhook-bench-')), 'speexdsp');
  const source = fileURLToPath(new URL('speexdsp.c', import.meta.url));
  return works('cc', ['-O2', '-o', program, source, '-lspeexdsp']) ? program : undefined;
}

const FFMPEG = works('ffmpeg', ['-version']);
const SOX = works('sox', ['--version']);
const SPEEXDSP = compileSpeexdsp();
const missing = [
  ...(FFMPEG ? [] : ['ffmpeg (swresample, soxr)']),
  ...(SOX ? [] : ['sox']),
  ...(SPEEXDSP === undefined ? ['libspeexdsp-dev'] : []),
];
/** What is not in the tables because it is not on this machine, in one line. */
const MISSING =
  missing.length > 0 ? `Not installed here, so not compared: ${missing.join(', ')}.` : undefined;

/** What a frame costs in a program that may be installed, its start taken off. @param {number} fromHz @param {number} toHz @returns {Measured[]} */
function installedPrograms(fromHz, toHz) {
  const ffmpeg = (/** @type {string} */ engine) => [
    ...['-v', 'error', '-f', 's16le', '-ar', String(fromHz), '-ac', '1', '-i', '-'],
    ...['-af', `aresample=${toHz}:resampler=${engine}`, '-f', 's16le', '-ar', String(toHz), '-'],
  ];
  const raw = ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1', '-r'];
  const programs = [
    { name: 'ffmpeg, swresample', command: 'ffmpeg', there: FFMPEG, args: ffmpeg('swr') },
    { name: 'ffmpeg, soxr', command: 'ffmpeg', there: FFMPEG, args: ffmpeg('soxr') },
    {
      name: 'sox, rate',
      command: 'sox',
      there: SOX,
      args: [...raw, String(fromHz), '-', ...raw, String(toHz), '-', 'rate'],
    },
  ];
  const measured = programs.flatMap(({ name, command, there, args }) => {
    if (!there) return [];
    const seconds = (/** @type {number} */ length) => {
      const input = Buffer.alloc(fromHz * 2 * length, toBytes(frameOf(fromHz)));
      const start = process.hrtime.bigint();
      const { status } = spawnSync(command, args, { input, maxBuffer: 2 ** 30 });
      return status === 0 ? Number(process.hrtime.bigint() - start) : Number.NaN;
    };
    const nanoseconds = (seconds(901) - seconds(1)) / (900 * 50);
    return nanoseconds > 0 ? [{ name: `${name} (program, long file)`, nanoseconds }] : [];
  });
  if (SPEEXDSP === undefined) return measured;
  const { stdout } = spawnSync(SPEEXDSP, [String(fromHz), String(toHz), '4'], { encoding: 'utf8' });
  return [...measured, { name: 'speexdsp, quality 4 (in C)', nanoseconds: Number(stdout) }];
}

/**
 * The most that a candidate may take: nanoseconds, or a share of what the fastest of some others takes in the same run.
 * @typedef {number | { share: number, of: readonly string[] }} Bar
 * @typedef {{ title: string, candidates: Candidate[], programs?: Measured[], bars?: Readonly<Record<string, Bar>> }} Scenario
 */

/**
 * A hand-written kernel in C, called through Node-API, sets the bars: 1.5 times its time for companding, twice for the rest. HMAC is held
 * against node:crypto in the same run.
 */
const BARS = {
  decode: { 'offhook native': 105 },
  encode: { 'offhook native': 120 },
  callerFrame: { 'offhook native': 726, 'offhook wasm': 1605, 'offhook javascript': 5550 },
  resampling: /** @type {Readonly<Record<string, Readonly<Record<string, Bar>>>>} */ ({
    '8000-16000': { 'offhook native': 702 },
    '24000-16000': { 'offhook native': 1474 },
  }),
  hmac: { 'offhook native': { share: 1, of: ['node:crypto'] } },
};

/** Two seconds of what a voice detector has to work on: something like syllables, with a noise between them. */
function spokenFrames() {
  let at = 0;
  return Array.from({ length: 100 }, (_, number) =>
    Int16Array.from({ length: 320 }, () => {
      at += 1;
      const voice = Math.sin(at * 0.06) + 0.5 * Math.sin(at * 0.31) + 0.25 * Math.sin(at * 0.9);
      return voice * (number % 20 < 12 ? 5000 : 50) + ((at * 7919) % 128) - 64;
    }),
  );
}

/** The scenarios of voice detection. Every call hears the next frame: the same one again and again teaches nothing. @param {{ name: string, backend: TranscoderBackend }[]} ours */
async function hearing(ours) {
  const frames = spokenFrames();
  const codes = frames.map((frame) =>
    loadTranscoder('javascript').mulawEncode(frame.filter((_, place) => place % 2 === 0)),
  );
  const output = new Int16Array(320);
  /** @template T @param {readonly T[]} list @param {(each: T) => unknown} task */
  const inTurn = (list, task) => {
    let turn = 0;
    return () => {
      turn = (turn + 1) % list.length;
      return task(/** @type {T} */ (list[turn]));
    };
  };
  const fvad = await openFvad();
  return [
    {
      title: 'voice or not: a frame of PCM 16 kHz',
      candidates: [
        ...ours.map(({ name, backend }) => {
          const detector = backend.createVoiceDetector();
          return { name, task: inTurn(frames, (frame) => detector.hear(frame)) };
        }),
        { name: 'fvad-wasm', task: inTurn(frames, fvad) },
      ],
    },
    {
      title: 'a caller’s frame: mu-law 8 kHz to PCM 16 kHz, energy, voice or not',
      candidates: [
        ...ours.map(({ name, backend }) => {
          const detector = backend.createVoiceDetector();
          const resampler = backend.createResampler(8000, 16000);
          return { name, task: inTurn(codes, (bytes) => detector.hearMulaw(bytes, resampler, output)) };
        }),
        ...ours.map(({ name, backend }) => {
          const resampler = backend.createResampler(8000, 16000);
          return {
            name: `${name} + energy in JavaScript + fvad-wasm`,
            task: inTurn(codes, (bytes) => {
              const frame = resampler.processFromMulaw(bytes, output);
              return [energyOf(frame), fvad(frame)];
            }),
          };
        }),
      ],
    },
  ];
}

/** libfvad in the mode and for the frame that we have. */
async function openFvad() {
  const { href } = pathToFileURL(require.resolve('@echogarden/fvad-wasm'));
  const fvad = await (await import(href)).default();
  const [handle, memory] = [fvad._fvad_new(), fvad._malloc(640)];
  fvad._fvad_set_mode(handle, 3);
  fvad._fvad_set_sample_rate(handle, 16_000);
  return (/** @type {Int16Array} */ frame) => {
    fvad.HEAP16.set(frame, memory / 2);
    return fvad._fvad_process(handle, memory, 320);
  };
}

/** @returns {Promise<Scenario[]>} */
async function scenarios() {
  const ours = ourBackends();
  /** Without the forced instruction sets. */
  const whole = ours.filter(({ name }) => !name.includes(','));
  const { mulaw } = require('alawmulaw');
  const g711 = require('g711');
  const samples = frameOf(8000);
  const codes = loadTranscoder('javascript').mulawEncode(samples);
  const text = Buffer.from(codes).toString('base64');
  const wide = frameOf(16000);
  const [pcm8, pcm16, bytes] = [new Int16Array(160), new Int16Array(320), new Uint8Array(160)];
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const message = Buffer.alloc(900, 'https://example.com/webhooks?x=');
  const mac = createHmac('sha1', key).update(message).digest();

  /** @param {number} fromHz @param {number} toHz */
  const resampling = async (fromHz, toHz) => {
    const input = frameOf(fromHz);
    return {
      title: `${fromHz / 1000} to ${toHz / 1000} kHz`,
      candidates: [
        ...ours.map(({ name, backend }) => {
          const resampler = backend.createResampler(fromHz, toHz);
          const output = new Int16Array(toHz / 50);
          return { name, task: () => resampler.process(input, output) };
        }),
        ...(await otherResamplers(fromHz, toHz)),
      ],
      programs: installedPrograms(fromHz, toHz),
      bars: BARS.resampling[`${fromHz}-${toHz}`] ?? {},
    };
  };

  const speexUp = await otherResamplers(8000, 16000);
  const up = speexUp.find(({ name }) => name.startsWith('speex'));
  const library = speexUp.find(({ name }) => name.startsWith('libsamplerate'));
  return [
    {
      title: 'mu-law to PCM, 8 kHz',
      bars: BARS.decode,
      candidates: [
        ...whole.map(({ name, backend }) => ({ name, task: () => backend.mulawDecode(codes, pcm8) })),
        { name: 'alawmulaw', task: () => mulaw.decode(codes) },
        { name: 'g711', task: () => g711.ulawToPCM(codes, 16) },
      ],
    },
    {
      title: 'PCM to mu-law, 8 kHz',
      bars: BARS.encode,
      candidates: [
        ...whole.map(({ name, backend }) => ({ name, task: () => backend.mulawEncode(samples, bytes) })),
        { name: 'alawmulaw', task: () => mulaw.encode(samples) },
        { name: 'g711', task: () => g711.ulawFromPCM(samples) },
      ],
    },
    {
      title: 'a caller’s frame: mu-law 8 kHz to PCM 16 kHz',
      bars: BARS.callerFrame,
      candidates: [
        ...ours.map(({ name, backend }) => {
          const resampler = backend.createResampler(8000, 16000);
          return { name, task: () => resampler.processFromMulaw(codes, pcm16) };
        }),
        ...whole.map(({ name, backend }) => {
          const resampler = backend.createResampler(8000, 16000);
          return {
            name: `${name}, in two steps`,
            task: () => resampler.process(backend.mulawDecode(codes, pcm8), pcm16),
          };
        }),
        { name: 'alawmulaw + speex-resampler', task: () => [mulaw.decode(codes), up?.task()] },
        { name: 'alawmulaw + libsamplerate-js', task: () => [mulaw.decode(codes), library?.task()] },
      ],
    },
    {
      title: 'a caller’s frame as base64 text to PCM 16 kHz',
      candidates: whole.flatMap(({ name, backend }) => {
        const resampler = backend.createResampler(8000, 16000);
        return [
          { name, task: () => resampler.processFromMulawBase64(text, pcm16) },
          {
            name: `${name}, text to bytes first`,
            task: () => resampler.processFromMulaw(Buffer.from(text, 'base64'), pcm16),
          },
        ];
      }),
    },
    {
      title: 'an agent’s frame: PCM 16 kHz to mu-law 8 kHz',
      candidates: whole.flatMap(({ name, backend }) => {
        const resampler = backend.createResampler(16000, 8000);
        return [
          { name, task: () => resampler.processToMulaw(wide, bytes) },
          {
            name: `${name}, in two steps`,
            task: () => backend.mulawEncode(resampler.process(wide, pcm8), bytes),
          },
        ];
      }),
    },
    await resampling(8000, 16000),
    await resampling(16000, 8000),
    await resampling(24000, 16000),
    await resampling(16000, 24000),
    {
      title: 'HMAC-SHA1 check of a webhook of 900 bytes',
      bars: BARS.hmac,
      candidates: [
        ...whole.map(({ name, backend }) => ({
          name,
          task: () => backend.verifyHmacSha1(key, message, mac),
        })),
        {
          name: 'node:crypto',
          task: () => timingSafeEqual(createHmac('sha1', key).update(message).digest(), mac),
        },
      ],
    },
    ...(await hearing(whole)),
  ];
}

/** Prints the tables, and writes them with plots to `folder`. */
export async function run(folder = 'docs/bench') {
  mkdirSync(folder, { recursive: true });
  const parts = [
    '# Bench of the transcoder',
    'Written by `npm run bench -- transcoder`: nanoseconds for one 20 ms frame, medians of interleaved rounds. Only the ratios travel.',
    'A bar is the most that a step may take. Those in nanoseconds were set on another machine; the one of HMAC is node:crypto in the same run.',
  ];
  const notes = [
    ...(canLoad('native')
      ? []
      : ['The native addon is not here (it takes cargo): the ratios are to the first row.']),
    ...(MISSING === undefined ? [] : [MISSING]),
  ];
  for (const note of notes) console.log(note);
  parts.push(...notes);
  for (const [index, { title, candidates, programs = [], bars: limits = {} }] of (
    await scenarios()
  ).entries()) {
    const results = compare(candidates);
    const base = results[0]?.nanoseconds ?? 1;
    const all = [...results, ...programs.map((each) => ({ ...each, ratio: each.nanoseconds / base }))];
    const barOf = (/** @type {string} */ name) => {
      const bar = limits[name];
      if (bar === undefined || typeof bar === 'number') return bar?.toFixed(0) ?? '';
      const others = all.filter((each) => bar.of.includes(each.name));
      return (bar.share * Math.min(...others.map(({ nanoseconds }) => nanoseconds))).toFixed(0);
    };
    const rows = all.map(({ name, nanoseconds, ratio }) => [
      name,
      nanoseconds.toFixed(0),
      barOf(name),
      ratio.toFixed(2),
    ]);
    const table = toTable(['candidate', 'ns', 'bar', 'ratio'], rows, { numbersFrom: 1 });
    console.log(`\n${title}\n${table}`);
    const plot = `transcoder-${index + 1}.svg`;
    const bars = all.map(({ name, nanoseconds }) => ({ label: name, value: nanoseconds / 1000 }));
    writeFileSync(
      join(folder, plot),
      plotBars({ title: `${title}: microseconds a frame`, unit: 'µs', bars }),
    );
    parts.push(`## ${title}`, table, `![${title}](${plot})`);
  }
  writeFileSync(join(folder, 'transcoder.md'), `${parts.join('\n\n')}\n`);
  console.log(`\nplots and tables: ${folder}`);
}
