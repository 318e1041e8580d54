// Random use of the whole public API, the same on every backend: results must be equal to the last bit, and so must what
// is thrown. TRANSCODER_FUZZ_CASES sets how many random lives are led, TRANSCODER_FUZZ_SEED where they begin.
import { expect, it } from 'vitest';
import { readEnv } from '../../src/base/env.js';
import { OffhookError } from '../../src/base/errors.js';
import type { Resampler, TranscoderBackend, VoiceDetector } from '../../src/transcoder/backend.js';
import { createRandom, paths, subjects } from './support.js';

const CASES = Number(readEnv('TRANSCODER_FUZZ_CASES') ?? 60);
const SEED = Number(readEnv('TRANSCODER_FUZZ_SEED') ?? 1);
/** Around every output, so that a write beside it is seen. */
const GUARD = 24;

type Random = (limit: number) => number;
type Elements = Uint8Array | Int16Array;
/** One thing to ask: given a backend, and a resampler and a voice detector of it, it answers, or throws. */
type Question = (backend: TranscoderBackend, resampler: Resampler, detector: VoiceDetector) => unknown;

/** Mostly lengths of frames, some of them odd, a few that no buffer of a module holds. */
function anyLength(random: Random): number {
  const kind = random(20);
  if (kind === 0) return 16_300 + random(20_000);
  return kind < 8 ? [0, 1, 2, 3, 159, 160, 161, 320, 480][random(9)]! : random(700);
}

/** Bytes at an odd place of their buffer. */
function anyBytes(random: Random, length: number): Uint8Array {
  const place = random(4);
  const bytes = new Uint8Array(length + place).subarray(place);
  for (let i = 0; i < length; i++) bytes[i] = random(256);
  return bytes;
}

function anySamples(random: Random, length: number): Int16Array {
  const kind = random(4);
  const place = random(5);
  const samples = new Int16Array(length + place).subarray(place);
  for (let i = 0; i < length; i++)
    samples[i] = kind === 0 ? 32767 - 65535 * random(2) : kind === 1 ? random(9) - 4 : random(65536) - 32768;
  return samples;
}

/** Gives `ask` an output amid guards, checks them, and answers with what was written and where. */
function guarded<T extends Elements>(
  kind: { new (length: number): Elements },
  room: number,
  ask: (output: T) => T,
): unknown {
  const memory = new kind(room + 2 * GUARD).fill(0x5a);
  const output = memory.subarray(GUARD, GUARD + room) as T;
  try {
    const written = ask(output);
    return {
      offset: written.byteOffset,
      memory: Buffer.from(memory.buffer as ArrayBuffer).toString('base64'),
    };
  } finally {
    for (let i = 0; i < GUARD; i++)
      if (memory[i] !== 0x5a || memory[memory.length - 1 - i] !== 0x5a)
        expect.fail('written beside the output');
  }
}

/** Something that is not what is expected, made anew for every backend. */
function anyWrong(random: Random): () => unknown {
  const kind = random(2) === 0 ? Uint8Array : Int16Array;
  const kinds: (() => unknown)[] = [
    () => undefined,
    () => null,
    () => 7,
    () => 'AAAA',
    () => [1, 2],
    () => new Float64Array(4),
    () => new DataView(new ArrayBuffer(8)),
    () => new ArrayBuffer(8),
    () => Object.create(Uint8Array.prototype),
    () => {
      const array = new kind(40);
      structuredClone(array.buffer, { transfer: [array.buffer] });
      return array;
    },
    () => Object.defineProperty(new Uint8Array(8), 'length', { value: 4000 }),
    () => Object.defineProperty(new Int16Array(8), 'length', { value: 4000 }),
  ];
  return kinds[random(kinds.length)]!;
}

function anyText(random: Random, length: number): string {
  const text = Buffer.from(anyBytes(random, length)).toString('base64');
  const at = random(text.length + 1);
  const spoilt = ['', '=', '!', ' ', '\n', 'é', '\0', '😀', '\ud800', '-'][random(10)]!;
  if (random(3) > 0) return random(2) === 0 ? text : text.replace(/=+$/, '');
  return random(2) === 0 ? text.slice(0, at) + spoilt + text.slice(at) : text.slice(0, at);
}

function anyQuestion(random: Random): Question {
  const [samples, bytes] = [anySamples(random, anyLength(random)), anyBytes(random, anyLength(random))];
  // At times too short by a little, or with room to spare.
  const room = samples.length * 3 + 3;
  const tight = random(samples.length + 2);
  const text = anyText(random, anyLength(random));
  const wrong = anyWrong(random);
  const key = anyBytes(random, random(150));
  const rate = random(4) * 8000;
  const frame = anySamples(random, 320);
  const codes = anyBytes(random, [160, 160, 480, 320][random(4)]!);
  const near = 310 + random(20);
  const start = random(480);
  const questions: Question[] = [
    (_, resampler) => resampler.process(samples),
    (_, resampler) => guarded<Int16Array>(Int16Array, room, (output) => resampler.process(samples, output)),
    (_, resampler) => guarded<Int16Array>(Int16Array, tight, (output) => resampler.process(samples, output)),
    (_, resampler) => resampler.processFromMulaw(bytes),
    (_, resampler) => resampler.processFromMulawBase64(text),
    (_, resampler) =>
      guarded<Uint8Array>(Uint8Array, room, (output) => resampler.processToMulaw(samples, output)),
    (_, resampler) => resampler.processToMulaw(samples),
    (_, resampler) => resampler.flush(),
    (_, resampler) => resampler.reset(),
    (_, resampler) => resampler.process(wrong() as Int16Array),
    (_, resampler) => resampler.process(samples, wrong() as Int16Array),
    (_, resampler) => resampler.processFromMulaw(wrong() as Uint8Array),
    (_, resampler) => resampler.processFromMulawBase64(wrong() as string),
    (_, resampler) => resampler.processToMulaw(samples, wrong() as Uint8Array),
    (backend) => guarded<Int16Array>(Int16Array, tight, (output) => backend.mulawDecode(bytes, output)),
    (backend) => guarded<Uint8Array>(Uint8Array, tight, (output) => backend.mulawEncode(samples, output)),
    (backend) => guarded<Int16Array>(Int16Array, room, (output) => backend.alawDecode(bytes, output)),
    (backend) => guarded<Uint8Array>(Uint8Array, room, (output) => backend.alawEncode(samples, output)),
    (backend) =>
      guarded<Int16Array>(Int16Array, bytes.length, (output) => backend.mulawDecode(bytes, output)),
    (backend) =>
      guarded<Uint8Array>(Uint8Array, samples.length, (output) => backend.alawEncode(samples, output)),
    (backend) => backend.mulawDecode(wrong() as Uint8Array, wrong() as Int16Array),
    (backend) => backend.mulawEncode(wrong() as Int16Array, wrong() as Uint8Array),
    (backend) => backend.mulawDecode(wrong() as Uint8Array),
    (backend) => backend.alawEncode(samples, wrong() as Uint8Array),
    (backend) => backend.hmacSha1(key, bytes),
    (backend) => backend.hmacSha1(bytes, key),
    (backend) => backend.hmacSha1(wrong() as Uint8Array, bytes),
    (backend) => backend.verifyHmacSha1(key, bytes, backend.hmacSha1(key, bytes)),
    (backend) => backend.verifyHmacSha1(key, bytes, bytes.subarray(0, 20)),
    (backend) => backend.verifyHmacSha1(key, wrong() as Uint8Array, wrong() as Uint8Array),
    (_, __, detector) => [detector.hear(frame), detector.energy],
    (_, __, detector) => [detector.hear(samples), detector.energy],
    (_, __, detector) => detector.hear(wrong() as Int16Array),
    (_, resampler, detector) =>
      guarded<Int16Array>(Int16Array, room, (output) => {
        const voiced = detector.hearMulaw(codes, resampler, output);
        return output.subarray(0, voiced ? 320 : 319);
      }),
    (_, resampler, detector) =>
      guarded<Int16Array>(Int16Array, near, (output) => {
        detector.hearMulaw(bytes, resampler, output);
        return output;
      }),
    (_, resampler, detector) => detector.hearMulaw(codes, resampler, wrong() as Int16Array),
    (_, resampler, detector) => detector.hearMulaw(wrong() as Uint8Array, resampler, frame),
    (_, __, detector) => detector.hearMulaw(codes, wrong() as Resampler, frame),
    (_, resampler, detector) => {
      // On the memory of the input.
      const memory = new Int16Array(320 + 160);
      const input = new Uint8Array(memory.buffer, start, codes.length);
      input.set(codes);
      return [detector.hearMulaw(input, resampler, memory.subarray(0, 320)), ...memory];
    },
    (backend) => backend.createResampler(rate, wrong() as number),
    (backend) => backend.createResampler(wrong() as number, rate),
    (backend) => {
      // An output that begins within its input.
      const memory = samples.slice();
      const codes = new Uint8Array(memory.buffer, memory.byteLength >> 2, samples.length);
      return [...backend.mulawEncode(memory, codes)];
    },
  ];
  return questions[random(questions.length)]!;
}

/** What comes of a question, in a form that can be compared. */
function answer(question: Question, ...asked: Parameters<Question>): unknown {
  try {
    const result = question(...asked);
    return ArrayBuffer.isView(result)
      ? [
          result.constructor.name,
          Buffer.from(result.buffer, result.byteOffset, result.byteLength).toString('base64'),
        ]
      : result;
  } catch (error) {
    if (!OffhookError.isInstance(error)) throw error;
    return [error.code, error.message];
  }
}

it(`${CASES} random lives are the same on ${subjects.map(({ title }) => title).join(', ')}`, () => {
  for (let seed = SEED; seed < SEED + CASES; seed++) {
    const uniform = createRandom(seed);
    const random: Random = (limit) => Math.floor(uniform() * limit);
    const { fromHz, toHz } = paths[seed % paths.length]!;
    const resamplers = subjects.map(({ backend }) => backend.createResampler(fromHz, toHz));
    const detectors = subjects.map(({ backend }) => backend.createVoiceDetector());
    for (let step = 0; step < 12; step++) {
      const question = anyQuestion(random);
      const answers = subjects.map(
        ({ backend }, place) =>
          JSON.stringify(answer(question, backend, resamplers[place]!, detectors[place]!)) ?? 'nothing',
      );
      for (const [place, given] of answers.entries())
        if (given !== answers[0])
          expect.fail(
            `seed ${seed}, step ${step}, ${fromHz} to ${toHz}: ${subjects[place]!.title} answers ${given.slice(0, 200)}, not ${answers[0]!.slice(0, 200)}: ${question}`,
          );
    }
    for (const each of [...resamplers, ...detectors]) each.free();
  }
});
