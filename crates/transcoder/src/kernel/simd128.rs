//! WebAssembly's 128-bit vectors. The kernel: 16 outputs at a time in four vectors of four sums, each twice (high and low
//! halves of the taps). Companding: 16 codes at a time.
#![allow(unsafe_code)]

use super::{Fir, BLOCK_OUTPUTS, FINAL_BITS, ROUNDING, SPLIT_BITS};
use crate::companding::{Law, BITS_OF_LOWER, BITS_OF_UPPER};
use std::arch::wasm32::*;

/// Outputs of one pass.
const WIDTH: usize = 16;
/// Codes of G.711 that one vector holds.
const CODES: usize = 16;

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

/// Expands codes, as [`super::expand_blocks`] says.
pub(super) fn expand(law: &Law, input: &[u8], output: &mut [i16]) -> usize {
    let (input, _) = input.as_chunks();
    let (output, _) = output.as_chunks_mut();
    expand_chunks(law, input, output);
    input.len().min(output.len()) * CODES
}

/// Compresses samples, as [`super::compress_blocks`] says.
pub(super) fn compress(law: &Law, input: &[i16], output: &mut [u8]) -> usize {
    let (input, _) = input.as_chunks();
    let (output, _) = output.as_chunks_mut();
    compress_chunks(law, input, output);
    input.len().min(output.len()) * CODES
}

#[inline]
#[target_feature(enable = "simd128")]
fn table(bytes: &[u8; 16]) -> v128 {
    // SAFETY: the table is exactly one vector.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// The lower eight pairs of bytes.
#[inline]
#[target_feature(enable = "simd128")]
fn zip_low(low: v128, high: v128) -> v128 {
    i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(low, high)
}

/// The upper eight pairs of bytes.
#[inline]
#[target_feature(enable = "simd128")]
fn zip_high(low: v128, high: v128) -> v128 {
    i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(low, high)
}

/// Start and step are looked up by the upper four bits of a code, the lower four multiply the step.
#[target_feature(enable = "simd128")]
fn expand_chunks(law: &Law, input: &[[u8; CODES]], output: &mut [[i16; CODES]]) {
    let (start_low, start_high) = (table(&law.start_low), table(&law.start_high));
    let (step_low, step_high) = (table(&law.step_low), table(&law.step_high));
    let (inverted, four_bits) = (u8x16_splat(law.inverted), u8x16_splat(15));
    for (from, to) in input.iter().zip(output) {
        // SAFETY: the codes are exactly one vector.
        let codes = v128_xor(unsafe { v128_load(from.as_ptr().cast()) }, inverted);
        let count = v128_and(codes, four_bits);
        let place = v128_and(u16x8_shr(codes, 4), four_bits);
        let start_low = i8x16_swizzle(start_low, place);
        let start_high = i8x16_swizzle(start_high, place);
        let step_low = i8x16_swizzle(step_low, place);
        let step_high = i8x16_swizzle(step_high, place);
        let first = i16x8_mul(zip_low(step_low, step_high), u16x8_extend_low_u8x16(count));
        let second = i16x8_mul(
            zip_high(step_low, step_high),
            u16x8_extend_high_u8x16(count),
        );
        let first = i16x8_add(first, zip_low(start_low, start_high));
        let second = i16x8_add(second, zip_high(start_low, start_high));
        // SAFETY: the samples are exactly two vectors.
        unsafe {
            v128_store(to.as_mut_ptr().cast(), first);
            v128_store(to.as_mut_ptr().add(8).cast(), second);
        }
    }
}

/// The segment is the number of bits that the upper byte of the biased magnitude has, by two look-ups; a factor by the
/// segment takes the step to its place.
#[target_feature(enable = "simd128")]
fn compress_chunks(law: &Law, input: &[[i16; CODES]], output: &mut [[u8; CODES]]) {
    let (lower, upper) = (table(&BITS_OF_LOWER), table(&BITS_OF_UPPER));
    let factors = table(&law.factor);
    let (bias, four_bits) = (i16x8_splat(law.bias), u8x16_splat(15));
    let (code_of_zero, sign_bit) = (u8x16_splat(law.zero), u8x16_splat(0x80));
    for (from, to) in input.iter().zip(output) {
        // SAFETY: the samples are exactly two vectors.
        let (first, second) = unsafe {
            let from = from.as_ptr();
            (v128_load(from.cast()), v128_load(from.add(8).cast()))
        };
        let (first_sign, second_sign) = (i16x8_shr(first, 15), i16x8_shr(second, 15));
        let first = i16x8_add_sat(v128_xor(first, first_sign), bias);
        let second = i16x8_add_sat(v128_xor(second, second_sign), bias);
        let high = u8x16_narrow_i16x8(u16x8_shr(first, 8), u16x8_shr(second, 8));
        let segment = u8x16_max(
            i8x16_swizzle(lower, v128_and(high, four_bits)),
            i8x16_swizzle(upper, v128_and(u16x8_shr(high, 4), four_bits)),
        );
        let factor = i8x16_swizzle(factors, segment);
        let first = i16x8_mul(first, u16x8_extend_low_u8x16(factor));
        let second = i16x8_mul(second, u16x8_extend_high_u8x16(factor));
        let step = u8x16_narrow_i16x8(u16x8_shr(first, 10), u16x8_shr(second, 10));
        let step = v128_and(step, four_bits);
        let sign = v128_and(i8x16_narrow_i16x8(first_sign, second_sign), sign_bit);
        let code = v128_or(v128_or(i16x8_shl(segment, 4), step), sign);
        // SAFETY: the codes are exactly one vector.
        unsafe { v128_store(to.as_mut_ptr().cast(), v128_xor(code, code_of_zero)) };
    }
}
