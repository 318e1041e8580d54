//! Node-API shims: convert arguments, call the transcoder, convert results. Nothing else.
//!
//! Results go into arrays that the caller owns; making one here costs more than the arithmetic. Resamplers are numbers:
//! cheaper than wrapped objects, and a stale one is an error, not a pointer.
#![deny(unsafe_code)]

mod views;

use napi::{Error, Result, Status};
use napi_derive::napi;
use std::cell::RefCell;
use transcoder::{alaw, mulaw, Handles, HmacSha1, InstructionSet, Resampler};
use views::{pair, View};

thread_local! {
    static RESAMPLERS: RefCell<Handles<Resampler>> = const { RefCell::new(Handles::new()) };
}

fn invalid(reason: impl ToString) -> Error {
    Error::new(Status::InvalidArg, reason.to_string())
}

fn with_resampler<R>(handle: u32, task: impl FnOnce(&mut Resampler) -> Result<R>) -> Result<R> {
    RESAMPLERS.with_borrow_mut(|resamplers| match resamplers.get(handle) {
        Some(resampler) => task(resampler),
        None => Err(invalid("the resampler was freed")),
    })
}

/// Mu-law bytes to samples. Returns the number of samples.
#[napi(catch_unwind)]
pub fn mulaw_decode(input: View<u8>, mut output: View<i16>) -> Result<u32> {
    let (from, to) = pair(&input, &mut output);
    mulaw::decode(&from, to)
        .map(|count| count as u32)
        .map_err(invalid)
}

/// Samples to mu-law bytes. Returns the number of bytes.
#[napi(catch_unwind)]
pub fn mulaw_encode(input: View<i16>, mut output: View<u8>) -> Result<u32> {
    let (from, to) = pair(&input, &mut output);
    mulaw::encode(&from, to)
        .map(|count| count as u32)
        .map_err(invalid)
}

/// A-law bytes to samples. Returns the number of samples.
#[napi(catch_unwind)]
pub fn alaw_decode(input: View<u8>, mut output: View<i16>) -> Result<u32> {
    let (from, to) = pair(&input, &mut output);
    alaw::decode(&from, to)
        .map(|count| count as u32)
        .map_err(invalid)
}

/// Samples to A-law bytes. Returns the number of bytes.
#[napi(catch_unwind)]
pub fn alaw_encode(input: View<i16>, mut output: View<u8>) -> Result<u32> {
    let (from, to) = pair(&input, &mut output);
    alaw::encode(&from, to)
        .map(|count| count as u32)
        .map_err(invalid)
}

/// Names of the instruction sets that this processor can run, the fastest last.
#[napi(catch_unwind)]
pub fn instruction_sets() -> Vec<String> {
    InstructionSet::available()
        .iter()
        .map(|set| format!("{set:?}").to_lowercase())
        .collect()
}

/// A resampler's handle. `set` forces one of `instruction_sets`, by its place.
#[napi(catch_unwind)]
pub fn resampler_create(from_hz: u32, to_hz: u32, set: Option<u32>) -> Result<u32> {
    let set = match set {
        None => InstructionSet::best(),
        Some(place) => *InstructionSet::available()
            .get(place as usize)
            .ok_or_else(|| invalid("no such instruction set"))?,
    };
    let resampler = Resampler::with_instruction_set(from_hz, to_hz, set).map_err(invalid)?;
    RESAMPLERS
        .with_borrow_mut(|resamplers| resamplers.insert(resampler))
        .ok_or_else(|| invalid("too many resamplers"))
}

/// Consumes samples, returns how many were written.
#[napi(catch_unwind)]
pub fn resampler_process(handle: u32, input: View<i16>, mut output: View<i16>) -> Result<u32> {
    let (from, to) = pair(&input, &mut output);
    with_resampler(handle, |resampler| {
        resampler.process(&from, to).map_err(invalid)
    })
    .map(|count| count as u32)
}

/// Writes the tail and starts anew. Returns how many samples were written.
#[napi(catch_unwind)]
pub fn resampler_flush(handle: u32, mut output: View<i16>) -> Result<u32> {
    with_resampler(handle, |resampler| {
        resampler.flush(output.write()).map_err(invalid)
    })
    .map(|count| count as u32)
}

/// Forgets all input.
#[napi(catch_unwind)]
pub fn resampler_reset(handle: u32) -> Result<()> {
    with_resampler(handle, |resampler| {
        resampler.reset();
        Ok(())
    })
}

/// Gives the state back. False when it was given back before.
#[napi(catch_unwind)]
pub fn resampler_free(handle: u32) -> bool {
    RESAMPLERS.with_borrow_mut(|resamplers| resamplers.remove(handle))
}

/// HMAC-SHA1 of `message` into the first 20 bytes of `output`.
#[napi(catch_unwind)]
pub fn hmac_sha1(key: View<u8>, message: View<u8>, mut output: View<u8>) -> Result<()> {
    let code = HmacSha1::new(key.read()).sign(message.read());
    match output.write().get_mut(..code.len()) {
        Some(place) => place.copy_from_slice(&code),
        None => return Err(invalid("the output holds less than 20 bytes")),
    }
    Ok(())
}

/// True when `mac` is the HMAC-SHA1 of `message`.
#[napi(catch_unwind)]
pub fn verify_hmac_sha1(key: View<u8>, message: View<u8>, mac: View<u8>) -> bool {
    HmacSha1::new(key.read()).verify(message.read(), mac.read())
}
