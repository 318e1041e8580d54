//! Node-API shims: convert arguments, call the transcoder, convert results. Nothing else.
//!
//! Results go into arrays that the caller owns; making one here costs more than the arithmetic. Resamplers and voice detectors
//! are numbers: cheaper than wrapped objects, and a stale one is an error, not a pointer.
//!
//! `boundary` is the one file with unsafe code; it says why it is sound.

mod boundary;

use boundary::{define, Answer, Call, Element, Refusal};
use napi::bindgen_prelude::Object;
use napi::Env;
use napi_derive::napi;
use std::cell::RefCell;
use transcoder::{
    alaw, mulaw, Error, Handles, InstructionSet, RecentKeys, Resampler, VoiceDetector,
};

thread_local! {
    static RESAMPLERS: RefCell<Handles<Resampler>> = const { RefCell::new(Handles::new()) };
    static DETECTORS: RefCell<Handles<VoiceDetector>> = const { RefCell::new(Handles::new()) };
    static KEYS: RefCell<RecentKeys> = const { RefCell::new(RecentKeys::new()) };
}

/// Room for the base64 text of a frame, and more.
const TEXT_ROOM: usize = 1024;

/// Fills the exports of the addon. `input` and `output` stand for typed arrays, the output as long as the result.
#[napi(module_exports)]
pub fn init(exports: Object, env: Env) -> napi::Result<()> {
    macro_rules! export {
        ($($name:literal => $function:expr,)*) => {
            $(define(&env, &exports, $name, $function);)*
        };
    }
    export! {
        // (input, output)
        "mulawDecode" => |call: &mut Call<'_>| compand(call, mulaw::decode),
        "mulawEncode" => |call: &mut Call<'_>| compand(call, mulaw::encode),
        "alawDecode" => |call: &mut Call<'_>| compand(call, alaw::decode),
        "alawEncode" => |call: &mut Call<'_>| compand(call, alaw::encode),
        // () -> names, the fastest last, with spaces between
        "instructionSets" => instruction_sets,
        // (fromHz, toHz, place of an instruction set, or more for the fastest) -> handle
        "resamplerCreate" => resampler_create,
        // (handle, input, output)
        "resamplerProcess" => |call: &mut Call<'_>| resample(call, Resampler::process),
        "resamplerProcessFromMulaw" => |call: &mut Call<'_>| resample(call, Resampler::process_from_mulaw),
        "resamplerProcessToMulaw" => |call: &mut Call<'_>| resample(call, Resampler::process_to_mulaw),
        // (handle, text, output) -> false when the text is not base64
        "resamplerProcessFromMulawBase64" => resample_base64,
        // (handle, output)
        "resamplerFlush" => resampler_flush,
        // (handle)
        "resamplerReset" => resampler_reset,
        "resamplerFree" => resampler_free,
        // () -> handle
        "detectorCreate" => detector_create,
        // (handle, frame) -> energy and voice, as `Heard::pack` has them
        "detectorHear" => detector_hear,
        // (handle, handle of a resampler, input, output) -> the same
        "detectorHearMulaw" => detector_hear_mulaw,
        // (handle)
        "detectorFree" => detector_free,
        // (key, message, output)
        "hmacSha1" => hmac_sha1,
        // (key, message, mac) -> boolean
        "verifyHmacSha1" => verify_hmac_sha1,
        // () -> how many resamplers are held
        "resamplerCount" => resampler_count,
        // () -> how many voice detectors are held
        "detectorCount" => detector_count,
    }
    Ok(())
}

fn refuse(error: Error) -> Refusal {
    error.to_string()
}

fn compand<T: Element, U: Element>(
    call: &mut Call<'_>,
    step: impl Fn(&[T], &mut [U]) -> Result<usize, Error>,
) -> Result<Answer, Refusal> {
    let (input, output) = (call.array(0)?, call.array(1)?);
    call.convert(&input, &output, step).map_err(refuse)?;
    Ok(Answer::Nothing)
}

fn with_resampler<R>(
    handle: u32,
    task: impl FnOnce(&mut Resampler) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    RESAMPLERS.with_borrow_mut(|resamplers| match resamplers.get(handle) {
        Some(resampler) => task(resampler),
        None => Err("the resampler was freed".to_owned()),
    })
}

fn resample<T: Element, U: Element>(
    call: &mut Call<'_>,
    step: impl Fn(&mut Resampler, &[T], &mut [U]) -> Result<usize, Error>,
) -> Result<Answer, Refusal> {
    let (input, output) = (call.array(1)?, call.array(2)?);
    with_resampler(call.number(0)?, |resampler| {
        call.convert(&input, &output, |from, to| step(resampler, from, to))
            .map_err(refuse)?;
        Ok(Answer::Nothing)
    })
}

fn resample_base64(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let (handle, output) = (call.number(0)?, call.array(2)?);
    let mut buffer = [0; TEXT_ROOM];
    let mut longer;
    let mut length = call.copy_text(1, &mut buffer)?;
    let mut text = &buffer[..];
    // Node writes whole characters and a zero byte: a text that left no room for one more may have been cut.
    if length + 4 >= TEXT_ROOM {
        longer = vec![0; call.copy_text(1, &mut [])? + 1];
        length = call.copy_text(1, &mut longer)?;
        text = &longer;
    }
    with_resampler(handle, |resampler| {
        let decode = |to: &mut [i16]| resampler.process_from_mulaw_base64(&text[..length], to);
        match call.fill(&output, decode) {
            Ok(_) => Ok(Answer::Flag(true)),
            Err(Error::InvalidBase64) => Ok(Answer::Flag(false)),
            Err(error) => Err(refuse(error)),
        }
    })
}

fn instruction_sets(_: &mut Call<'_>) -> Result<Answer, Refusal> {
    let names = InstructionSet::available()
        .iter()
        .map(|set| format!("{set:?}").to_lowercase());
    Ok(Answer::Text(names.collect::<Vec<_>>().join(" ")))
}

fn resampler_create(call: &mut Call<'_>) -> Result<Answer, Refusal> {
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

fn resampler_flush(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let output = call.array(1)?;
    with_resampler(call.number(0)?, |resampler| {
        call.fill(&output, |to| resampler.flush(to))
            .map_err(refuse)?;
        Ok(Answer::Nothing)
    })
}

fn resampler_reset(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    with_resampler(call.number(0)?, |resampler| {
        resampler.reset();
        Ok(Answer::Nothing)
    })
}

fn resampler_free(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let handle = call.number(0)?;
    RESAMPLERS.with_borrow_mut(|resamplers| resamplers.remove(handle));
    Ok(Answer::Nothing)
}

fn resampler_count(_: &mut Call<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Number(
        RESAMPLERS.with_borrow(|resamplers| resamplers.len() as u32),
    ))
}

fn with_detector<R>(
    handle: u32,
    task: impl FnOnce(&mut VoiceDetector) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    DETECTORS.with_borrow_mut(|detectors| match detectors.get(handle) {
        Some(detector) => task(detector),
        None => Err("the voice detector was freed".to_owned()),
    })
}

fn detector_create(_: &mut Call<'_>) -> Result<Answer, Refusal> {
    DETECTORS
        .with_borrow_mut(|detectors| detectors.insert(VoiceDetector::new()))
        .map(Answer::Number)
        .ok_or_else(|| "too many voice detectors".to_owned())
}

fn detector_hear(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let frame = call.array(1)?;
    with_detector(call.number(0)?, |detector| {
        let heard = detector.hear(&call.read(&frame)).map_err(refuse)?;
        Ok(Answer::Double(heard.pack()))
    })
}

fn detector_hear_mulaw(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let (input, output) = (call.array(2)?, call.array(3)?);
    with_detector(call.number(0)?, |detector| {
        with_resampler(call.number(1)?, |resampler| {
            let heard = call
                .convert(&input, &output, |from, to| {
                    detector.hear_mulaw(resampler, from, to)
                })
                .map_err(refuse)?;
            Ok(Answer::Double(heard.pack()))
        })
    })
}

fn detector_free(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let handle = call.number(0)?;
    DETECTORS.with_borrow_mut(|detectors| detectors.remove(handle));
    Ok(Answer::Nothing)
}

fn detector_count(_: &mut Call<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Number(
        DETECTORS.with_borrow(|detectors| detectors.len() as u32),
    ))
}

fn hmac_sha1(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let (key, message, output) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let code =
        KEYS.with_borrow_mut(|keys| keys.prepare(&call.read(&key)).sign(&call.read(&message)));
    call.fill(&output, |to: &mut [u8]| match to.get_mut(..code.len()) {
        Some(place) => {
            place.copy_from_slice(&code);
            Ok(Answer::Nothing)
        }
        None => Err("the output holds less than 20 bytes".to_owned()),
    })
}

fn verify_hmac_sha1(call: &mut Call<'_>) -> Result<Answer, Refusal> {
    let (key, message, mac) = (call.array(0)?, call.array(1)?, call.array(2)?);
    let right = KEYS.with_borrow_mut(|keys| {
        keys.prepare(&call.read(&key))
            .verify(&call.read(&message), &call.read(&mac))
    });
    Ok(Answer::Flag(right))
}
