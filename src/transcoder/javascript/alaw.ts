// G.711 A-law by table. Source: ITU-T G.711, tables 1a and 1b; negative samples go by their ones' complement as in the
// ITU-T reference code (G.191). Codes travel with every even bit inverted.

const EVEN_BITS = 0x55;

const LINEAR = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ EVEN_BITS;
  const segment = (bits >> 4) & 7;
  const step = (bits & 15) << 4;
  const magnitude = segment === 0 ? step + 8 : (step + 0x108) << (segment - 1);
  return bits & 0x80 ? magnitude : -magnitude;
});

/** By the upper 12 bits of a sample. */
const CODES = Uint8Array.from({ length: 1 << 12 }, (_, index) => {
  const sample = (index << 20) >> 20;
  const magnitude = sample ^ (sample >> 31);
  const segment = Math.max(0, 28 - Math.clz32(magnitude));
  const step = (segment === 0 ? magnitude : magnitude >> (segment - 1)) & 15;
  return ((segment << 4) | step | (sample < 0 ? 0 : 0x80)) ^ EVEN_BITS;
});

/** As many samples as bytes. */
export function decodeAlaw(input: Uint8Array, output: Int16Array): void {
  for (let i = 0; i < input.length; i++) output[i] = LINEAR[input[i]!]!;
}

/** As many bytes as samples. */
export function encodeAlaw(input: Int16Array, output: Uint8Array): void {
  for (let i = 0; i < input.length; i++) output[i] = CODES[(input[i]! >> 4) & 0xfff]!;
}
