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
        for pair in &fir.pairs {
            let [high0, high1] = pair.high;
            let [low0, low1] = pair.low;
            let high_taps = i32x4_splat(i32::from(high0 as u16) | i32::from(high1) << 16);
            let low_taps = i32x4_splat(i32::from(low0 as u16) | i32::from(low1) << 16);
            let from = pair.at + block * WIDTH;
            for (lane, offset) in [0, 1, 8, 9].into_iter().enumerate() {
                // SAFETY: of the block's samples from `pair.at` on, as many are read as it has outputs, and one more:
                // below `fir.reach + output.len() - 1`, which `run` has checked to be within `samples`.
                let window = unsafe { v128_load(samples.as_ptr().add(from + offset).cast()) };
                high[lane] = i32x4_add(high[lane], i32x4_dot_i16x8(window, high_taps));
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
