//! The kernel in plain Rust: what the vector kernels are checked against, and what other processors run.
//! Its loops are of fixed length, so compilers make vectors of them where they can.

use super::{round, Fir, BLOCK_OUTPUTS};

pub(super) fn run(fir: &Fir, samples: &[i16], output: &mut [i16]) {
    for (block, outputs) in output.chunks_exact_mut(BLOCK_OUTPUTS).enumerate() {
        let mut high = [0i32; BLOCK_OUTPUTS];
        let mut low = [0i32; BLOCK_OUTPUTS];
        for pair in &fir.pairs {
            let from = pair.at + block * BLOCK_OUTPUTS;
            let Some(window) = samples.get(from..=from + BLOCK_OUTPUTS) else {
                return;
            };
            let [high0, high1] = pair.high.map(i32::from);
            let [low0, low1] = pair.low.map(i32::from);
            for lane in 0..BLOCK_OUTPUTS {
                let first = i32::from(window[lane]);
                let second = i32::from(window[lane + 1]);
                high[lane] += high0 * first + high1 * second;
                low[lane] += low0 * first + low1 * second;
            }
        }
        for (sample, (high, low)) in outputs.iter_mut().zip(high.into_iter().zip(low)) {
            *sample = round(high, low);
        }
    }
}
