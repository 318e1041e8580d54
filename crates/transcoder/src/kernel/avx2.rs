//! AVX2. The kernel: 32 outputs at a time in four vectors of eight sums, each twice (high and low halves of the taps).
//! Companding: 32 codes at a time.
#![allow(unsafe_code)]

use super::{Fir, BLOCK_OUTPUTS, FINAL_BITS, ROUNDING, SPLIT_BITS};
use crate::companding::{Law, BITS_OF_LOWER, BITS_OF_UPPER};
use std::arch::x86_64::*;

/// Codes of G.711 that one vector holds.
const CODES: usize = 32;

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

/// Expands codes, as [`super::expand_blocks`] says. 0 where the processor lacks AVX2.
pub(super) fn expand(law: &Law, input: &[u8], output: &mut [i16]) -> usize {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return 0;
    }
    let (input, _) = input.as_chunks();
    let (output, _) = output.as_chunks_mut();
    // SAFETY: the processor has AVX2.
    unsafe { expand_chunks(law, input, output) };
    input.len().min(output.len()) * CODES
}

/// Compresses samples, as [`super::compress_blocks`] says. 0 where the processor lacks AVX2.
pub(super) fn compress(law: &Law, input: &[i16], output: &mut [u8]) -> usize {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return 0;
    }
    let (input, _) = input.as_chunks();
    let (output, _) = output.as_chunks_mut();
    // SAFETY: the processor has AVX2.
    unsafe { compress_chunks(law, input, output) };
    input.len().min(output.len()) * CODES
}

/// A table to look up in, for both halves of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the table is exactly one vector of 128 bits.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Start and step are looked up by the upper four bits of a code, the lower four multiply the step.
#[target_feature(enable = "avx2")]
fn expand_chunks(law: &Law, input: &[[u8; CODES]], output: &mut [[i16; CODES]]) {
    let (start_low, start_high) = (table(&law.start_low), table(&law.start_high));
    let (step_low, step_high) = (table(&law.step_low), table(&law.step_high));
    let inverted = _mm256_set1_epi8(law.inverted as i8);
    let (four_bits, zero) = (_mm256_set1_epi8(15), _mm256_setzero_si256());
    for (from, to) in input.iter().zip(output) {
        // SAFETY: the codes are exactly one vector.
        let codes = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        // Unpacking works within halves of a vector: quarters in the order 0 2 1 3 come out as 0 1 and 2 3.
        let codes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_xor_si256(codes, inverted));
        let count = _mm256_and_si256(codes, four_bits);
        let place = _mm256_and_si256(_mm256_srli_epi16::<4>(codes), four_bits);
        let start_low = _mm256_shuffle_epi8(start_low, place);
        let start_high = _mm256_shuffle_epi8(start_high, place);
        let step_low = _mm256_shuffle_epi8(step_low, place);
        let step_high = _mm256_shuffle_epi8(step_high, place);
        let first = _mm256_mullo_epi16(
            _mm256_unpacklo_epi8(step_low, step_high),
            _mm256_unpacklo_epi8(count, zero),
        );
        let second = _mm256_mullo_epi16(
            _mm256_unpackhi_epi8(step_low, step_high),
            _mm256_unpackhi_epi8(count, zero),
        );
        let first = _mm256_add_epi16(first, _mm256_unpacklo_epi8(start_low, start_high));
        let second = _mm256_add_epi16(second, _mm256_unpackhi_epi8(start_low, start_high));
        // SAFETY: the samples are exactly two vectors.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), first);
            _mm256_storeu_si256(to.as_mut_ptr().add(16).cast(), second);
        }
    }
}

/// The segment is the number of bits that the upper byte of the biased magnitude has, by two look-ups; a factor by the
/// segment takes the step to its place.
#[target_feature(enable = "avx2")]
fn compress_chunks(law: &Law, input: &[[i16; CODES]], output: &mut [[u8; CODES]]) {
    let (lower, upper) = (table(&BITS_OF_LOWER), table(&BITS_OF_UPPER));
    let factors = table(&law.factor);
    let (bias, four_bits) = (_mm256_set1_epi16(law.bias), _mm256_set1_epi8(15));
    let (code_of_zero, sign_bit) = (_mm256_set1_epi8(law.zero as i8), _mm256_set1_epi8(-128));
    let zero = _mm256_setzero_si256();
    for (from, to) in input.iter().zip(output) {
        // SAFETY: the samples are exactly two vectors.
        let (first, second) = unsafe {
            let from = from.as_ptr();
            (
                _mm256_loadu_si256(from.cast()),
                _mm256_loadu_si256(from.add(16).cast()),
            )
        };
        let (first_sign, second_sign) = (
            _mm256_srai_epi16::<15>(first),
            _mm256_srai_epi16::<15>(second),
        );
        let first = _mm256_adds_epi16(_mm256_xor_si256(first, first_sign), bias);
        let second = _mm256_adds_epi16(_mm256_xor_si256(second, second_sign), bias);
        // Packing works within halves, and so does unpacking: each half of the first vector, then of the second.
        let high = _mm256_packus_epi16(
            _mm256_srli_epi16::<8>(first),
            _mm256_srli_epi16::<8>(second),
        );
        let segment = _mm256_max_epu8(
            _mm256_shuffle_epi8(lower, _mm256_and_si256(high, four_bits)),
            _mm256_shuffle_epi8(
                upper,
                _mm256_and_si256(_mm256_srli_epi16::<4>(high), four_bits),
            ),
        );
        let factor = _mm256_shuffle_epi8(factors, segment);
        let first = _mm256_mullo_epi16(first, _mm256_unpacklo_epi8(factor, zero));
        let second = _mm256_mullo_epi16(second, _mm256_unpackhi_epi8(factor, zero));
        let step = _mm256_packus_epi16(
            _mm256_srli_epi16::<10>(first),
            _mm256_srli_epi16::<10>(second),
        );
        let step = _mm256_and_si256(step, four_bits);
        let sign = _mm256_and_si256(_mm256_packs_epi16(first_sign, second_sign), sign_bit);
        let code = _mm256_or_si256(_mm256_or_si256(_mm256_slli_epi16::<4>(segment), step), sign);
        let codes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_xor_si256(code, code_of_zero));
        // SAFETY: the codes are exactly one vector.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) };
    }
}
