//! One FIR over samples, many outputs at a time, in exact integers.
//!
//! A large tap is split into `c = high * 2^7 + low`, a small one is all `low`, and every part has 16 bits. For each filter
//! `sum |low| < 2^16` and `sum |high| * 2^15 + 2^24 + 2^12 < 2^31` ([`Fir::new`] sees to the first, a test to the second).
//! So the two sums of 16 by 16 bit products never leave 32 bits, in any order, and
//!
//! ```text
//! (high + (low >> 7) + 2^12) >> 13  =  floor((high * 2^7 + low) / 2^20 + 1/2)
//! ```
//!
//! is the exact sum, rounded once (a floor of a floor is the floor), then saturated. Nothing else rounds. Sums of
//! integers do not depend on their order, so every instruction set gives the same samples, and so does JavaScript, whose
//! doubles hold these sums exactly too: terms are multiples of 2^-20 below 2^17, 37 of 53 bits.
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

#[cfg(target_arch = "x86_64")]
use avx2 as vectors;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
use scalar as vectors;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128 as vectors;

use crate::companding::Law;
use crate::filters::{SCALE_BITS, SPLIT_BITS};

/// Outputs come in multiples of this many.
pub(crate) const BLOCK_OUTPUTS: usize = 32;
/// What is left to shift once the halves are together.
const FINAL_BITS: u32 = SCALE_BITS - SPLIT_BITS;
/// The weights of all low parts together stay below this: 16-bit samples then give a sum within 32 bits.
const LOW_WEIGHT_LIMIT: i32 = 1 << 16;
/// One half, at that point.
const ROUNDING: i32 = 1 << (FINAL_BITS - 1);

/// The parts of two neighboring taps, the first in the lower half, as vectors take them.
type Packed = i32;

/// Two neighboring large taps and where their samples stand for the first output.
#[derive(Clone, Copy, Debug)]
struct LargePair {
    at: usize,
    high: Packed,
    low: Packed,
}

/// Two neighboring small taps and where their samples stand for the first output.
#[derive(Clone, Copy, Debug)]
struct SmallPair {
    at: usize,
    low: Packed,
}

/// A filter: for output n, the sum over all taps of `tap * samples[at + n]`.
#[derive(Debug)]
pub(crate) struct Fir {
    large: Vec<LargePair>,
    small: Vec<SmallPair>,
    /// One past the furthest sample that output 0 reads.
    reach: usize,
}

impl Fir {
    /// Taps as `(at, tap)`, in any order. Neighbors are paired; a lone tap gets a zero beside it.
    pub(crate) fn new(mut taps: Vec<(usize, i32)>) -> Self {
        sort(&mut taps, |&(at, _)| at);
        let mut pairs = Vec::new();
        let mut taps = taps.into_iter().peekable();
        while let Some((at, first)) = taps.next() {
            let second = taps.next_if(|&(next, _)| next == at + 1);
            pairs.push((at, [first, second.map_or(0, |(_, tap)| tap)]));
        }
        let reach = pairs.iter().map(|&(at, _)| at + 2).max().unwrap_or(0);

        // The smallest taps first, as many as the low sum has room for.
        sort(&mut pairs, |&(_, [first, second])| {
            first.abs().max(second.abs())
        });
        let weight = |parts: [i32; 2]| parts[0].abs() + parts[1].abs();
        let mut low_weight: i32 = pairs.iter().map(|&(_, taps)| weight(taps.map(low))).sum();
        let mut fir = Fir {
            large: Vec::new(),
            small: Vec::new(),
            reach,
        };
        for (at, taps) in pairs {
            let with_it_small = low_weight - weight(taps.map(low)) + weight(taps);
            if with_it_small < LOW_WEIGHT_LIMIT && taps.iter().all(|tap| tap.abs() <= 32767) {
                low_weight = with_it_small;
                fir.small.push(SmallPair {
                    at,
                    low: pack(taps),
                });
            } else {
                fir.large.push(LargePair {
                    at,
                    high: pack(taps.map(high)),
                    low: pack(taps.map(low)),
                });
            }
        }
        sort(&mut fir.large, |pair| pair.at);
        sort(&mut fir.small, |pair| pair.at);
        fir
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
        let large = self.large.iter().map(|pair| pair.at);
        large.chain(self.small.iter().map(|pair| pair.at))
    }
}

/// `tap = high * 2^SPLIT_BITS + low`, the low part signed.
fn high(tap: i32) -> i32 {
    (tap + (1 << (SPLIT_BITS - 1))) >> SPLIT_BITS
}

/// See [`high`].
fn low(tap: i32) -> i32 {
    tap - (high(tap) << SPLIT_BITS)
}

/// By insertion: the lists are short, and the standard library's sorts would be a third of the WebAssembly module.
fn sort<T, K: PartialOrd>(items: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && key(&items[at - 1]) > key(&items[at]) {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Two 16-bit numbers side by side.
fn pack([first, second]: [i32; 2]) -> Packed {
    first & 0xffff | second << 16
}

/// What [`pack`] put together.
#[inline(always)]
fn unpack(pair: Packed) -> [i32; 2] {
    [i32::from(pair as i16), pair >> 16]
}

/// The one rounding of the crate.
#[inline(always)]
fn round(high: i32, low: i32) -> i16 {
    let sum = (high + (low >> SPLIT_BITS) + ROUNDING) >> FINAL_BITS;
    sum.clamp(-32768, 32767) as i16
}

/// Expands codes from the start of `input` on, as many as fill whole vectors of this processor. Returns how many.
#[inline]
pub(crate) fn expand_blocks(law: &Law, input: &[u8], output: &mut [i16]) -> usize {
    vectors::expand(law, input, output)
}

/// Compresses samples as [`expand_blocks`] expands codes.
#[inline]
pub(crate) fn compress_blocks(law: &Law, input: &[i16], output: &mut [u8]) -> usize {
    vectors::compress(law, input, output)
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

    fn filters() -> Vec<Fir> {
        let plans = crate::filters::FILTERS
            .iter()
            .map(|filter| crate::plan::Plan::find(filter.from_hz, filter.to_hz).unwrap());
        plans
            .flat_map(|plan| plan.phases.iter())
            .filter_map(|phase| match phase {
                crate::plan::Phase::Filter(fir) => Some(Fir {
                    large: fir.large.clone(),
                    small: fir.small.clone(),
                    reach: fir.reach,
                }),
                crate::plan::Phase::Copy(_) => None,
            })
            .collect()
    }

    #[test]
    fn parts_put_together_are_the_tap() {
        for tap in crate::filters::FILTERS
            .iter()
            .flat_map(|filter| filter.half)
            .copied()
        {
            assert_eq!((high(tap) << SPLIT_BITS) + low(tap), tap);
            for part in [high(tap), low(tap)] {
                assert_eq!(unpack(pack([part, -part])), [part, -part]);
            }
        }
    }

    #[test]
    fn no_sum_of_any_samples_leaves_32_bits() {
        for fir in filters() {
            let weigh = |pair: Packed| {
                unpack(pair)
                    .iter()
                    .map(|part| i64::from(part.abs()))
                    .sum::<i64>()
            };
            let high: i64 = fir.large.iter().map(|pair| weigh(pair.high)).sum();
            let low: i64 = fir.large.iter().map(|pair| weigh(pair.low)).sum::<i64>()
                + fir.small.iter().map(|pair| weigh(pair.low)).sum::<i64>();
            assert!(low << 15 < 1 << 31, "{low}");
            assert!(
                (high << 15) + (1 << (31 - SPLIT_BITS)) + i64::from(ROUNDING) < 1 << 31,
                "{high}"
            );
        }
    }
}
