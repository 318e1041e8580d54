//! The kernel for WebAssembly's 128-bit vectors: 16 outputs at a time in four vectors of four sums, each twice (high and
//! low halves of the taps).
#![allow(unsafe_code)]

use super::{Fir, BLOCK_OUTPUTS, FINAL_BITS, ROUNDING, SPLIT_BITS};
use std::arch::wasm32::*;

/// Outputs of one pass.
const WIDTH: usize = 16;

/// Requires `fir.reach + output.len() <= samples.len() + 1` and whole blocks, as [`Fir::run`] sees to.
pub(super) fn run(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    assert!(output.is_empty() || fir.reach + output.len() <= samples.len() + 1);
    assert!(output.len().is_multiple_of(BLOCK_OUTPUTS));
    blocks(fir, samples, output)
}

#[target_feature(enable = "simd128")]
fn blocks(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(WIDTH).enumerate() {
        let mut high = [i32x4_splat(0); 4];
        let mut low = [i32x4_splat(0); 4];
        for pair in &fir.large {
            let (high_taps, low_taps) = (i32x4_splat(pair.high), i32x4_splat(pair.low));
            // SAFETY: `run` has checked that all samples of the block are there.
            let windows = unsafe { windows(samples, pair.at + block * WIDTH) };
            for (lane, window) in windows.into_iter().enumerate() {
                high[lane] = i32x4_add(high[lane], i32x4_dot_i16x8(window, high_taps));
                low[lane] = i32x4_add(low[lane], i32x4_dot_i16x8(window, low_taps));
            }
        }
        for pair in &fir.small {
            let low_taps = i32x4_splat(pair.low);
            // SAFETY: as above.
            let windows = unsafe { windows(samples, pair.at + block * WIDTH) };
            for (lane, window) in windows.into_iter().enumerate() {
                low[lane] = i32x4_add(low[lane], i32x4_dot_i16x8(window, low_taps));
            }
        }
        let half = i32x4_splat(ROUNDING);
        let sums: [v128; 4] = std::array::from_fn(|lane| {
            let low = i32x4_shr(low[lane], SPLIT_BITS);
            i32x4_shr(i32x4_add(i32x4_add(high[lane], low), half), FINAL_BITS)
        });
        for (part, to) in outputs.chunks_exact_mut(8).enumerate() {
            // Even outputs stand in the lower, odd ones in the upper half: zip them.
            let packed = i16x8_narrow_i32x4(sums[2 * part], sums[2 * part + 1]);
            let zipped = i16x8_shuffle::<0, 4, 1, 5, 2, 6, 3, 7>(packed, packed);
            // SAFETY: `to` is exactly one vector long.
            unsafe { v128_store(to.as_mut_ptr().cast(), zipped) };
        }
    }
}

/// The samples that a pair of taps meets: for even and odd outputs, twice.
///
/// # Safety
/// `samples` must go on for `WIDTH + 1` samples from `from` on. They do for every pair and block:
/// `from + WIDTH <= pair.at + output.len() <= fir.reach + output.len() - 2 < samples.len()`.
#[inline]
#[target_feature(enable = "simd128")]
unsafe fn windows(samples: &[i16], from: usize) -> [v128; 4] {
    // SAFETY: the four together read what the caller vouches for.
    unsafe {
        let first = samples.as_ptr().add(from);
        [
            v128_load(first.cast()),
            v128_load(first.add(1).cast()),
            v128_load(first.add(8).cast()),
            v128_load(first.add(9).cast()),
        ]
    }
}
