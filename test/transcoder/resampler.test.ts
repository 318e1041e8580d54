import { describe, expect, it } from 'vitest';
import { SCALE_BITS } from '../../src/transcoder/javascript/filters.js';
import type { RatePath } from '../../src/transcoder/rates.js';
import { createRandom, expectSame, fullScale, noise, paths, signals, subjects, tone } from './support.js';

/** The definition, in exact integers: zeros between the samples, one sum over all taps, rounded once, saturated. */
function byDefinition(path: RatePath, input: Int16Array, count: number): Int16Array {
  const { up, down, half } = path;
  const reach = half.length - 1;
  const unity = 1n << BigInt(SCALE_BITS);
  const output = new Int16Array(count);
  for (let m = 0; m < count; m++) {
    let sum = unity / 2n;
    for (let k = -reach; k <= reach; k++) {
      const position = m * down - path.delay + k;
      const sample = position % up === 0 ? input[position / up] : undefined;
      if (sample !== undefined) sum += BigInt(half[Math.abs(k)]!) * BigInt(sample);
    }
    // BigInt division truncates, a shift floors.
    const rounded = Number(sum >> BigInt(SCALE_BITS));
    output[m] = Math.min(32767, Math.max(-32768, rounded));
  }
  return output;
}

const title = ({ fromHz, toHz }: RatePath) => `${fromHz} to ${toHz}`;
const matrix = subjects.flatMap((subject) => paths.map((path) => ({ ...subject, path, way: title(path) })));

describe.each(matrix)('resampler $way on $title', ({ backend, path }) => {
  const frame = path.fromHz / 50;
  const create = () => backend.createResampler(path.fromHz, path.toHz);

  it('is the rounded sum of its definition', () => {
    for (const input of [noise(1200, 7), fullScale(1200)]) {
      const resampler = create();
      const output = resampler.process(input);
      expectSame(output, byDefinition(path, input, output.length));
      const tail = resampler.flush();
      const whole = byDefinition(path, input, output.length + tail.length);
      expectSame(tail, whole.subarray(output.length));
      resampler.free();
    }
  });

  it.each(Object.entries(signals(frame * 5)))(
    'gives what the first backend gives for %s, in any chunks',
    (_, input) => {
      const first = subjects[0]!.backend;
      const [mine, theirs] = [create(), first.createResampler(path.fromHz, path.toHz)];
      const random = createRandom(input.length);
      const output: number[] = [];
      for (let at = 0; at < input.length; ) {
        const size = Math.floor(random() * 2 * frame);
        output.push(...mine.process(input.subarray(at, at + size)));
        at += size;
      }
      expectSame(output, theirs.process(input));
      expectSame(mine.flush(), theirs.flush());
      mine.free();
      theirs.free();
    },
  );

  it('gives a whole frame for every whole frame, from the first on', () => {
    const resampler = create();
    for (let i = 0; i < 10; i++) expect(resampler.process(noise(frame, i)).length).toBe(path.toHz / 50);
    resampler.free();
  });

  it('does not care about chunks', () => {
    const input = noise(frame * 7 + 5, 3);
    const whole = create();
    const expected = [...whole.process(input), ...whole.flush()];
    const random = createRandom(11);
    for (const limit of [1, 2, 3, 7, 100, 1500]) {
      const pieces = create();
      const output: number[] = [];
      for (let at = 0; at < input.length; ) {
        const size = limit < 4 ? limit : Math.floor(random() * (limit + 1));
        output.push(...pieces.process(input.subarray(at, at + size)));
        at += size;
      }
      output.push(...pieces.flush());
      expectSame(output, expected);
      pieces.free();
    }
    whole.free();
  });

  it('takes more than any buffer of a module holds', () => {
    const input = noise(50_003, 5);
    const mine = create();
    const pieces = create();
    const expected = new Int16Array(Math.floor(50_003 / path.down) * path.up);
    let to = 0;
    for (let at = 0; at < input.length; at += 999) {
      const part = pieces.process(input.subarray(at, at + 999));
      expected.set(part, to);
      to += part.length;
    }
    expect(Buffer.compare(new Uint8Array(mine.process(input).buffer), new Uint8Array(expected.buffer))).toBe(
      0,
    );
    mine.free();
    pieces.free();
  });

  it('keeps a constant what it is, and saturates', () => {
    for (const level of [0, 1, -1, 12345, 32767, -32768]) {
      const resampler = create();
      const output = resampler.process(new Int16Array(frame * 2).fill(level));
      expect(new Set(output.subarray(path.toHz / 50))).toEqual(new Set([level]));
      resampler.free();
    }
    const resampler = create();
    const output = resampler.process(fullScale(frame * 2, 24));
    expect(Math.max(...output)).toBe(32767);
    expect(Math.min(...output)).toBe(-32768);
    resampler.free();
  });

  it('delays by what it says', () => {
    const resampler = create();
    expect(resampler.delayMs).toBeLessThanOrEqual(path.fromHz * path.toHz === 384_000_000 ? 1.9 : 3.5);
    const input = tone(frame * 4, 500, path.fromHz);
    const output = resampler.process(input);
    const at = output.length - 37;
    const seconds = at / path.toHz - resampler.delayMs / 1000;
    expect(output[at]! / 32767).toBeCloseTo(0.9 * Math.sin(2 * Math.PI * 500 * seconds), 3);
    resampler.free();
  });

  it('begins anew after flush and reset', () => {
    const input = noise(frame + 1, 9);
    const fresh = create().process(input);
    const used = create();
    used.process(noise(frame + 2, 10));
    used.flush();
    expectSame(used.process(input), fresh);
    used.reset();
    expectSame(used.process(input), fresh);
    used.free();
  });

  it('writes to the start of the output that it is given', () => {
    const input = noise(frame, 2);
    const expected = create().process(input);
    const resampler = create();
    const output = new Int16Array(expected.length + 3).fill(77);
    const written = resampler.process(input, output);
    expectSame(written, expected);
    expect(written.buffer).toBe(output.buffer);
    expect([...output.subarray(expected.length)]).toEqual([77, 77, 77]);
    const exact = new Int16Array(expected.length);
    expect(resampler.process(input, exact)).toBe(exact);
    resampler.free();
  });

  it('takes and gives mu-law in one step as in two', () => {
    const [apart, fused] = [create(), create()];
    for (const length of [frame, 1, 2, 77, frame, 20_000]) {
      const codes = Uint8Array.from(noise(length, length), (sample) => sample & 0xff);
      const expected = apart.process(backend.mulawDecode(codes));
      if (length % 2 === 0) expectSame(fused.processFromMulaw(codes), expected);
      else expectSame(fused.processFromMulawBase64(Buffer.from(codes).toString('base64')), expected);
      const samples = noise(length, 1);
      expectSame(fused.processToMulaw(samples), backend.mulawEncode(apart.process(samples)));
    }
    const long = Buffer.from(new Uint8Array(noise(20_000, 3).buffer)).toString('base64');
    expectSame(fused.processFromMulawBase64(long), apart.processFromMulaw(Buffer.from(long, 'base64')));
    apart.free();
    fused.free();
  });

  it('has a state of its own', () => {
    const [left, right] = [create(), create()];
    const alone = create();
    const input = noise(frame, 4);
    const other = noise(frame, 5);
    for (let i = 0; i < 3; i++) {
      right.process(other);
      expectSame(left.process(input), alone.process(input));
    }
    for (const each of [left, right, alone]) each.free();
  });
});
