//! The kernel in plain Rust: what the vector kernels are checked against, and what other processors run.
//! Its loops are of fixed length, so compilers make vectors of them where they can.

use crate::companding::Law;

use super::{round, unpack, Fir, BLOCK_OUTPUTS};

pub(super) fn run(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(BLOCK_OUTPUTS).enumerate() {
        let mut high = [0i32; BLOCK_OUTPUTS];
        let mut low = [0i32; BLOCK_OUTPUTS];
        for pair in &fir.large {
            let Some(window) = window(samples, pair.at, block) else {
                return;
            };
            add(&mut high, window, unpack(pair.high));
            add(&mut low, window, unpack(pair.low));
        }
        for pair in &fir.small {
            let Some(window) = window(samples, pair.at, block) else {
                return;
            };
            add(&mut low, window, unpack(pair.low));
        }
        for (sample, (high, low)) in outputs.iter_mut().zip(high.into_iter().zip(low)) {
            *sample = round(high, low);
        }
    }
}

/// What a pair of taps at `at` meets in a block of outputs.
fn window(samples: &[i16], at: usize, block: usize) -> Option<&[i16; BLOCK_OUTPUTS + 1]> {
    let from = at + block * BLOCK_OUTPUTS;
    samples.get(from..)?.first_chunk()
}

#[inline(always)]
fn add(sums: &mut [i32; BLOCK_OUTPUTS], window: &[i16; BLOCK_OUTPUTS + 1], taps: [i32; 2]) {
    let [first, second] = taps.map(|tap| tap as i16);
    for (lane, sum) in sums.iter_mut().enumerate() {
        *sum += i32::from(first) * i32::from(window[lane])
            + i32::from(second) * i32::from(window[lane + 1]);
    }
}

/// Without vectors, every code is left to its law's own functions.
#[allow(dead_code)] // Where there are vectors.
pub(super) fn expand(_: &Law, _: &[u8], _: &mut [i16]) -> usize {
    0
}

/// See [`expand`].
#[allow(dead_code)]
pub(super) fn compress(_: &Law, _: &[i16], _: &mut [u8]) -> usize {
    0
}
