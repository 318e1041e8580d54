//! The SHA-1 instructions of x86-64 (SHA-NI), one of the files with unsafe code: a single call, after asking the processor.
//! Each `sha1rnds4` does four of the 80 rounds.
//! Source: Intel, "Intel SHA Extensions", 2013; the function is that of FIPS 180-4, checked against `compress_plain`.
#![allow(unsafe_code)]

use super::BLOCK;
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

/// Hashes whole blocks into the state. False, and nothing done, where the processor lacks the instructions.
pub(super) fn compress(state: &mut [u32; 5], blocks: &[[u8; BLOCK]]) -> bool {
    if !(is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1")) {
        return false;
    }
    // SAFETY: the processor has both.
    unsafe { rounds(state, blocks) };
    true
}

#[target_feature(enable = "sha,sse4.1")]
fn rounds(state: &mut [u32; 5], blocks: &[[u8; BLOCK]]) {
    let [a, b, c, d, e] = state.map(|word| word as i32);
    let mut abcd = _mm_set_epi32(a, b, c, d);
    let mut e = _mm_set_epi32(e, 0, 0, 0);
    for block in blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut words = [_mm_setzero_si128(); 20];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(16)) {
            let part = |from: usize| i32::from_be_bytes(std::array::from_fn(|at| bytes[from + at]));
            *word = _mm_set_epi32(part(0), part(4), part(8), part(12));
        }
        for at in 4..words.len() {
            let started = _mm_sha1msg1_epu32(words[at - 4], words[at - 3]);
            let mixed = _mm_xor_si128(started, words[at - 2]);
            words[at] = _mm_sha1msg2_epu32(mixed, words[at - 1]);
        }
        // What four rounds add: the words, and E, which is the rotated A of four rounds before; at first E itself.
        let mut before = abcd;
        abcd = _mm_sha1rnds4_epu32::<0>(abcd, _mm_add_epi32(e, words[0]));
        macro_rules! rounds {
            ($words:expr, $function:literal) => {
                for &word in $words {
                    let added = _mm_sha1nexte_epu32(before, word);
                    before = abcd;
                    abcd = _mm_sha1rnds4_epu32::<$function>(abcd, added);
                }
            };
        }
        rounds!(&words[1..5], 0);
        rounds!(&words[5..10], 1);
        rounds!(&words[10..15], 2);
        rounds!(&words[15..20], 3);
        e = _mm_sha1nexte_epu32(before, e_before);
        abcd = _mm_add_epi32(abcd, abcd_before);
    }
    *state = [
        _mm_extract_epi32::<3>(abcd),
        _mm_extract_epi32::<2>(abcd),
        _mm_extract_epi32::<1>(abcd),
        _mm_extract_epi32::<0>(abcd),
        _mm_extract_epi32::<3>(e),
    ]
    .map(|word| word as u32);
}
