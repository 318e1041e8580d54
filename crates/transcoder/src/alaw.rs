//! G.711 A-law. Source: ITU-T G.711, tables 1a and 1b; negative samples go by their ones' complement as in the ITU-T
//! reference code (G.191). Codes travel with every even bit inverted.

use crate::companding::Law;
use crate::error::{take_output, Error};

const EVEN_BITS: u8 = 0x55;
/// `(127 + 7) << 4`: a magnitude of 2^8, the first of segment 1, becomes code 16.
const FIRST_SEGMENT: u32 = (127 + 7) << 4;

static LAW: Law = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        let bits = code as u8 ^ EVEN_BITS;
        let step = (bits & 15) as i16 * 16 + 8;
        let magnitude = match bits >> 4 & 7 {
            0 => step,
            segment => (step + 256) << (segment - 1),
        };
        table[code] = if bits & 0x80 == 0 {
            -magnitude
        } else {
            magnitude
        };
        code += 1;
    }
    Law::new(table, EVEN_BITS, EVEN_BITS ^ 0x80, 0, 4)
};

/// The linear value of one code, in ±32256.
#[inline(always)]
pub fn decode_sample(code: u8) -> i16 {
    LAW.expand(code)
}

/// The code of one linear sample. As in mu-law, a float's exponent is the segment; below 256 the scale is linear.
#[inline(always)]
pub fn encode_sample(sample: i16) -> u8 {
    let sign = i32::from(sample) >> 15;
    let magnitude = i32::from(sample) ^ sign;
    let logarithmic = ((magnitude as f32).to_bits() >> 19).wrapping_sub(FIRST_SEGMENT);
    let linear = (magnitude >> 4) as u32;
    let code = if magnitude < 256 { linear } else { logarithmic };
    (code as u8 & 0x7f | (!sign as u8) & 0x80) ^ EVEN_BITS
}

/// Decodes A-law to linear PCM: one byte in, one sample out, range ±32256. Returns the number of samples.
pub fn decode(input: &[u8], output: &mut [i16]) -> Result<usize, Error> {
    LAW.expand_all(input, take_output(output, input.len())?);
    Ok(input.len())
}

/// Encodes linear PCM as A-law: one sample in, one byte out. Returns the number of bytes.
pub fn encode(input: &[i16], output: &mut [u8]) -> Result<usize, Error> {
    LAW.compress_all(input, take_output(output, input.len())?, encode_sample);
    Ok(input.len())
}
