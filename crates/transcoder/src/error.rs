//! What the transcoder cannot do, and what it expected.

use core::fmt;

/// A request that cannot be fulfilled. The state of whatever was asked is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no filter between these two rates.
    UnsupportedRates {
        /// Input rate in hertz.
        from_hz: u32,
        /// Output rate in hertz.
        to_hz: u32,
    },
    /// The output cannot hold the result.
    OutputTooShort {
        /// Elements that the result has.
        needed: usize,
        /// Elements that the output has.
        given: usize,
    },
    /// The text is not base64.
    InvalidBase64,
    /// A voice detector was not given one whole frame.
    NotAFrame,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnsupportedRates { from_hz, to_hz } => write!(
                formatter,
                "no resampler from {from_hz} Hz to {to_hz} Hz: the rates are 8000, 16000 and 24000, and must differ"
            ),
            Error::OutputTooShort { needed, given } => write!(
                formatter,
                "the output holds {given} elements, the result has {needed}"
            ),
            Error::InvalidBase64 => formatter.write_str("the text is not base64"),
            Error::NotAFrame => {
                formatter.write_str("a frame for a voice detector is 320 samples at 16000 Hz")
            }
        }
    }
}

impl std::error::Error for Error {}

/// The first `needed` elements of `output`.
pub(crate) fn take_output<T>(output: &mut [T], needed: usize) -> Result<&mut [T], Error> {
    let given = output.len();
    output
        .get_mut(..needed)
        .ok_or(Error::OutputTooShort { needed, given })
}
