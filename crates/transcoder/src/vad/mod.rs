//! Voice activity: does 20 ms of sound contain speech?
//!
//! The detector of the WebRTC project in its most aggressive mode, for one length of frame and one rate. It follows the
//! line's own noise: per frame the energies of six bands between 80 and 4000 Hz, per band one mixture of two Gaussians for
//! noise and one for speech, and a likelihood ratio between them. Whoever wins, learns.
//!
//! Everything is integer arithmetic that wraps, so every backend gives the same decision for every frame, and so does
//! `libfvad` (mode 3, 16 kHz, 20 ms), which tests hold this against.
//!
//! Source of design, constants and rounding: the WebRTC project's `common_audio/vad`, copyright 2011 The WebRTC project
//! authors, BSD-3-Clause; the text of the license is in the package's `NOTICE.md`.

mod bands;
mod lows;
mod mixtures;

use crate::error::{take_output, Error};
use crate::resampler::Resampler;
use bands::FilterBank;
use mixtures::Mixtures;

/// Samples of a frame: 20 ms.
const FRAME_SAMPLES: usize = 320;
/// The rate of a frame, in hertz.
const RATE_HZ: u32 = 16_000;
/// Of so many frames of speech in a row the last makes a long tail.
const LONG_RUN: u32 = 7;
/// Frames that still count as speech when speech has ended, behind a long run and behind others.
const LONG_TAIL: u32 = 5;
const SHORT_TAIL: u32 = 3;

/// What there is to know of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// The frame sounds like speech, or comes shortly behind some.
    pub voiced: bool,
    /// Sum of the squares of its samples.
    pub energy: u64,
}

impl Heard {
    /// Both in one number, which a double holds exactly: the energy `e` of a frame that is not voiced, `-1 - e` of one that is.
    pub fn pack(self) -> f64 {
        let energy = self.energy as f64;
        if self.voiced {
            -1.0 - energy
        } else {
            energy
        }
    }
}

/// Tells speech from the rest in a stream of frames.
pub struct VoiceDetector {
    bands: FilterBank,
    mixtures: Mixtures,
    /// Frames of speech in a row, up to [`LONG_RUN`].
    run: u32,
    /// Frames to come that count as speech whatever they are.
    tail: u32,
}

impl Default for VoiceDetector {
    fn default() -> Self {
        Self::new()
    }
}

impl VoiceDetector {
    /// A detector that has heard nothing.
    pub fn new() -> Self {
        VoiceDetector {
            bands: FilterBank::default(),
            mixtures: Mixtures::new(),
            run: 0,
            tail: 0,
        }
    }

    /// Hears a frame: 320 samples at 16 kHz.
    pub fn hear(&mut self, frame: &[i16]) -> Result<Heard, Error> {
        let frame = frame.try_into().map_err(|_| Error::NotAFrame)?;
        Ok(self.take(frame))
    }

    /// Hears a frame of mu-law bytes as `resampler` gives it, which must be 320 samples at 16 kHz: it is written to `output`.
    pub fn hear_mulaw(
        &mut self,
        resampler: &mut Resampler,
        input: &[u8],
        output: &mut [i16],
    ) -> Result<Heard, Error> {
        if resampler.to_hz() != RATE_HZ || resampler.output_len(input.len()) != FRAME_SAMPLES {
            return Err(Error::NotAFrame);
        }
        let output = take_output(output, FRAME_SAMPLES)?;
        resampler.process_from_mulaw(input, output)?;
        self.hear(output)
    }

    fn take(&mut self, frame: &[i16; FRAME_SAMPLES]) -> Heard {
        let sound = self.bands.measure(frame);
        let is_speech = sound.is_audible && self.mixtures.judge(&sound.levels);
        let voiced = is_speech || self.tail > 0;
        if is_speech {
            self.run = (self.run + 1).min(LONG_RUN);
            self.tail = if self.run == LONG_RUN {
                LONG_TAIL
            } else {
                SHORT_TAIL
            };
        } else {
            self.run = 0;
            self.tail = self.tail.saturating_sub(1);
        }
        // The squares of two samples fit 32 bits, and vectors take them together.
        let pairs = frame.chunks_exact(2);
        let energy = pairs.map(|pair| u64::from(square(pair[0]) + square(pair[1])));
        Heard {
            voiced,
            energy: energy.sum(),
        }
    }
}

fn square(sample: i16) -> u32 {
    let sample = i32::from(sample);
    (sample * sample) as u32
}
