import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { downmix, readWav, writeWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';
import { runs } from '../support/depth.js';

const ascii = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const u16 = (value: number) => [value & 255, (value >> 8) & 255];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
const chunk = (name: string, body: number[], size = body.length) => [
  ...ascii(name),
  ...u32(size),
  ...body,
  ...(body.length % 2 === 1 ? [0] : []),
];
const fmt = (tag: number, options: { channels?: number; rateHz?: number; bits?: number } = {}) => {
  const { channels = 1, rateHz = 8000, bits = 16 } = options;
  const block = (channels * bits) / 8;
  return [...u16(tag), ...u16(channels), ...u32(rateHz), ...u32(rateHz * block), ...u16(block), ...u16(bits)];
};
const extensible = (tag: number, bits: number) => [
  ...fmt(0xfffe, { bits }),
  ...u16(22),
  ...u16(bits),
  ...u32(4),
  ...u16(tag),
  ...[0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71],
];
const riff = (...chunks: number[][]) =>
  Uint8Array.from([...ascii('RIFF'), ...u32(0), ...ascii('WAVE'), ...chunks.flat()]);
const PCM = [...u16(1), ...u16(0xfffe), ...u16(300)];

describe('WAV files', () => {
  it('read back what was written, mono and stereo, at any rate', () => {
    const samples = fc.array(fc.integer({ min: -32768, max: 32767 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        samples,
        fc.option(samples),
        fc.constantFrom(8000, 16000, 24000, 44100, 48000),
        (left, right, rate) => {
          const channels = right === null ? [left] : [left, right];
          const audio = readWav(
            writeWav({ sampleRateHz: rate, channels: channels.map((c) => Int16Array.from(c)) }),
          );
          const length = Math.max(...channels.map((channel) => channel.length));
          expect(audio.sampleRateHz).toBe(rate);
          expect(audio.channels.map((channel) => [...channel])).toEqual(
            channels.map((channel) => [...channel, ...new Array<number>(length - channel.length).fill(0)]),
          );
        },
      ),
    );
  });

  it.each([
    ['plain PCM', riff(chunk('fmt ', fmt(1)), chunk('data', PCM))],
    ['an extensible header', riff(chunk('fmt ', extensible(1, 16)), chunk('data', PCM))],
    [
      'an odd chunk with its padding before the audio',
      riff(chunk('fmt ', fmt(1)), chunk('LIST', [1, 2, 3]), chunk('data', PCM)),
    ],
    ['chunks behind the audio', riff(chunk('fmt ', fmt(1)), chunk('data', PCM), chunk('LIST', [1, 2]))],
    ['a streamed file, size 0', riff(chunk('fmt ', fmt(1)), chunk('data', PCM, 0))],
    ['a streamed file, as of a live call', riff(chunk('fmt ', fmt(1)), chunk('data', PCM, 0xffffffd8))],
    ['a streamed file, size 0xFFFFFFFF', riff(chunk('fmt ', fmt(1)), chunk('data', PCM, 0xffffffff))],
    [
      'a streamed file cut inside a sample',
      riff(chunk('fmt ', fmt(1)), chunk('data', [...PCM, 7], 0).slice(0, -1)),
    ],
  ])('reads %s', (_, bytes) => {
    expect(readWav(bytes)).toEqual({ sampleRateHz: 8000, channels: [Int16Array.from([1, -2, 300])] });
  });

  it('reads a view that does not begin at an even byte', () => {
    const file = riff(chunk('fmt ', fmt(1)), chunk('data', PCM));
    const shifted = new Uint8Array(file.length + 1);
    shifted.set(file, 1);
    expect([...(readWav(shifted.subarray(1)).channels[0] ?? [])]).toEqual([1, -2, 300]);
  });

  it('decodes mu-law and A-law', () => {
    const codes = [0x80, 0x00, 0xff, 0xd5];
    const mulaw = readWav(riff(chunk('fmt ', fmt(7, { bits: 8 })), chunk('data', codes)));
    expect(mulaw.channels).toEqual([Int16Array.from([32124, -32124, 0, 716])]);
    const alaw = readWav(riff(chunk('fmt ', extensible(6, 8)), chunk('data', codes)));
    expect(alaw.channels).toEqual([transcoder.alawDecode(Uint8Array.from(codes))]);
  });

  it('is empty on purpose when a chunk follows an empty data chunk', () => {
    const bytes = riff(chunk('fmt ', fmt(1)), chunk('data', []), chunk('LIST', [1, 2, 3, 4]));
    expect(readWav(bytes).channels[0]).toHaveLength(0);
  });

  it.each([
    ['no RIFF', Uint8Array.from(ascii('OggS            ')), /RIFF/],
    ['a header only in part', Uint8Array.from(ascii('RIFF')), /shorter than a header/],
    [
      'audio cut off',
      riff(chunk('fmt ', fmt(1)), chunk('data', PCM, 500)),
      /cut off: 500 bytes .* 6 are there/,
    ],
    ['a chunk cut off', riff(chunk('fmt ', fmt(1)), chunk('LIST', [1], 90)), /cut off inside its "LIST"/],
    ['no fmt chunk', riff(chunk('LIST', [1, 2])), /no fmt chunk/],
    ['audio before its format', riff(chunk('data', PCM), chunk('fmt ', fmt(1))), /before the fmt/],
    ['no data chunk', riff(chunk('fmt ', fmt(1))), /no data chunk/],
    ['floating point', riff(chunk('fmt ', fmt(3, { bits: 32 })), chunk('data', PCM)), /format tag is 0x0003/],
    ['24 bits', riff(chunk('fmt ', fmt(1, { bits: 24 })), chunk('data', PCM)), /24 bits/],
    ['six channels', riff(chunk('fmt ', fmt(1, { channels: 6 })), chunk('data', PCM)), /6 channels/],
    ['no channel', riff(chunk('fmt ', fmt(1, { channels: 0 })), chunk('data', PCM)), /0 channels/],
    ['a rate of zero', riff(chunk('fmt ', fmt(1, { rateHz: 0 })), chunk('data', PCM)), /0 Hz/],
    ['a short fmt chunk', riff(chunk('fmt ', [1, 0])), /shorter than 16/],
    ['a short extensible fmt chunk', riff(chunk('fmt ', fmt(0xfffe))), /shorter than 40/],
  ])('refuses %s with a sentence', (_, bytes, sentence) => {
    expect(() => readWav(bytes)).toThrow(sentence);
    expect(() => readWav(bytes)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
  });

  it('never throws anything else, whatever the bytes', () => {
    const valid = [...riff(chunk('fmt ', fmt(1)), chunk('data', PCM))];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 8 }),
        fc.nat(valid.length),
        (edits, cut) => {
          const bytes = Uint8Array.from(valid);
          for (const [index, value] of edits) bytes[index] = value;
          try {
            readWav(bytes.subarray(0, cut));
          } catch (error) {
            expect(error).toMatchObject({ code: 'REQUEST_INVALID' });
          }
        },
      ),
      { numRuns: runs(150, 500) },
    );
  });

  it('mixes stereo down without overflow', () => {
    const audio = {
      sampleRateHz: 8000,
      channels: [Int16Array.of(32767, -32768, 100), Int16Array.of(32767, -32768, -50)],
    };
    expect([...downmix(audio)]).toEqual([32767, -32768, 25]);
  });
});
