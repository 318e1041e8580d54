// G.711 mu-law by table. Source: ITU-T G.711, tables 2a and 2b; at a decision value exactly, and for the low bits that
// 14-bit samples do not have, negative samples go by their ones' complement as in the ITU-T reference code (G.191).

const BIAS = 33;

/** The samples of all codes. */
export const LINEAR = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code;
  const magnitude = ((((bits & 15) << 1) + BIAS) << ((bits >> 4) & 7)) - BIAS;
  return (code & 0x80 ? magnitude : -magnitude) * 4;
});

/** The codes of all samples, by their upper 14 bits. */
export const CODES = Uint8Array.from({ length: 1 << 14 }, (_, index) => {
  const sample = (index << 18) >> 18;
  const biased = Math.min((sample ^ (sample >> 31)) + BIAS, 0x1fff);
  const segment = 26 - Math.clz32(biased);
  const step = (biased >> (segment + 1)) & 15;
  return (~((segment << 4) | step) & 0x7f) | (sample < 0 ? 0 : 0x80);
});

/** As many samples as bytes. */
export function decodeMulaw(input: Uint8Array, output: Int16Array): void {
  for (let i = 0; i < input.length; i++) output[i] = LINEAR[input[i]!]!;
}

/** As many bytes as samples. */
export function encodeMulaw(input: Int16Array, output: Uint8Array): void {
  for (let i = 0; i < input.length; i++) output[i] = CODES[(input[i]! >> 2) & 0x3fff]!;
}
