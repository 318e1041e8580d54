//! The energies of six bands. The frame is brought to 8 kHz, and then halved into a lower and an upper band again and again,
//! by pairs of all-pass filters.

use super::FRAME_SAMPLES;

/// 80 to 250, 250 to 500, 500 to 1000, 1000 to 2000, 2000 to 3000 and 3000 to 4000 Hz.
pub(super) const BANDS: usize = 6;

/// Added to the level of each band for being sampled more slowly, in sixteenths of a decibel.
const OFFSETS: [i16; BANDS] = [368, 368, 272, 176, 176, 176];
/// A frame whose bands have no more energy than this in all is silence.
const LEAST_ENERGY: u32 = 10;

/// A frame, as the detector sees it.
pub(super) struct Sound {
    /// More than silence. What is not, the detector neither judges nor learns from.
    pub(super) is_audible: bool,
    /// Level of every band, in sixteenths of a decibel.
    pub(super) levels: [i32; BANDS],
}

// An all-pass filter of the first order takes every other sample. With a coefficient `c` in Q15, 0.64 for the even samples and
// 0.17 for the odd, its output is `(lead - 2 * c * output before) >> 16`, where what leads is `c * sample + (sample before << 15)`,
// all in 32 bits that wrap. The output in 16 bits is half as large as the sample.

/// From 16 to 8 kHz, in coefficients of Q13.
#[derive(Clone, Copy, Default)]
struct Halver {
    samples: [i16; 2],
    outputs: [i32; 2],
}

impl Halver {
    const EVEN: i16 = 5243;
    const ODD: i16 = 1392;

    /// What leads for the whole frame: apart from the outputs, which wait for each other, it is work for vectors.
    fn leads(&mut self, frame: &[i16; FRAME_SAMPLES]) -> [[i32; 2]; FRAME_SAMPLES / 2] {
        let mut leads = [[0; 2]; FRAME_SAMPLES / 2];
        leads[0] = [
            Self::lead(Self::EVEN, frame[0], self.samples[0]),
            Self::lead(Self::ODD, frame[1], self.samples[1]),
        ];
        let pairs = frame.chunks_exact(2).zip(frame[2..].chunks_exact(2));
        for (leads, (before, pair)) in leads[1..].iter_mut().zip(pairs) {
            leads[0] = Self::lead(Self::EVEN, pair[0], before[0]);
            leads[1] = Self::lead(Self::ODD, pair[1], before[1]);
        }
        self.samples = [frame[FRAME_SAMPLES - 2], frame[FRAME_SAMPLES - 1]];
        leads
    }

    /// The reference rounds twice: the product down, and up what is subtracted from the sample before.
    #[inline(always)]
    fn lead(coefficient: i16, sample: i16, before: i16) -> i32 {
        let product = i32::from(coefficient) * i32::from(sample);
        (product >> 14 << 16) + (i32::from(before) << 15) + 0x7ff8
    }

    #[inline(always)]
    fn step(&mut self, leads: [i32; 2]) -> i16 {
        let [even, odd] = &mut self.outputs;
        *even = leads[0].wrapping_sub(8 * i32::from(Self::EVEN) * *even) >> 16;
        *odd = leads[1].wrapping_sub(8 * i32::from(Self::ODD) * *odd) >> 16;
        (*even + *odd) as i16
    }
}

/// From one band to its upper and its lower half.
#[derive(Clone, Copy, Default)]
struct Splitter {
    /// What the last sample and the last output leave to the next output.
    even: i32,
    odd: i32,
}

impl Splitter {
    const EVEN: i32 = 20_972;
    const ODD: i32 = 5571;

    #[inline(always)]
    fn branch(state: &mut i32, coefficient: i32, sample: i16) -> i32 {
        let sample = i32::from(sample);
        let output = state.wrapping_add(coefficient * sample) >> 16;
        *state = (sample << 15).wrapping_sub(2 * coefficient * output);
        output
    }

    /// The next sample of the upper half, and of the lower.
    #[inline(always)]
    fn step(&mut self, pair: &[i16]) -> (i16, i16) {
        let even = Self::branch(&mut self.even, Self::EVEN, pair[0]);
        let odd = Self::branch(&mut self.odd, Self::ODD, pair[1]);
        ((even - odd) as i16, (even + odd) as i16)
    }

    /// From frame to frame a state keeps its upper 16 bits only.
    fn end_frame(&mut self) {
        self.even &= !0xffff;
        self.odd &= !0xffff;
    }
}

/// Takes away what is below 80 Hz, at a rate of 500 Hz.
#[derive(Clone, Copy, Default)]
struct HighPass {
    inputs: [i32; 2],
    outputs: [i32; 2],
}

impl HighPass {
    fn step(&mut self, sample: i16) -> i16 {
        let sample = i32::from(sample);
        let ([input, older_input], [output, older_output]) = (self.inputs, self.outputs);
        let sum = 6631 * (sample - 2 * input + older_input) + 7756 * output - 5620 * older_output;
        let result = (sum >> 14) as i16;
        self.inputs = [sample, input];
        self.outputs = [i32::from(result), output];
        result
    }
}

/// All filters, with the state that they keep between frames.
#[derive(Default)]
pub(super) struct FilterBank {
    halver: Halver,
    splitters: [Splitter; 5],
    high_pass: HighPass,
}

impl FilterBank {
    pub(super) fn measure(&mut self, frame: &[i16; FRAME_SAMPLES]) -> Sound {
        let FilterBank {
            mut halver,
            splitters: [mut from_4000, mut from_upper, mut from_2000, mut from_1000, mut from_500],
            mut high_pass,
        } = *self;
        // Named after where a band begins and ends, in hundreds of hertz. One loop takes filters that do not wait for each
        // other, so that the processor can run them side by side.
        let (mut b20_40, mut b0_20) = ([0; 80], [0; 80]);
        let leads = halver.leads(frame);
        let pairs = leads.chunks_exact(2);
        for (pair, (high, low)) in pairs.zip(b20_40.iter_mut().zip(&mut b0_20)) {
            (*high, *low) = from_4000.step(&[halver.step(pair[0]), halver.step(pair[1])]);
        }
        let (mut b30_40, mut b20_30) = ([0; 40], [0; 40]);
        let (mut b10_20, mut b0_10) = ([0; 40], [0; 40]);
        let upper = (b20_40.chunks_exact(2)).zip(b30_40.iter_mut().zip(&mut b20_30));
        let lower = (b0_20.chunks_exact(2)).zip(b10_20.iter_mut().zip(&mut b0_10));
        for ((pair, (high, low)), (low_pair, (low_high, low_low))) in upper.zip(lower) {
            (*high, *low) = from_upper.step(pair);
            (*low_high, *low_low) = from_2000.step(low_pair);
        }
        let (mut b5_10, mut b0_5) = ([0; 20], [0; 20]);
        for (pair, (high, low)) in b0_10.chunks_exact(2).zip(b5_10.iter_mut().zip(&mut b0_5)) {
            (*high, *low) = from_1000.step(pair);
        }
        let (mut b2_5, mut b1_2) = ([0; 10], [0; 10]);
        for (pair, (high, low)) in b0_5.chunks_exact(2).zip(b2_5.iter_mut().zip(&mut b1_2)) {
            let (upper, lower) = from_500.step(pair);
            (*high, *low) = (upper, high_pass.step(lower));
        }
        let mut splitters = [from_4000, from_upper, from_2000, from_1000, from_500];
        for splitter in &mut splitters {
            splitter.end_frame();
        }
        *self = FilterBank {
            halver,
            splitters,
            high_pass,
        };
        let bands: [&[i16]; BANDS] = [&b1_2, &b2_5, &b5_10, &b10_20, &b20_30, &b30_40];
        let mut levels = [0; BANDS];
        let mut energy = 0u32;
        for ((level, band), &offset) in levels.iter_mut().zip(bands).zip(&OFFSETS) {
            let measured = measure_band(band);
            *level = i32::from(measured.level + offset);
            energy = energy.saturating_add(measured.energy);
        }
        Sound {
            is_audible: energy > LEAST_ENERGY,
            levels,
        }
    }
}

struct Band {
    /// In sixteenths of a decibel.
    level: i16,
    /// Exact below 2^14, and no less than that otherwise.
    energy: u32,
}

fn measure_band(samples: &[i16]) -> Band {
    // So that the sum fits 31 bits. The lowest sample has no magnitude in 16 bits, and is not seen; the sum may wrap then.
    let peak = samples
        .iter()
        .fold(-1, |peak: i16, sample| peak.max(sample.wrapping_abs()));
    let peak = i32::from(peak);
    let room = (peak * peak).leading_zeros() - 1;
    let length_bits = usize::BITS - samples.len().leading_zeros();
    let scaling = length_bits.saturating_sub(room);
    let sum = samples.iter().fold(0i32, |sum, &sample| {
        let sample = i32::from(sample);
        sum.wrapping_add((sample * sample) >> scaling)
    }) as u32;
    if sum == 0 {
        return Band {
            level: 0,
            energy: 0,
        };
    }
    // As 15 bits, the first of them set, and a shift.
    let zeros = sum.leading_zeros();
    let mantissa = (sum << zeros) >> 17;
    let shifts = (17 + scaling) as i32 - zeros as i32;
    // log2 in Q10, and 160 * log10(2) in Q9.
    let logarithm = 14_336 + ((mantissa & 0x3fff) >> 4) as i32;
    let level = ((24_660 * logarithm) >> 19) + ((24_660 * shifts) >> 9);
    Band {
        level: level.max(0) as i16,
        energy: if shifts < 0 {
            mantissa >> -shifts
        } else {
            mantissa
        },
    }
}
