//! Is it noise or speech? Per band two Gaussians of either, the question which pair explains the levels better, and what the
//! answer teaches. Levels and means are in sixteenths of a decibel, Q4 and Q7; deviations are in Q7.

use super::bands::BANDS;
use super::lows::Lows;

/// Gaussians of a mixture, per band.
const PARTS: usize = 2;

/// One value per band and Gaussian.
type Table = [[i32; PARTS]; BANDS];

/// How much of a mixture each Gaussian makes, in Q7.
const NOISE_WEIGHTS: Table = [[34, 94], [62, 66], [72, 56], [66, 62], [53, 75], [25, 103]];
const SPEECH_WEIGHTS: Table = [[48, 80], [82, 46], [45, 83], [87, 41], [50, 78], [47, 81]];

/// What is known before anything was heard.
const NOISE_MEANS: Table = [
    [6738, 7646],
    [4892, 3863],
    [7065, 7820],
    [6715, 7266],
    [6771, 5020],
    [3369, 4362],
];
const SPEECH_MEANS: Table = [
    [8306, 9473],
    [10_085, 9571],
    [10_078, 10_879],
    [11_823, 7581],
    [11_843, 8180],
    [6309, 7483],
];
const NOISE_DEVIATIONS: Table = [
    [378, 474],
    [1064, 697],
    [493, 475],
    [582, 688],
    [688, 421],
    [593, 455],
];
const SPEECH_DEVIATIONS: Table = [
    [555, 509],
    [505, 828],
    [567, 492],
    [524, 1540],
    [585, 1079],
    [1231, 850],
];

/// How much a band says about speech.
const BAND_WEIGHTS: [i32; BANDS] = [6, 8, 10, 12, 14, 16];
/// Speech is so many times as likely as noise in one band, or in all of them, as a power of two: in quarters, and weighted.
const ONE_BAND: i32 = 94;
const ALL_BANDS: i32 = 1050;

/// Where means stay: at least, by Gaussian; at most, by band. That of noise is 128 less per band, and 128 more per Gaussian.
const LEAST_MEAN: [i32; PARTS] = [640, 768];
const MOST_NOISE_MEAN: i32 = 9216;
const MOST_SPEECH_MEAN: [i32; BANDS] = [13_440, 12_032, 12_032, 12_160, 12_160, 12_160];
/// Where the mean of a whole mixture stays.
const MOST_NOISE: [i32; BANDS] = [9216, 9088, 8960, 8832, 8704, 8576];
const MOST_SPEECH: [i32; BANDS] = [11_392, 11_392, 11_520, 11_520, 11_520, 11_520];
/// How far the mixtures of a band stay apart, in Q5.
const LEAST_DISTANCE: [i32; BANDS] = [544, 544, 576, 576, 576, 576];
/// Deviations do not fall below three decibels.
const LEAST_DEVIATION: i32 = 384;

/// One, in Q14.
const ONE: i32 = 16_384;

/// What becomes of a number in 16 bits.
fn wrap(value: i32) -> i32 {
    i32::from(value as i16)
}

/// The quotient, rounded towards 0. No divisor here is 0.
fn divide(value: i32, divisor: i32) -> i32 {
    value.checked_div(divisor).unwrap_or(i32::MAX)
}

#[derive(Clone, Copy)]
struct Gaussian {
    mean: i32,
    deviation: i32,
    /// One by the deviation, in Q10, and by its square, in Q14.
    inverse: i32,
    inverse_square: i32,
}

impl Gaussian {
    fn new(mean: i32, deviation: i32) -> Self {
        let inverse = divide(131_072 + (deviation >> 1), deviation);
        Gaussian {
            mean,
            deviation,
            inverse,
            inverse_square: ((inverse >> 2) * (inverse >> 2)) >> 2,
        }
    }

    /// How far `level` is from the mean, by the square of the deviation, in Q11.
    fn distance(&self, level: i32) -> i32 {
        wrap((self.inverse_square * wrap((level << 3) - self.mean)) >> 10)
    }

    /// How likely `level` is, in Q20.
    fn likelihood(&self, level: i32) -> i32 {
        let exponent = (self.distance(level) * wrap((level << 3) - self.mean)) >> 9;
        if exponent >= 22_005 {
            return 0;
        }
        // e to the power, by way of two to the power: the whole part shifts, the rest is taken as linear.
        let power = -((5909 * exponent) >> 12);
        self.inverse * ((0x400 | (power & 0x3ff)) >> ((!power >> 10) + 1))
    }

    fn widen(&mut self, change: i32) {
        let deviation = wrap(self.deviation + change).max(LEAST_DEVIATION);
        // Most changes are too small to be one, and a division is saved then.
        if deviation != self.deviation {
            *self = Gaussian::new(self.mean, deviation);
        }
    }
}

/// The two Gaussians of one band.
#[derive(Clone, Copy)]
struct Mixture {
    parts: [Gaussian; PARTS],
    weights: [i32; PARTS],
}

/// How likely a level is.
struct Likelihood {
    /// Q27.
    all: i32,
    /// How much of it each Gaussian makes, in Q14. None where the level is too unlikely to say.
    shares: Option<[i32; PARTS]>,
}

impl Mixture {
    fn new(means: [i32; PARTS], deviations: [i32; PARTS], weights: [i32; PARTS]) -> Self {
        Mixture {
            parts: [
                Gaussian::new(means[0], deviations[0]),
                Gaussian::new(means[1], deviations[1]),
            ],
            weights,
        }
    }

    fn likelihood(&self, level: i32) -> Likelihood {
        let first = self.weights[0] * self.parts[0].likelihood(level);
        let all = first + self.weights[1] * self.parts[1].likelihood(level);
        let rounded = all >> 12;
        let shares = (rounded > 0).then(|| {
            let share = divide((first & !0xfff) << 2, rounded);
            [share, ONE - share]
        });
        Likelihood { all, shares }
    }

    /// In Q14.
    fn mean(&self) -> i32 {
        self.parts[0].mean * self.weights[0] + self.parts[1].mean * self.weights[1]
    }

    fn shift(&mut self, offset: i32) {
        for part in &mut self.parts {
            part.mean = wrap(part.mean + offset);
        }
    }

    fn learn_noise(&mut self, level: i32, shares: [i32; PARTS]) {
        for (part, share) in self.parts.iter_mut().zip(shares) {
            let distance = part.distance(level);
            let gap = level - (part.mean >> 3);
            part.mean += (wrap((share * distance) >> 11) * 655) >> 22;
            let excess = ((distance * gap) >> 3) - 4096;
            let change = ((share + 2) >> 2).wrapping_mul(excess) >> 14;
            part.widen((wrap(divide(change, part.deviation)) + 32) >> 6);
        }
    }

    fn learn_speech(&mut self, level: i32, shares: [i32; PARTS], most_mean: i32) {
        let parts = self.parts.iter_mut().zip(shares);
        for ((part, share), least_mean) in parts.zip(LEAST_MEAN) {
            let distance = part.distance(level);
            let gap = level - ((part.mean + 4) >> 3);
            let step = (wrap((share * distance) >> 11) * 6554) >> 21;
            part.mean = (part.mean + ((step + 1) >> 1)).clamp(least_mean, most_mean);
            let excess = ((distance * gap) >> 3) - 4096;
            let change = (share >> 2).wrapping_mul(excess) >> 4;
            // Ten deviations may be more than 16 bits hold.
            let change = wrap(divide(change, wrap(part.deviation * 10)));
            part.widen(wrap(change + 128) >> 8);
        }
    }
}

/// All that is known of noise and speech.
pub(super) struct Mixtures {
    noise: [Mixture; BANDS],
    speech: [Mixture; BANDS],
    lows: [Lows; BANDS],
    /// Frames that were learnt from. Wraps, after years.
    frames: u32,
}

impl Mixtures {
    pub(super) fn new() -> Self {
        let mixtures = |means: &Table, deviations: &Table, weights: &Table| {
            std::array::from_fn(|band| Mixture::new(means[band], deviations[band], weights[band]))
        };
        Mixtures {
            noise: mixtures(&NOISE_MEANS, &NOISE_DEVIATIONS, &NOISE_WEIGHTS),
            speech: mixtures(&SPEECH_MEANS, &SPEECH_DEVIATIONS, &SPEECH_WEIGHTS),
            lows: [Lows::new(); BANDS],
            frames: 0,
        }
    }

    /// True for speech. Learns from the frame, whatever it is.
    pub(super) fn judge(&mut self, levels: &[i32; BANDS]) -> bool {
        let mut is_speech = false;
        let mut sum = 0;
        let mut shares = [[[0; PARTS]; 2]; BANDS];
        for (band, &level) in levels.iter().enumerate() {
            let noise = self.noise[band].likelihood(level);
            let speech = self.speech[band].likelihood(level);
            // The whole part of the logarithm, to the base of two, of how many times as likely speech is.
            let ratio = noise.all.leading_zeros() as i32 - speech.all.leading_zeros() as i32;
            sum += ratio * BAND_WEIGHTS[band];
            is_speech |= ratio * 4 > ONE_BAND;
            shares[band] = [
                noise.shares.unwrap_or([ONE, 0]),
                speech.shares.unwrap_or([0; PARTS]),
            ];
        }
        is_speech |= sum >= ALL_BANDS;
        for (band, &level) in levels.iter().enumerate() {
            let [noise_shares, speech_shares] = shares[band];
            let (noise, speech) = (&mut self.noise[band], &mut self.speech[band]);
            let low = self.lows[band].follow(level, self.frames);
            // What is heard when nobody speaks draws the noise towards it.
            let drift = (wrap((low << 4) - (noise.mean() >> 6)) * 154) >> 9;
            if is_speech {
                speech.learn_speech(level, speech_shares, MOST_SPEECH_MEAN[band]);
            } else {
                noise.learn_noise(level, noise_shares);
            }
            for (place, part) in noise.parts.iter_mut().enumerate() {
                let most = MOST_NOISE_MEAN + ((place as i32 - band as i32) << 7);
                part.mean = (part.mean + drift).clamp(LEAST_MEAN[place], most);
            }
            keep_apart(noise, speech, band);
        }
        self.frames = self.frames.wrapping_add(1);
        is_speech
    }
}

/// Keeps mixtures from meeting, and from leaving where levels are.
fn keep_apart(noise: &mut Mixture, speech: &mut Mixture, band: usize) {
    let distance = (speech.mean() >> 9) - (noise.mean() >> 9);
    let lack = LEAST_DISTANCE[band] - distance;
    if lack > 0 {
        speech.shift((13 * lack) >> 2);
        noise.shift(-((3 * lack) >> 2));
    }
    speech.shift(-((speech.mean() >> 7) - MOST_SPEECH[band]).max(0));
    noise.shift(-((noise.mean() >> 7) - MOST_NOISE[band]).max(0));
}
