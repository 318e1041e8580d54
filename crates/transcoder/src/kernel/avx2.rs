//! The kernel for AVX2: 32 outputs at a time in four vectors of eight sums, each twice (high and low halves of the taps).
#![allow(unsafe_code)]

use super::{Fir, BLOCK_OUTPUTS, FINAL_BITS, ROUNDING, SPLIT_BITS};
use std::arch::x86_64::*;

/// Requires `fir.reach + output.len() <= samples.len() + 1` and whole blocks, as [`Fir::run`] sees to.
pub(super) fn run(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    assert!(output.is_empty() || fir.reach + output.len() <= samples.len() + 1);
    assert!(output.len().is_multiple_of(BLOCK_OUTPUTS));
    // SAFETY: `InstructionSet::or_scalar` lets this set through only where the processor has AVX2.
    unsafe { blocks(fir, samples, output) }
}

#[target_feature(enable = "avx2")]
fn blocks(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(BLOCK_OUTPUTS).enumerate() {
        let mut high = [_mm256_setzero_si256(); 4];
        let mut low = [_mm256_setzero_si256(); 4];
        for pair in &fir.pairs {
            let [high0, high1] = pair.high;
            let [low0, low1] = pair.low;
            let high_taps = _mm256_set1_epi32(i32::from(high0 as u16) | i32::from(high1) << 16);
            let low_taps = _mm256_set1_epi32(i32::from(low0 as u16) | i32::from(low1) << 16);
            let from = pair.at + block * BLOCK_OUTPUTS;
            for (lane, offset) in [0, 1, 16, 17].into_iter().enumerate() {
                // SAFETY: of the block's samples from `pair.at` on, as many are read as it has outputs, and one more:
                // below `fir.reach + output.len() - 1`, which `run` has checked to be within `samples`.
                let window =
                    unsafe { _mm256_loadu_si256(samples.as_ptr().add(from + offset).cast()) };
                high[lane] = _mm256_add_epi32(high[lane], _mm256_madd_epi16(window, high_taps));
                low[lane] = _mm256_add_epi32(low[lane], _mm256_madd_epi16(window, low_taps));
            }
        }
        let half = _mm256_set1_epi32(ROUNDING);
        let sums: [__m256i; 4] = std::array::from_fn(|lane| {
            let low = _mm256_srai_epi32::<{ SPLIT_BITS as i32 }>(low[lane]);
            let sum = _mm256_add_epi32(_mm256_add_epi32(high[lane], low), half);
            _mm256_srai_epi32::<{ FINAL_BITS as i32 }>(sum)
        });
        for (part, to) in outputs.chunks_exact_mut(16).enumerate() {
            // Even outputs stand in the lower, odd ones in the upper half of each 128-bit lane: zip them.
            let packed = _mm256_packs_epi32(sums[2 * part], sums[2 * part + 1]);
            let zipped = _mm256_unpacklo_epi16(packed, _mm256_bsrli_epi128::<8>(packed));
            // SAFETY: `to` is exactly one vector long.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), zipped) };
        }
    }
}
