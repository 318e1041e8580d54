//! From a filter to the work of a resampler: which taps meet which samples.
//!
//! A *group* is 125 microseconds of audio: `down` input samples, `up` output samples. The input is dealt out into
//! `down` streams (sample r of every group goes to stream r), so that every output phase is a sum of ordinary FIR
//! filters over streams, one output per group, each one sample further. All rates then share one kernel.

use crate::error::Error;
use crate::filters::{Filter, FILTERS, SCALE_BITS};
use crate::kernel::{Fir, BLOCK_OUTPUTS};
use std::sync::OnceLock;

/// Groups that one pass handles: 20 ms.
pub(crate) const BLOCK_GROUPS: usize = 160;
/// Samples of the past that every stream keeps; no filter reaches further (a test holds it).
pub(crate) const HISTORY: usize = 40;
/// Length of a stream: past, one block, and what whole kernel blocks may read beyond.
pub(crate) const STRIDE: usize = HISTORY + BLOCK_GROUPS + BLOCK_OUTPUTS;

/// How one output phase comes about.
pub(crate) enum Phase {
    /// The phase is the input, from this place of the streams on.
    Copy(usize),
    /// The phase is a filter over the streams.
    Filter(Fir),
}

/// A filter, taken apart. One per pair of rates, shared by all resamplers.
pub(crate) struct Plan {
    pub(crate) from_hz: u32,
    pub(crate) to_hz: u32,
    /// Output samples of a group.
    pub(crate) up: usize,
    /// Input samples of a group, and number of streams.
    pub(crate) down: usize,
    /// Delay in samples of the rate `from_hz * up`.
    pub(crate) delay: usize,
    pub(crate) phases: Vec<Phase>,
}

impl Plan {
    fn new(filter: &Filter) -> Self {
        let up = (filter.to_hz / 8000) as usize;
        let down = (filter.from_hz / 8000) as usize;
        let reach = filter.half.len() - 1;
        // The last output of a group may look ahead to the last input of the group, no further.
        let advance = down - 1;
        let phases = (0..up)
            .map(|phase| {
                let mut taps = Vec::new();
                for (index, tap) in taps_of(filter).enumerate() {
                    let position = (phase * down + advance) as isize - index as isize;
                    if tap == 0 || position.rem_euclid(up as isize) != 0 {
                        continue;
                    }
                    let sample = position.div_euclid(up as isize);
                    let stream = sample.rem_euclid(down as isize) as usize;
                    let past = -sample.div_euclid(down as isize);
                    taps.push((stream * STRIDE + HISTORY - past as usize, tap));
                }
                match taps[..] {
                    [(at, tap)] if tap == 1 << SCALE_BITS => Phase::Copy(at),
                    _ => Phase::Filter(Fir::new(taps)),
                }
            })
            .collect();
        Plan {
            from_hz: filter.from_hz,
            to_hz: filter.to_hz,
            up,
            down,
            delay: reach - advance,
            phases,
        }
    }

    /// The plan between two rates.
    pub(crate) fn find(from_hz: u32, to_hz: u32) -> Result<&'static Plan, Error> {
        static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
        PLANS
            .get_or_init(|| FILTERS.iter().map(Plan::new).collect())
            .iter()
            .find(|plan| plan.from_hz == from_hz && plan.to_hz == to_hz)
            .ok_or(Error::UnsupportedRates { from_hz, to_hz })
    }
}

/// All taps of the symmetric filter, in order.
fn taps_of(filter: &Filter) -> impl Iterator<Item = i32> + '_ {
    let half = filter.half.iter().copied();
    half.clone().skip(1).rev().chain(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_branch_sums_to_unity() {
        for filter in &FILTERS {
            let up = (filter.to_hz / 8000) as usize;
            let taps: Vec<i64> = taps_of(filter).map(i64::from).collect();
            for branch in 0..up {
                let sum: i64 = taps.iter().skip(branch).step_by(up).sum();
                assert_eq!(sum, 1 << SCALE_BITS, "{filter:?} {branch}");
            }
        }
    }

    #[test]
    fn no_filter_reaches_past_the_history_or_ahead_of_the_block() {
        for filter in &FILTERS {
            let plan = Plan::new(filter);
            for phase in &plan.phases {
                let places = match phase {
                    Phase::Copy(at) => vec![*at],
                    Phase::Filter(fir) => fir.places().collect(),
                };
                for at in places {
                    assert!(at % STRIDE <= HISTORY, "{filter:?} {at}");
                    assert!(at / STRIDE < plan.down, "{filter:?} {at}");
                }
            }
        }
    }
}
