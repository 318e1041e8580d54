//! Telephone audio: G.711 companding, streaming sample-rate conversion, voice activity and HMAC-SHA1.
//!
//! Everything is exact integer arithmetic: a resampled sample is the one correctly rounded value of a finite sum of
//! products of integers, so that no instruction set, compiler or order of summation can change it. `kernel` says how.
//! The crate knows nothing of JavaScript and never panics on input. It allocates when a resampler is made or a key is
//! first used; text in base64 goes through a buffer that grows to the longest text so far.
//!
//! # Arithmetic
//! A tap is an integer, unity gain is 2^20. A large tap is split into `high * 2^7 + low`, a small one is all `low`, and
//! every part has 16 bits. For each filter `sum |low| < 2^16` and `sum |high| * 2^15 + 2^24 + 2^12 < 2^31`: two sums of
//! 16 by 16 bit products therefore never leave 32 bits, in any order, and
//! `(high + (low >> 7) + 2^12) >> 13` is `floor((high * 2^7 + low) / 2^20 + 1/2)`, the exact sum rounded once, since a
//! floor of a floor is the floor. It is then saturated to 16 bits. Tests hold both bounds for every filter, and every
//! instruction set against the definition in 64 bits. JavaScript computes the same sums in doubles: they are multiples of
//! 2^-20 below 2^17, 37 of the 53 bits that a double holds exactly. No float takes part in the filters here; the one in
//! the encoders of G.711 holds integers below 2^24, exactly.
//!
//! # Instruction sets
//! The fastest that the processor has is chosen at run time: AVX2, else SSE2, on x86-64; simd128 in WebAssembly is fixed
//! when the module is built. Elsewhere, aarch64 among them, the plain kernel runs: its loops have fixed lengths and
//! 16-bit factors, which compilers turn into the vectors of the target (NEON belongs to every aarch64 target), so it has
//! no kernel of its own there. The same samples come out; its speed there has not been measured.
//!
//! Companding has vectors of its own for AVX2 and simd128, and one loop for all others.
//!
//! # Unsafe code
//! Denied to the workspace, and allowed in one small file per instruction set: `kernel/sse2.rs`, `kernel/avx2.rs`,
//! `kernel/simd128.rs`, `sha1/sha_ni.rs`. Two things in them are unsafe. Loads and stores of whole vectors go through
//! pointers: of arrays whose length the type says, or of slices whose length is asserted before the loop. Functions for an
//! instruction set are called after the processor was asked, or where every processor has it. Arithmetic is safe.
//! Tests hold every one of these files against plain Rust.
//!
//! The filters, with the plots of their responses, are in [`filters`].

pub mod alaw;
mod base64;
mod companding;
mod error;
mod handles;
#[doc = include_str!("../docs/filters.md")]
#[doc = "# Responses"]
#[doc = include_str!("../docs/8-to-16.svg")]
#[doc = include_str!("../docs/16-to-8.svg")]
#[doc = include_str!("../docs/16-to-24.svg")]
#[doc = include_str!("../docs/24-to-16.svg")]
#[doc = include_str!("../docs/8-to-24.svg")]
#[doc = include_str!("../docs/24-to-8.svg")]
#[rustfmt::skip]
pub mod filters;
mod hmac;
mod kernel;
pub mod mulaw;
mod plan;
mod resampler;
mod sha1;
mod vad;

pub use error::Error;
pub use handles::Handles;
pub use hmac::{HmacSha1, RecentKeys};
pub use kernel::InstructionSet;
pub use resampler::Resampler;
pub use sha1::sha1;
pub use vad::{Heard, VoiceDetector};
