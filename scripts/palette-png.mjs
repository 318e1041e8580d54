// A picture with few colors, as a PNG with a palette: a third of the size of what a browser writes. Knows the one kind of PNG that a browser
// writes: eight bits, RGB or RGBA, not interlaced. Source: PNG specification, third edition.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** So many colors are kept, the most frequent ones; every other becomes the nearest of them. */
const COLORS = 128;

/** @param {Buffer} png @returns {Buffer} */
export function withPalette(png) {
  const { width, height, pixels } = decode(png);
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLORS)
    .map(([color]) => color);
  const places = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x] ?? 0) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** @param {readonly number[]} palette @param {number} color */
function nearest(palette, color) {
  /** @param {number} other */
  const distance = (other) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((color >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
  return palette.reduce(
    (best, other, place) => (distance(other) < distance(palette[best] ?? 0) ? place : best),
    0,
  );
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  whole.set(body, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** The pixels as numbers, `0xRRGGBB`. @param {Buffer} png */
function decode(png) {
  const [width, height, depth, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]];
  if (depth !== 8 || (kind !== 2 && kind !== 6)) throw new Error('This is no PNG that a browser writes.');
  const size = kind === 6 ? 4 : 3;
  const packed = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      packed.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const rows = inflateSync(Buffer.concat(packed));
  const stride = width * size;
  const bytes = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y += 1) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < size ? 0 : (bytes[at - size] ?? 0);
      const up = y === 0 ? 0 : (bytes[at - stride] ?? 0);
      const corner = x < size || y === 0 ? 0 : (bytes[at - stride - size] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      bytes[at] = (rows[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  const pixels = new Uint32Array(width * height);
  for (let index = 0; index < pixels.length; index += 1) pixels[index] = bytes.readUIntBE(index * size, 3);
  return { width, height, pixels };
}

/** @param {number} left @param {number} up @param {number} corner */
function paeth(left, up, corner) {
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
  if (a === undefined || b === undefined || c === undefined) return 0;
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
