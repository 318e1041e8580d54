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
        for pair in &fir.large {
            let (high_taps, low_taps) = (_mm_set1_epi32(pair.high), _mm_set1_epi32(pair.low));
            // SAFETY: `run` has checked that all samples of the block are there.
            let windows = unsafe { windows(samples, pair.at + block * WIDTH) };
            for (lane, window) in windows.into_iter().enumerate() {
                high[lane] = _mm_add_epi32(high[lane], _mm_madd_epi16(window, high_taps));
                low[lane] = _mm_add_epi32(low[lane], _mm_madd_epi16(window, low_taps));
            }
        }
        for pair in &fir.small {
            let low_taps = _mm_set1_epi32(pair.low);
            // SAFETY: as above.
            let windows = unsafe { windows(samples, pair.at + block * WIDTH) };
            for (lane, window) in windows.into_iter().enumerate() {
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

/// The samples that a pair of taps meets: for even and odd outputs, twice.
///
/// # Safety
/// `samples` must go on for `WIDTH + 1` samples from `from` on. They do for every pair and block:
/// `from + WIDTH <= pair.at + output.len() <= fir.reach + output.len() - 2 < samples.len()`.
#[inline]
#[target_feature(enable = "sse2")]
unsafe fn windows(samples: &[i16], from: usize) -> [__m128i; 4] {
    // SAFETY: the four together read what the caller vouches for.
    unsafe {
        let first = samples.as_ptr().add(from);
        [
            _mm_loadu_si128(first.cast()),
            _mm_loadu_si128(first.add(1).cast()),
            _mm_loadu_si128(first.add(8).cast()),
            _mm_loadu_si128(first.add(9).cast()),
        ]
    }
}
