//! G.711 A-law. Source: ITU-T G.711, tables 1a and 1b; negative samples go by their ones' complement as in the ITU-T
//! reference code (G.191). Codes travel with every even bit inverted.

use crate::error::{take_output, Error};
use crate::kernel::widest;

const EVEN_BITS: u8 = 0x55;
/// `(127 + 7) << 4`: a magnitude of 2^8, the first of segment 1, becomes code 16.
const FIRST_SEGMENT: u32 = (127 + 7) << 4;

/// Shifts by the segment, where there is one to shift by, are made of factors as in mu-law.
#[inline(always)]
const fn expand(code: u8) -> i16 {
    let bits = (code ^ EVEN_BITS) as u16;
    let shift = (bits >> 4 & 7).saturating_sub(1);
    let scale = (1 + (shift & 1)) * (1 + (shift >> 1 & 1) * 3) * (1 + (shift >> 2) * 15);
    let beyond = if bits >> 4 & 7 == 0 { 0 } else { 256 };
    let magnitude = ((bits & 15) * 16 + 8 + beyond) * scale;
    let sign = (bits >> 7).wrapping_sub(1);
    (magnitude ^ sign).wrapping_sub(sign) as i16
}

const TABLE: [i16; 256] = {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = expand(code as u8);
        code += 1;
    }
    table
};

/// The linear value of one code, in ±32256.
#[inline(always)]
pub fn decode_sample(code: u8) -> i16 {
    TABLE[code as usize]
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
    let output = take_output(output, input.len())?;
    widest(|| {
        for (sample, &code) in output.iter_mut().zip(input) {
            // Vectors of x86-64 are ahead of the table, those of WebAssembly are not.
            *sample = if cfg!(target_arch = "x86_64") {
                expand(code)
            } else {
                decode_sample(code)
            };
        }
    });
    Ok(input.len())
}

/// Encodes linear PCM as A-law: one sample in, one byte out. Returns the number of bytes.
pub fn encode(input: &[i16], output: &mut [u8]) -> Result<usize, Error> {
    let output = take_output(output, input.len())?;
    widest(|| {
        for (code, &sample) in output.iter_mut().zip(input) {
            *code = encode_sample(sample);
        }
    });
    Ok(input.len())
}
