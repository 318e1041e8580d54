// Audio that has the line's own format already, alone and among audio of the house.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutboundConverter } from '../../src/audio/converter.js';
import { ALAW_8K, type Audio, isPcm, MULAW_8K, PCM_16K } from '../../src/audio/format.js';
import type { PlaybackListener } from '../../src/audio/pacer.js';
import { CarrierPlayer } from '../support/carrier-player.js';
import { backend, createMeters, type PacerRigOptions, setUp as setUpPacer } from './pacer-rig.js';
import { runs } from '../support/depth.js';

const SILENT_BYTE = 0xff;
const FRAME_BYTES = 160;

const setUp = (options: PacerRigOptions = {}) => setUpPacer({ format: MULAW_8K, ...options });

/** Bytes that are nowhere silent. */
function bytes(length: number, from = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (from + index) % 251);
}

function tone(length: number, from = 0): Int16Array {
  return Int16Array.from({ length }, (_, index) => Math.round(9000 * Math.sin((from + index) / 9)));
}

function padded(audio: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.ceil(audio.length / FRAME_BYTES) * FRAME_BYTES).fill(SILENT_BYTE);
  whole.set(audio);
  return whole;
}

/** What the carrier is to get for pieces that are pushed at once: without a gap, the last frame filled up with silence. */
function expectedBytes(pieces: readonly Audio[]): Uint8Array {
  const converter = createOutboundConverter(MULAW_8K, backend);
  const encoded = pieces.map((each) => {
    if (isPcm(each)) return converter.convert(each).slice();
    converter.reset();
    return each;
  });
  const all = Buffer.concat(encoded);
  const missing = Math.ceil(all.length / FRAME_BYTES) * FRAME_BYTES - all.length;
  const last = pieces.at(-1);
  if (last === undefined || !isPcm(last)) return padded(all);
  return Buffer.concat([all, converter.convert(new Int16Array(2 * missing))]);
}

/** Half a byte waits for its other half. */
function msOf(pieces: readonly Audio[]): number {
  const converter = createOutboundConverter(MULAW_8K, backend);
  let bytesSoFar = 0;
  for (const each of pieces) {
    if (isPcm(each)) bytesSoFar += converter.convert(each).length;
    else {
      converter.reset();
      bytesSoFar += each.length;
    }
  }
  return bytesSoFar / 8;
}

const sentBy = (player: CarrierPlayer) => Buffer.concat(player.sent.map((frame) => frame.bytes));

/** One sample alone gives no byte: it waits for the next. */
const lengthOfPiece = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 1200 }));
const piece = fc.record({ isPcm: fc.boolean(), length: lengthOfPiece });

function makePieces(shapes: readonly { isPcm: boolean; length: number }[]): Audio[] {
  return shapes.map((shape, index) =>
    shape.isPcm ? tone(shape.length, index * 1000) : bytes(shape.length, index * 77),
  );
}

describe('bytes of the line', () => {
  it('reach the carrier as they are, in whole frames, whatever pieces they came in', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const { clock, player, pacer } = setUp();
        const all = bytes(sizes.reduce((sum, size) => sum + size, 0));
        let at = 0;
        for (const size of sizes) {
          pacer.push(all.subarray(at, at + size));
          at += size;
        }
        expect(pacer.pushedMs).toBe(all.length / 8);
        clock.advance(all.length / 8 + 1000);
        expect(player.sent.every((frame) => frame.bytes.length === FRAME_BYTES)).toBe(true);
        expect(player.heard()).toEqual(Buffer.from(padded(all)));
        expect(pacer.playedMs).toBe(pacer.pushedMs);
      }),
      { numRuns: runs(20, 60) },
    );
  });

  it('keep the pace, the lead and the marks of all audio', () => {
    const { clock, player, pacer, echoed } = setUp();
    pacer.push(bytes(2400));
    pacer.mark('sentence');
    pacer.push(bytes(1600));
    expect(player.sent).toHaveLength(10);
    clock.advance(100);
    expect([player.sent.length, player.marksSent]).toEqual([15, ['sentence']]);
    clock.advance(200);
    expect([pacer.playedMs, echoed]).toEqual([300, ['sentence']]);
    clock.advance(1000);
    expect([pacer.playedMs, pacer.pushedMs]).toEqual([500, 500]);
  });

  it('send a tail at a mark at once, and without one when the carrier runs dry', () => {
    const { clock, player, pacer } = setUp();
    pacer.push(bytes(50));
    expect(player.sent).toHaveLength(0);
    pacer.mark('end');
    expect(sentBy(player)).toEqual(Buffer.from(padded(bytes(50))));
    expect(pacer.pushedMs).toBe(6.25);
    pacer.push(bytes(50));
    clock.advance(100);
    expect(player.sent).toHaveLength(2);
  });

  it('are filled up with the silence of their own format', () => {
    const { player, pacer } = setUp({ format: ALAW_8K });
    pacer.push(bytes(159));
    pacer.mark('end');
    expect(player.sent[0]?.bytes.at(-1)).toBe(0xd5);
  });

  it('are heard by the listener as they are, with the level of each', () => {
    const heard: number[][] = [];
    const passed: PlaybackListener['passed'] = (frame, { levels }, atMs) =>
      void heard.push([atMs, ...[...frame].map((byte) => levels[byte] ?? 0)]);
    const { pacer } = setUp({ listener: { played() {}, passed, markHeard() {}, cut() {}, sent() {} } });
    pacer.push(bytes(320));
    const levelsOf = (from: number) =>
      [...backend.mulawDecode(bytes(160, from))].map((sample) => sample >> 8);
    expect(heard).toEqual([
      [0, ...levelsOf(0)],
      [20, ...levelsOf(160)],
    ]);
  });

  it('leave as they lie, in the frames of their own chunk', () => {
    const { clock, player, pacer } = setUp();
    const chunk = Buffer.from(bytes(8000));
    pacer.push(chunk);
    clock.advance(2000);
    expect(player.heard()).toEqual(chunk);
    expect(player.sent.every(({ bytes: frame }) => frame.length === FRAME_BYTES)).toBe(true);
  });

  it('are metered as all audio is', () => {
    const { meters, late, queuedMs } = createMeters();
    const { clock, pacer } = setUp({ meters });
    pacer.push(bytes(8000));
    expect(queuedMs()).toBe(800);
    clock.advance(20);
    late.length = 0;
    clock.stall(65);
    clock.advance(0);
    expect(late).toEqual([45, 25, 5]);
    clock.advance(2000);
    expect(queuedMs()).toBe(0);
  });
});

describe('bytes of the line among audio of the house', () => {
  it('keep their order and the 20 ms of a frame', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (shapes) => {
        const { clock, player, pacer } = setUp();
        const pieces = makePieces(shapes);
        for (const each of pieces) pacer.push(each);
        const contentMs = msOf(pieces);
        expect(pacer.pushedMs).toBe(contentMs);
        clock.advance(contentMs + 20 * pieces.length + 1000);
        expect(sentBy(player)).toEqual(Buffer.from(expectedBytes(pieces)));
        expect(pacer.playedMs).toBe(contentMs);
      }),
      { numRuns: runs(30, 100) },
    );
  });

  it('are dropped by a clear wherever it comes, and what is pushed behind it begins anew', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }),
        fc.array(piece, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 600 }),
        (before, behind, clearAtMs) => {
          const { clock, player, pacer, echoed } = setUp();
          for (const each of makePieces(before)) pacer.push(each);
          pacer.mark('before');
          clock.advance(clearAtMs);
          const sent = player.sent.length;
          const wasHeard = echoed.length === 1;
          const playedMs = pacer.clear();
          expect(player.clears).toBe(wasHeard ? 0 : 1);
          expect([pacer.pushedMs, pacer.playedMs]).toEqual([playedMs, playedMs]);
          const pieces = makePieces(behind);
          for (const each of pieces) pacer.push(each);
          pacer.mark('behind');
          clock.advance(2000);
          const after = Buffer.concat(player.sent.slice(sent).map((frame) => frame.bytes));
          expect(after).toEqual(Buffer.from(expectedBytes(pieces)));
          expect(echoed).toEqual(wasHeard ? ['before', 'behind'] : ['behind']);
        },
      ),
      { numRuns: runs(30, 100) },
    );
  });
});

describe('audio of the house on a telephone line', () => {
  it('is whole though it comes sample by sample to a caller who hears nothing', () => {
    const { clock, player, pacer } = setUp();
    const said = tone(640);
    for (const sample of said) pacer.push(Int16Array.of(sample));
    clock.advance(1000);
    expect(sentBy(player)).toEqual(Buffer.from(expectedBytes([said])));
  });

  it('begins anew behind a pause, also with a single sample', () => {
    const { clock, player, pacer } = setUp();
    const [first, second] = [tone(640), tone(640, 1000)];
    pacer.push(first);
    clock.advance(1000);
    for (const sample of second) pacer.push(Int16Array.of(sample));
    clock.advance(1000);
    const whole = [first, second].map((said) => Buffer.from(expectedBytes([said])));
    expect(sentBy(player)).toEqual(Buffer.concat(whole));
  });

  it('goes on behind a pause as if there had been none, wherever that comes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 700 }),
        fc.integer({ min: 1, max: 9000 }),
        (pauseAtMs, length) => {
          const { clock, player, pacer } = setUp();
          const said = tone(length);
          pacer.push(said);
          clock.advance(pauseAtMs);
          pacer.pause();
          clock.advance(300);
          pacer.resume();
          clock.advance(2000);
          const whole = Buffer.from(expectedBytes([said]));
          // What was not heard is said again, from the byte on in which the pause came.
          expect(player.heard().subarray(0, length / 2)).toEqual(whole.subarray(0, length / 2));
        },
      ),
      { numRuns: runs(30, 200) },
    );
  });

  it('waits for a line in samples, and keeps its marks also where half a byte is left', () => {
    const { clock, pacer, echoed } = setUp();
    pacer.detach();
    const said = tone(1601);
    pacer.push(said.subarray(0, 801));
    pacer.mark('half');
    pacer.push(said.subarray(801));
    pacer.mark('end');
    const onMark = (name: string) => {
      if (pacer.markEchoed(name)) echoed.push(name);
    };
    const player = new CarrierPlayer({ clock, bytesPerMs: 8, onMark });
    pacer.attach({ converter: createOutboundConverter(MULAW_8K, backend), sink: player });
    clock.advance(1000);
    expect(echoed).toEqual(['half', 'end']);
    expect(player.heard()).toHaveLength(5 * FRAME_BYTES);
    expect(pacer.playedMs).toBe(pacer.pushedMs);
  });
});

describe('a line whose bytes cannot go through', () => {
  it.each([
    ['carries PCM', PCM_16K, undefined],
    ['carries mu-law', MULAW_8K, MULAW_8K],
    ['carries A-law', ALAW_8K, ALAW_8K],
    ['carries mu-law of another rate', { encoding: 'mulaw', sampleRateHz: 16_000 } as const, undefined],
  ])('says so: %s', (_, format, lineFormat) => {
    const { pacer } = setUp({ format });
    expect(pacer.lineFormat).toEqual(lineFormat);
  });

  it('drops them, as one that is away does', () => {
    const { clock, player, pacer } = setUp({ format: PCM_16K });
    pacer.push(bytes(1600));
    expect([pacer.pushedMs, player.sent]).toEqual([0, []]);
    const other = new CarrierPlayer({ clock, bytesPerMs: 8 });
    pacer.attach({ converter: createOutboundConverter(MULAW_8K, backend), sink: other });
    expect(pacer.lineFormat).toEqual(MULAW_8K);
    pacer.push(bytes(160));
    expect(other.sent.map((frame) => frame.bytes)).toEqual([bytes(160)]);
    pacer.detach();
    expect(pacer.lineFormat).toBeUndefined();
    pacer.push(bytes(160));
    pacer.attach({ converter: createOutboundConverter(MULAW_8K, backend), sink: other });
    clock.advance(1000);
    expect(other.sent).toHaveLength(1);
    pacer.close();
    expect(pacer.lineFormat).toBeUndefined();
  });
});
