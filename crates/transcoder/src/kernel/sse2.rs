//! The kernel for SSE2: 16 outputs at a time in four vectors of four sums, each twice (high and low halves of the taps).
#![allow(unsafe_code)]

use super::{Fir, BLOCK_OUTPUTS, FINAL_BITS, ROUNDING, SPLIT_BITS};
use std::arch::x86_64::*;

/// Outputs of one pass.
const WIDTH: usize = 16;

/// Requires `fir.reach + output.len() <= samples.len() + 1` and whole blocks, as [`Fir::run`] sees to.
pub(super) fn run(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    assert!(output.is_empty() || fir.reach + output.len() <= samples.len() + 1);
    assert!(output.len().is_multiple_of(BLOCK_OUTPUTS));
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { blocks(fir, samples, output) }
}

#[target_feature(enable = "sse2")]
fn blocks(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(WIDTH).enumerate() {
        let mut high = [_mm_setzero_si128(); 4];
        let mut low = [_mm_setzero_si128(); 4];
        for pair in &fir.pairs {
            let [high0, high1] = pair.high;
            let [low0, low1] = pair.low;
            let high_taps = _mm_set1_epi32(i32::from(high0 as u16) | i32::from(high1) << 16);
            let low_taps = _mm_set1_epi32(i32::from(low0 as u16) | i32::from(low1) << 16);
            let from = pair.at + block * WIDTH;
            for (lane, offset) in [0, 1, 8, 9].into_iter().enumerate() {
                // SAFETY: of the block's samples from `pair.at` on, as many are read as it has outputs, and one more:
                // below `fir.reach + output.len() - 1`, which `run` has checked to be within `samples`.
                let window = unsafe { _mm_loadu_si128(samples.as_ptr().add(from + offset).cast()) };
                high[lane] = _mm_add_epi32(high[lane], _mm_madd_epi16(window, high_taps));
                low[lane] = _mm_add_epi32(low[lane], _mm_madd_epi16(window, low_taps));
            }
        }
        let half = _mm_set1_epi32(ROUNDING);
        let sums: [__m128i; 4] = std::array::from_fn(|lane| {
            let low = _mm_srai_epi32::<{ SPLIT_BITS as i32 }>(low[lane]);
            let sum = _mm_add_epi32(_mm_add_epi32(high[lane], low), half);
            _mm_srai_epi32::<{ FINAL_BITS as i32 }>(sum)
        });
        for (part, to) in outputs.chunks_exact_mut(8).enumerate() {
            // Even outputs stand in the lower, odd ones in the upper half: zip them.
            let packed = _mm_packs_epi32(sums[2 * part], sums[2 * part + 1]);
            let zipped = _mm_unpacklo_epi16(packed, _mm_bsrli_si128::<8>(packed));
            // SAFETY: `to` is exactly one vector long.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), zipped) };
        }
    }
}
