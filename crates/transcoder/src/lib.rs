//! Telephone audio: G.711 companding, streaming sample-rate conversion and HMAC-SHA1.
//!
//! Everything is exact integer arithmetic: a resampled sample is the one correctly rounded value of a finite sum of
//! products of integers, so that no instruction set, compiler or order of summation can change it. `kernel` says how.
//! The crate knows nothing of JavaScript, allocates only when a resampler is made, and never panics on input.
#![deny(unsafe_code)]

pub mod alaw;
mod base64;
mod error;
mod handles;
#[rustfmt::skip]
pub mod filters;
mod hmac;
mod kernel;
pub mod mulaw;
mod plan;
mod resampler;
mod sha1;

pub use error::Error;
pub use handles::Handles;
pub use hmac::{HmacSha1, LastKey};
pub use kernel::InstructionSet;
pub use resampler::Resampler;
pub use sha1::sha1;
