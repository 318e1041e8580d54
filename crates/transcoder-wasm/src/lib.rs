//! WebAssembly shims: the transcoder behind functions on plain numbers, which need no binding code to call.
//!
//! The caller copies its input to `bytes_in` or `samples_in`, calls, and copies the result from `bytes_out` or
//! `samples_out`. Nothing is allocated per call but for a resampler, a voice detector or a new key, which may let the memory grow; the
//! addresses stay what they are.
//! Functions that can fail return -1 (those that make something: 0). Resamplers and voice detectors are numbers, and a stale one is
//! a failure, not a pointer.
//!
//! `scripts/build-wasm.mjs` builds what the npm package ships. `wasm-pack build crates/transcoder-wasm` (0.11 or later,
//! which knows keys that a workspace holds) should do as well, but fetches programs from outside the package registries,
//! and is not tested.

use std::cell::RefCell;
use transcoder::{
    alaw, mulaw, Error, Handles, Heard, InstructionSet, RecentKeys, Resampler, VoiceDetector,
};
use wasm_bindgen::prelude::wasm_bindgen;

/// Elements of every buffer at the start: more than half a second of 24 kHz audio.
const INITIAL_CAPACITY: usize = 16 * 1024;

struct Buffers {
    bytes_in: Vec<u8>,
    samples_in: Vec<i16>,
    bytes_out: Vec<u8>,
    samples_out: Vec<i16>,
    resamplers: Handles<Resampler>,
    detectors: Handles<VoiceDetector>,
    keys: RecentKeys,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        bytes_in: vec![0; INITIAL_CAPACITY],
        samples_in: vec![0; INITIAL_CAPACITY],
        // Three elements out for one in, at most, and a tail.
        bytes_out: vec![0; 3 * INITIAL_CAPACITY + 256],
        samples_out: vec![0; 3 * INITIAL_CAPACITY + 256],
        resamplers: Handles::new(),
        detectors: Handles::new(),
        keys: RecentKeys::new(),
    });
}

/// The count, or -1.
fn count(result: Option<Result<usize, Error>>) -> i32 {
    match result {
        Some(Ok(count)) => count as i32,
        _ => -1,
    }
}

/// Energy and voice in one number, or NaN.
fn packed(result: Option<Result<Heard, Error>>) -> f64 {
    match result {
        Some(Ok(heard)) => heard.pack(),
        _ => f64::NAN,
    }
}

/// Address of the bytes to read.
#[wasm_bindgen]
pub fn bytes_in() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.bytes_in.as_ptr() as u32)
}

/// Address of the samples to read.
#[wasm_bindgen]
pub fn samples_in() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.samples_in.as_ptr() as u32)
}

/// Address of the bytes written.
#[wasm_bindgen]
pub fn bytes_out() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.bytes_out.as_ptr() as u32)
}

/// Address of the samples written.
#[wasm_bindgen]
pub fn samples_out() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.samples_out.as_ptr() as u32)
}

/// Elements that a call may read.
#[wasm_bindgen]
pub fn capacity() -> u32 {
    INITIAL_CAPACITY as u32
}

/// Mu-law bytes to samples.
#[wasm_bindgen]
pub fn mulaw_decode(length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let input = buffers.bytes_in.get(..length as usize);
        count(input.map(|input| mulaw::decode(input, &mut buffers.samples_out)))
    })
}

/// Samples to mu-law bytes.
#[wasm_bindgen]
pub fn mulaw_encode(length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let input = buffers.samples_in.get(..length as usize);
        count(input.map(|input| mulaw::encode(input, &mut buffers.bytes_out)))
    })
}

/// A-law bytes to samples.
#[wasm_bindgen]
pub fn alaw_decode(length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let input = buffers.bytes_in.get(..length as usize);
        count(input.map(|input| alaw::decode(input, &mut buffers.samples_out)))
    })
}

/// Samples to A-law bytes.
#[wasm_bindgen]
pub fn alaw_encode(length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let input = buffers.samples_in.get(..length as usize);
        count(input.map(|input| alaw::encode(input, &mut buffers.bytes_out)))
    })
}

/// How many instruction sets there are to choose from; the last one is the fastest.
#[wasm_bindgen]
pub fn instruction_sets() -> u32 {
    InstructionSet::available().len() as u32
}

/// A resampler, or 0. `set` is the place of an instruction set; a number too high means the fastest.
#[wasm_bindgen]
pub fn resampler_create(from_hz: u32, to_hz: u32, set: u32) -> u32 {
    let set = InstructionSet::available()
        .get(set as usize)
        .copied()
        .unwrap_or(InstructionSet::best());
    let resampler = Resampler::with_instruction_set(from_hz, to_hz, set).ok();
    BUFFERS.with_borrow_mut(|buffers| {
        resampler
            .and_then(|resampler| buffers.resamplers.insert(resampler))
            .unwrap_or(0)
    })
}

/// Samples to samples.
#[wasm_bindgen]
pub fn resampler_process(handle: u32, length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let resampler = buffers.resamplers.get(handle);
        let input = buffers.samples_in.get(..length as usize);
        let both = resampler.zip(input);
        count(both.map(|(resampler, input)| resampler.process(input, &mut buffers.samples_out)))
    })
}

/// Mu-law bytes to samples of the other rate.
#[wasm_bindgen]
pub fn resampler_process_from_mulaw(handle: u32, length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let resampler = buffers.resamplers.get(handle);
        let both = resampler.zip(buffers.bytes_in.get(..length as usize));
        let output = &mut buffers.samples_out;
        count(both.map(|(resampler, input)| resampler.process_from_mulaw(input, output)))
    })
}

/// Mu-law bytes in base64 to samples of the other rate. -1 also when the text is not base64.
#[wasm_bindgen]
pub fn resampler_process_from_mulaw_base64(handle: u32, length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let resampler = buffers.resamplers.get(handle);
        let both = resampler.zip(buffers.bytes_in.get(..length as usize));
        let output = &mut buffers.samples_out;
        count(both.map(|(resampler, text)| resampler.process_from_mulaw_base64(text, output)))
    })
}

/// Samples to mu-law bytes of the other rate.
#[wasm_bindgen]
pub fn resampler_process_to_mulaw(handle: u32, length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let resampler = buffers.resamplers.get(handle);
        let both = resampler.zip(buffers.samples_in.get(..length as usize));
        let output = &mut buffers.bytes_out;
        count(both.map(|(resampler, input)| resampler.process_to_mulaw(input, output)))
    })
}

/// How many resamplers are held.
#[wasm_bindgen]
pub fn resampler_count() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.resamplers.len() as u32)
}

/// Writes the tail and starts anew.
#[wasm_bindgen]
pub fn resampler_flush(handle: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let resampler = buffers.resamplers.get(handle);
        count(resampler.map(|resampler| resampler.flush(&mut buffers.samples_out)))
    })
}

/// Forgets all input. False when the resampler was freed.
#[wasm_bindgen]
pub fn resampler_reset(handle: u32) -> bool {
    BUFFERS.with_borrow_mut(|buffers| match buffers.resamplers.get(handle) {
        Some(resampler) => {
            resampler.reset();
            true
        }
        None => false,
    })
}

/// Gives the state back. False when it was given back before.
#[wasm_bindgen]
pub fn resampler_free(handle: u32) -> bool {
    BUFFERS.with_borrow_mut(|buffers| buffers.resamplers.remove(handle))
}

/// A voice detector, or 0.
#[wasm_bindgen]
pub fn detector_create() -> u32 {
    BUFFERS.with_borrow_mut(|buffers| buffers.detectors.insert(VoiceDetector::new()).unwrap_or(0))
}

/// Hears the samples to read, which are a frame: energy and voice as `Heard::pack` has them, or NaN.
#[wasm_bindgen]
pub fn detector_hear(handle: u32, length: u32) -> f64 {
    BUFFERS.with_borrow_mut(|buffers| {
        let frame = buffers.samples_in.get(..length as usize);
        let both = buffers.detectors.get(handle).zip(frame);
        packed(both.map(|(detector, frame)| detector.hear(frame)))
    })
}

/// The same for mu-law bytes, which a resampler turns into a frame.
#[wasm_bindgen]
pub fn detector_hear_mulaw(handle: u32, resampler: u32, length: u32) -> f64 {
    BUFFERS.with_borrow_mut(|buffers| {
        let both = (buffers.detectors.get(handle)).zip(buffers.resamplers.get(resampler));
        let all = both.zip(buffers.bytes_in.get(..length as usize));
        let output = &mut buffers.samples_out;
        packed(
            all.map(|((detector, resampler), input)| detector.hear_mulaw(resampler, input, output)),
        )
    })
}

/// Gives the state back. False when it was given back before.
#[wasm_bindgen]
pub fn detector_free(handle: u32) -> bool {
    BUFFERS.with_borrow_mut(|buffers| buffers.detectors.remove(handle))
}

/// How many voice detectors are held.
#[wasm_bindgen]
pub fn detector_count() -> u32 {
    BUFFERS.with_borrow(|buffers| buffers.detectors.len() as u32)
}

/// HMAC-SHA1 of a message: the bytes to read are the key, then the message.
#[wasm_bindgen]
pub fn hmac_sha1(key_length: u32, message_length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let Some((key, rest)) = buffers.bytes_in.split_at_checked(key_length as usize) else {
            return -1;
        };
        let Some(message) = rest.get(..message_length as usize) else {
            return -1;
        };
        let code = buffers.keys.prepare(key).sign(message);
        buffers.bytes_out[..code.len()].copy_from_slice(&code);
        code.len() as i32
    })
}

/// 1 when the code is right, 0 when it is not: the bytes to read are the key, the message, then the code.
#[wasm_bindgen]
pub fn verify_hmac_sha1(key_length: u32, message_length: u32, mac_length: u32) -> i32 {
    BUFFERS.with_borrow_mut(|buffers| {
        let parts = buffers
            .bytes_in
            .split_at_checked(key_length as usize)
            .and_then(|(key, rest)| {
                let (message, rest) = rest.split_at_checked(message_length as usize)?;
                Some((key, message, rest.get(..mac_length as usize)?))
            });
        match parts {
            Some((key, message, mac)) => i32::from(buffers.keys.prepare(key).verify(message, mac)),
            None => -1,
        }
    })
}
