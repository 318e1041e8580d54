//! What the two laws of G.711 have in common: a code is a sign, one of eight segments and one of sixteen steps in it. Here
//! are the numbers that the laws differ in, and the work on whole slices. Vectors look up and multiply where the laws'
//! own functions take a table or count bits; tests hold the one against the other for every code and every sample.

// Some of the numbers are for vectors only.
#![cfg_attr(
    not(any(target_arch = "x86_64", target_feature = "simd128")),
    allow(dead_code)
)]

use crate::kernel::{compress_blocks, expand_blocks};

/// How many bits a number of four bits has.
pub(crate) const BITS_OF_LOWER: [u8; 16] = [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4];
/// How many bits a byte has whose upper four bits these are; 0 where those below decide.
pub(crate) const BITS_OF_UPPER: [u8; 16] = [0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8];

/// One of the two laws. Numbers of 16 bits are kept as their two bytes, as look-ups in vectors take them.
pub(crate) struct Law {
    /// Bits of a code that travel inverted. With those put right the upper four bits are sign and segment, the place in
    /// `start` and `step`, and the lower four count steps.
    pub(crate) inverted: u8,
    pub(crate) start_low: [u8; 16],
    pub(crate) start_high: [u8; 16],
    pub(crate) step_low: [u8; 16],
    pub(crate) step_high: [u8; 16],
    /// The code of sample 0.
    pub(crate) zero: u8,
    /// Added to a magnitude, so that segments begin at powers of two: segment s, but the first, at 2^(s + 7).
    pub(crate) bias: i16,
    /// By segment: what takes the four bits of the step to bits 10 to 13.
    pub(crate) factor: [u8; 16],
    /// The value of every code.
    table: [i16; 256],
}

impl Law {
    /// The law of a table of values. `first_step_bits` is how many bits stand below the step in the first segment.
    pub(crate) const fn new(
        table: [i16; 256],
        inverted: u8,
        zero: u8,
        bias: i16,
        first_step_bits: u32,
    ) -> Self {
        let mut law = Law {
            inverted,
            start_low: [0; 16],
            start_high: [0; 16],
            step_low: [0; 16],
            step_high: [0; 16],
            zero,
            bias,
            factor: [0; 16],
            table,
        };
        let mut place = 0;
        while place < 16 {
            let first = (place as u8) << 4;
            let start = table[(first ^ inverted) as usize];
            let step = table[((first | 1) ^ inverted) as usize] - start;
            [law.start_low[place], law.start_high[place]] = start.to_le_bytes();
            [law.step_low[place], law.step_high[place]] = step.to_le_bytes();
            place += 1;
        }
        law.factor[0] = 1 << (10 - first_step_bits);
        let mut segment = 1;
        while segment < 8 {
            law.factor[segment] = 1 << (7 - segment);
            segment += 1;
        }
        law
    }

    /// The value of one code.
    #[inline(always)]
    pub(crate) fn expand(&self, code: u8) -> i16 {
        self.table[code as usize]
    }

    /// The values of codes. Slices of one length.
    pub(crate) fn expand_all(&self, input: &[u8], output: &mut [i16]) {
        let done = expand_blocks(self, input, output);
        for (sample, &code) in output[done..].iter_mut().zip(&input[done..]) {
            *sample = self.expand(code);
        }
    }

    /// The codes of samples; `compress` gives that of one. Slices of one length.
    pub(crate) fn compress_all(
        &self,
        input: &[i16],
        output: &mut [u8],
        compress: impl Fn(i16) -> u8,
    ) {
        let done = compress_blocks(self, input, output);
        for (code, &sample) in output[done..].iter_mut().zip(&input[done..]) {
            *code = compress(sample);
        }
    }
}
