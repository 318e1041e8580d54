//! G.711 mu-law. Source: ITU-T G.711, tables 2a and 2b; at a decision value exactly, and for the low bits that 14-bit
//! samples do not have, negative samples go by their ones' complement as in the ITU-T reference code (G.191).

use crate::companding::Law;
use crate::error::{take_output, Error};

/// Bias of the 16-bit magnitude: segment borders become powers of two.
const BIAS: i32 = 132;
/// Exponent field and leading one of a float that holds the smallest biased magnitude, 2^7: `(127 + 7) << 4`.
const FIRST_SEGMENT: u32 = (127 + 7) << 4;

pub(crate) static LAW: Law = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        let bits = !(code as u8);
        let (segment, step) = (bits >> 4 & 7, bits as i16 & 15);
        let magnitude = ((step * 8 + BIAS as i16) << segment) - BIAS as i16;
        table[code] = if bits & 0x80 == 0 {
            magnitude
        } else {
            -magnitude
        };
        code += 1;
    }
    Law::new(table, 0xff, 0xff, BIAS as i16, 3)
};

/// The linear value of one code, in ±32124.
#[inline(always)]
pub fn decode_sample(code: u8) -> i16 {
    LAW.expand(code)
}

/// The code of one linear sample.
///
/// The biased magnitude as a float has the segment in its exponent and the step in the top four bits of its mantissa.
/// The conversion is exact (below 2^24), and compilers turn a loop over it into vector code.
#[inline(always)]
pub fn encode_sample(sample: i16) -> u8 {
    let sign = i32::from(sample) >> 15;
    let magnitude = (i32::from(sample) ^ sign) + BIAS;
    let biased = if magnitude > 32767 { 32767 } else { magnitude };
    let code = ((biased as f32).to_bits() >> 19).wrapping_sub(FIRST_SEGMENT);
    // Codes travel inverted; 0x80 stands for "not negative" then.
    !(code as u8) & 0x7f | (!sign as u8) & 0x80
}

/// Decodes mu-law to linear PCM: one byte in, one sample out, range ±32124. Returns the number of samples.
pub fn decode(input: &[u8], output: &mut [i16]) -> Result<usize, Error> {
    LAW.expand_all(input, take_output(output, input.len())?);
    Ok(input.len())
}

/// Encodes linear PCM as mu-law: one sample in, one byte out. Returns the number of bytes.
pub fn encode(input: &[i16], output: &mut [u8]) -> Result<usize, Error> {
    LAW.compress_all(input, take_output(output, input.len())?, encode_sample);
    Ok(input.len())
}
