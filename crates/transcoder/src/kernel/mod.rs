//! One FIR over samples, many outputs at a time, in exact integers.
//!
//! A tap is an integer `c = high * 2^10 + low`, both halves 16-bit. Over all taps of a filter
//! `sum |high| * 2^15 + sum |low| * 2^15 / 2^10 + 2^11 < 2^31` and `sum |low| * 2^15 < 2^31` ([`Fir::new`] is only given
//! such taps; a test checks each). So the two sums of 16 by 16 bit products never leave 32 bits, in any order, and
//!
//! ```text
//! (high + (low >> 10) + 2^11) >> 12  =  floor((high * 2^10 + low) / 2^22 + 1/2)
//! ```
//!
//! is the exact sum, rounded once (a floor of a floor is the floor), then saturated. Nothing else rounds. Sums of
//! integers do not depend on their order, so every instruction set gives the same samples, and so does JavaScript, whose
//! doubles hold these sums exactly too: terms are multiples of 2^-22 below 2^17, 39 of 53 bits.
//!
//! Outputs stand side by side in the vector lanes. For a pair of taps (c0, c1) the samples from n on, taken in pairs, are
//! what the outputs n, n+2, n+4 ... need; the samples from n+1 on serve the outputs between them.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;

use crate::filters::{SCALE_BITS, SPLIT_BITS};

/// Outputs come in multiples of this many.
pub(crate) const BLOCK_OUTPUTS: usize = 32;
/// What is left to shift once the halves are together.
const FINAL_BITS: u32 = SCALE_BITS - SPLIT_BITS;
/// One half, at that point.
const ROUNDING: i32 = 1 << (FINAL_BITS - 1);

/// Two neighbouring taps and where their samples stand for the first output.
#[derive(Clone, Copy, Debug)]
struct TapPair {
    at: usize,
    high: [i16; 2],
    low: [i16; 2],
}

/// A filter: for output n, the sum over all taps of `tap * samples[at + n]`.
#[derive(Debug)]
pub(crate) struct Fir {
    pairs: Vec<TapPair>,
    /// One past the furthest sample that output 0 reads.
    reach: usize,
}

impl Fir {
    /// Taps as `(at, tap)`, in any order. Neighbours are paired; a lone tap gets a zero beside it.
    pub(crate) fn new(mut taps: Vec<(usize, i32)>) -> Self {
        taps.sort_unstable_by_key(|&(at, _)| at);
        let mut pairs = Vec::new();
        let mut taps = taps.into_iter().peekable();
        while let Some((at, first)) = taps.next() {
            let second = taps.next_if(|&(next, _)| next == at + 1);
            let (high0, low0) = split(first);
            let (high1, low1) = split(second.map_or(0, |(_, tap)| tap));
            pairs.push(TapPair {
                at,
                high: [high0, high1],
                low: [low0, low1],
            });
        }
        let reach = pairs.iter().map(|pair| pair.at + 2).max().unwrap_or(0);
        Fir { pairs, reach }
    }

    /// Fills `output`, whose length is a multiple of [`BLOCK_OUTPUTS`], from `samples`.
    /// Outputs whose samples are not all there are left alone.
    pub(crate) fn run(&self, set: InstructionSet, samples: &[i16], output: &mut [i16]) {
        let available = (samples.len() + 1).saturating_sub(self.reach);
        let count = output.len().min(available) / BLOCK_OUTPUTS * BLOCK_OUTPUTS;
        let output = &mut output[..count];
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => avx2::run(self, samples, output),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Sse2 => sse2::run(self, samples, output),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            InstructionSet::Simd128 => simd128::run(self, samples, output),
            _ => scalar::run(self, samples, output),
        }
    }

    #[cfg(test)]
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.pairs.iter().map(|pair| pair.at)
    }
}

/// `tap = high * 2^SPLIT_BITS + low`, the low half signed.
fn split(tap: i32) -> (i16, i16) {
    let half = 1 << (SPLIT_BITS - 1);
    let high = (tap + half) >> SPLIT_BITS;
    (high as i16, (tap - (high << SPLIT_BITS)) as i16)
}

/// The one rounding of the crate.
#[inline(always)]
fn round(high: i32, low: i32) -> i16 {
    let sum = (high + (low >> SPLIT_BITS) + ROUNDING) >> FINAL_BITS;
    sum.clamp(-32768, 32767) as i16
}

/// Which implementation of the kernel runs. All give the same samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionSet {
    /// Plain Rust.
    Scalar,
    /// 128-bit vectors of x86-64, present on every such processor.
    Sse2,
    /// 256-bit vectors of x86-64.
    Avx2,
    /// 128-bit vectors of WebAssembly, chosen when the module is built.
    Simd128,
}

impl InstructionSet {
    /// All that this processor can run, the fastest last.
    pub fn available() -> &'static [InstructionSet] {
        #[cfg(target_arch = "x86_64")]
        {
            use InstructionSet::{Avx2, Scalar, Sse2};
            if std::arch::is_x86_feature_detected!("avx2") {
                &[Scalar, Sse2, Avx2]
            } else {
                &[Scalar, Sse2]
            }
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        {
            &[InstructionSet::Scalar, InstructionSet::Simd128]
        }
        #[cfg(not(any(
            target_arch = "x86_64",
            all(target_arch = "wasm32", target_feature = "simd128")
        )))]
        {
            &[InstructionSet::Scalar]
        }
    }

    /// The fastest that this processor can run.
    pub fn best() -> InstructionSet {
        Self::available()
            .last()
            .copied()
            .unwrap_or(InstructionSet::Scalar)
    }

    /// This one where it can run, otherwise the plain one.
    pub(crate) fn or_scalar(self) -> InstructionSet {
        if Self::available().contains(&self) {
            self
        } else {
            InstructionSet::Scalar
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::FILTERS;

    #[test]
    fn halves_put_together_are_the_tap() {
        for tap in FILTERS.iter().flat_map(|filter| filter.half).copied() {
            let (high, low) = split(tap);
            assert_eq!((i32::from(high) << SPLIT_BITS) + i32::from(low), tap);
        }
    }

    #[test]
    fn no_sum_of_any_samples_leaves_32_bits() {
        for filter in &FILTERS {
            let weight = |part: fn((i16, i16)) -> i16| -> i64 {
                let sides = filter.half[1..]
                    .iter()
                    .map(|&tap| 2 * i64::from(part(split(tap)).abs()));
                i64::from(part(split(filter.half[0])).abs()) + sides.sum::<i64>()
            };
            // Over all branches together, which is more than any branch has.
            let high = weight(|halves| halves.0) << 15;
            let low = weight(|halves| halves.1) << 15;
            assert!(low < 1 << 31, "{filter:?} {low}");
            assert!(
                high + (low >> SPLIT_BITS) + i64::from(ROUNDING) < 1 << 31,
                "{filter:?} {high}"
            );
        }
    }
}
