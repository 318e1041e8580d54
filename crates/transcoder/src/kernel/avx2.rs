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

/// Runs `task`, compiled for AVX2 where it is inlined. `Err` gives it back where the processor lacks AVX2.
#[inline(always)]
pub(super) fn with_avx2<R, Task: FnOnce() -> R>(task: Task) -> Result<R, Task> {
    #[target_feature(enable = "avx2")]
    fn run<R>(task: impl FnOnce() -> R) -> R {
        task()
    }
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err(task);
    }
    // SAFETY: the processor has AVX2.
    Ok(unsafe { run(task) })
}

#[target_feature(enable = "avx2")]
fn blocks(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(BLOCK_OUTPUTS).enumerate() {
        let mut high = [_mm256_setzero_si256(); 4];
        let mut low = [_mm256_setzero_si256(); 4];
        for pair in &fir.large {
            let (high_taps, low_taps) = (_mm256_set1_epi32(pair.high), _mm256_set1_epi32(pair.low));
            // SAFETY: `run` has checked that all samples of the block are there.
            let windows = unsafe { windows(samples, pair.at + block * BLOCK_OUTPUTS) };
            for (lane, window) in windows.into_iter().enumerate() {
                high[lane] = _mm256_add_epi32(high[lane], _mm256_madd_epi16(window, high_taps));
                low[lane] = _mm256_add_epi32(low[lane], _mm256_madd_epi16(window, low_taps));
            }
        }
        for pair in &fir.small {
            let low_taps = _mm256_set1_epi32(pair.low);
            // SAFETY: as above.
            let windows = unsafe { windows(samples, pair.at + block * BLOCK_OUTPUTS) };
            for (lane, window) in windows.into_iter().enumerate() {
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

/// The samples that a pair of taps meets: for even and odd outputs, twice.
///
/// # Safety
/// `samples` must go on for `BLOCK_OUTPUTS + 1` samples from `from` on. They do for every pair and block:
/// `from + BLOCK_OUTPUTS <= pair.at + output.len() <= fir.reach + output.len() - 2 < samples.len()`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn windows(samples: &[i16], from: usize) -> [__m256i; 4] {
    // SAFETY: the four together read what the caller vouches for.
    unsafe {
        let first = samples.as_ptr().add(from);
        [
            _mm256_loadu_si256(first.cast()),
            _mm256_loadu_si256(first.add(1).cast()),
            _mm256_loadu_si256(first.add(16).cast()),
            _mm256_loadu_si256(first.add(17).cast()),
        ]
    }
}
