//! Node-API shims: convert arguments, call the transcoder, convert results. Nothing else.
//!
//! Results go into arrays that the caller owns; making one here costs more than the arithmetic. Resamplers are numbers:
//! cheaper than wrapped objects, and a stale one is an error, not a pointer.
#![deny(unsafe_code)]

mod calls;
mod views;

use calls::{define, Answer, Call, Function, Refusal};
use napi::bindgen_prelude::Object;
use napi::{Env, JsValue};
use napi_derive::napi;
use std::cell::RefCell;
use transcoder::{alaw, mulaw, Error, Handles, InstructionSet, RecentKeys, Resampler};
use views::{convert, Element};

thread_local! {
    static RESAMPLERS: RefCell<Handles<Resampler>> = const { RefCell::new(Handles::new()) };
    static KEYS: RefCell<RecentKeys> = const { RefCell::new(RecentKeys::new()) };
}

/// By their names in JavaScript. `input` and `output` stand for typed arrays, the output as long as the result.
const FUNCTIONS: [(&str, Function); 16] = [
    // (input, output)
    ("mulawDecode", |call| compand(call, mulaw::decode)),
    ("mulawEncode", |call| compand(call, mulaw::encode)),
    ("alawDecode", |call| compand(call, alaw::decode)),
    ("alawEncode", |call| compand(call, alaw::encode)),
    // () -> names, the fastest last, with spaces between
    ("instructionSets", instruction_sets),
    // (fromHz, toHz, place of an instruction set, or more for the fastest) -> handle
    ("resamplerCreate", resampler_create),
    // (handle, input, output)
    ("resamplerProcess", |call| {
        resample(call, Resampler::process)
    }),
    ("resamplerProcessFromMulaw", |call| {
        resample(call, Resampler::process_from_mulaw)
    }),
    ("resamplerProcessToMulaw", |call| {
        resample(call, Resampler::process_to_mulaw)
    }),
    // (handle, text, output) -> false when the text is not base64
    ("resamplerProcessFromMulawBase64", resample_base64),
    // (handle, output)
    ("resamplerFlush", resampler_flush),
    // (handle)
    ("resamplerReset", resampler_reset),
    ("resamplerFree", resampler_free),
    // (key, message, output)
    ("hmacSha1", hmac_sha1),
    // (key, message, mac) -> boolean
    ("verifyHmacSha1", verify_hmac_sha1),
    // () -> how many resamplers are held
    ("resamplerCount", resampler_count),
];

/// Fills the exports of the addon.
#[napi(module_exports)]
#[allow(unsafe_code)]
pub fn init(exports: Object, env: Env) -> napi::Result<()> {
    for (name, function) in FUNCTIONS {
        // SAFETY: these are the environment and exports of the module that is being loaded.
        unsafe { define(env.raw(), exports.raw(), name, function) };
    }
    Ok(())
}

fn refuse(error: Error) -> Refusal {
    error.to_string()
}

fn compand<T: Element, U: Element>(
    call: &Call,
    step: fn(&[T], &mut [U]) -> Result<usize, Error>,
) -> Result<Answer, Refusal> {
    let input = call.view(0)?;
    let mut output = call.view(1)?;
    convert(&input, &mut output, step).map_err(refuse)?;
    Ok(Answer::Nothing)
}

fn with_resampler<R>(
    call: &Call,
    task: impl FnOnce(&mut Resampler) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let handle = call.number(0)?;
    RESAMPLERS.with_borrow_mut(|resamplers| match resamplers.get(handle) {
        Some(resampler) => task(resampler),
        None => Err("the resampler was freed".to_owned()),
    })
}

/// A way to send elements through a resampler.
type Step<T, U> = fn(&mut Resampler, &[T], &mut [U]) -> Result<usize, Error>;

fn resample<T: Element, U: Element>(call: &Call, step: Step<T, U>) -> Result<Answer, Refusal> {
    let input = call.view(1)?;
    let mut output = call.view(2)?;
    with_resampler(call, |resampler| {
        convert(&input, &mut output, |from, to| step(resampler, from, to)).map_err(refuse)?;
        Ok(Answer::Nothing)
    })
}

fn resample_base64(call: &Call) -> Result<Answer, Refusal> {
    let mut output = call.view(2)?;
    call.with_text(1, |text| {
        with_resampler(call, |resampler| {
            match output.fill(|to| resampler.process_from_mulaw_base64(text, to)) {
                Ok(_) => Ok(Answer::Flag(true)),
                Err(Error::InvalidBase64) => Ok(Answer::Flag(false)),
                Err(error) => Err(refuse(error)),
            }
        })
    })?
}

fn instruction_sets(_: &Call) -> Result<Answer, Refusal> {
    let names = InstructionSet::available()
        .iter()
        .map(|set| format!("{set:?}").to_lowercase());
    Ok(Answer::Text(names.collect::<Vec<_>>().join(" ")))
}

fn resampler_create(call: &Call) -> Result<Answer, Refusal> {
    let set = InstructionSet::available()
        .get(call.number(2)? as usize)
        .copied()
        .unwrap_or(InstructionSet::best());
    let resampler = Resampler::with_instruction_set(call.number(0)?, call.number(1)?, set);
    let resampler = resampler.map_err(refuse)?;
    RESAMPLERS
        .with_borrow_mut(|resamplers| resamplers.insert(resampler))
        .map(Answer::Number)
        .ok_or_else(|| "too many resamplers".to_owned())
}

fn resampler_flush(call: &Call) -> Result<Answer, Refusal> {
    let mut output = call.view(1)?;
    with_resampler(call, |resampler| {
        output.fill(|to| resampler.flush(to)).map_err(refuse)?;
        Ok(Answer::Nothing)
    })
}

fn resampler_reset(call: &Call) -> Result<Answer, Refusal> {
    with_resampler(call, |resampler| {
        resampler.reset();
        Ok(Answer::Nothing)
    })
}

fn resampler_free(call: &Call) -> Result<Answer, Refusal> {
    let handle = call.number(0)?;
    RESAMPLERS.with_borrow_mut(|resamplers| resamplers.remove(handle));
    Ok(Answer::Nothing)
}

fn resampler_count(_: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::Number(
        RESAMPLERS.with_borrow(|resamplers| resamplers.len() as u32),
    ))
}

fn hmac_sha1(call: &Call) -> Result<Answer, Refusal> {
    let (key, message) = (call.view(0)?, call.view(1)?);
    let code = KEYS.with_borrow_mut(|keys| keys.prepare(&key.read()).sign(&message.read()));
    let mut output = call.view(2)?;
    output.fill(|to| match to.get_mut(..code.len()) {
        Some(place) => {
            place.copy_from_slice(&code);
            Ok(Answer::Nothing)
        }
        None => Err("the output holds less than 20 bytes".to_owned()),
    })
}

fn verify_hmac_sha1(call: &Call) -> Result<Answer, Refusal> {
    let (key, message, mac) = (call.view(0)?, call.view(1)?, call.view(2)?);
    let right = KEYS.with_borrow_mut(|keys| {
        keys.prepare(&key.read())
            .verify(&message.read(), &mac.read())
    });
    Ok(Answer::Flag(right))
}
