//! The decoders on whatever comes over the wire: bytes of mu-law and A-law, and base64 text of mu-law in any chunks.
//! Nothing panics, every instruction set says the same, and a text that is refused leaves the resampler as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transcoder::{alaw, mulaw, InstructionSet, Resampler};

const RATES: [(u32, u32); 3] = [(8000, 16000), (8000, 24000), (24000, 16000)];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    companding(bytes);
    let (from_hz, to_hz) = RATES[usize::from(choice) % RATES.len()];
    let (Some(mut first), Some(mut second)) = (
        InstructionSet::available()
            .first()
            .and_then(|&set| Resampler::with_instruction_set(from_hz, to_hz, set).ok()),
        InstructionSet::available()
            .last()
            .and_then(|&set| Resampler::with_instruction_set(from_hz, to_hz, set).ok()),
    ) else {
        panic!("these rates are offered on every machine");
    };
    // The high bits of the choice are the length of a chunk.
    for chunk in bytes.chunks(usize::from(choice >> 2) + 1) {
        assert_eq!(base64(&mut first, chunk), base64(&mut second, chunk));
        assert_eq!(codes(&mut first, chunk), codes(&mut second, chunk));
    }
});

fn companding(bytes: &[u8]) {
    let mut samples = vec![0; bytes.len()];
    let mut again = vec![0; bytes.len()];
    assert_eq!(mulaw::decode(bytes, &mut samples), Ok(bytes.len()));
    for (&code, &sample) in bytes.iter().zip(&samples) {
        assert_eq!(mulaw::decode_sample(code), sample);
    }
    assert_eq!(mulaw::encode(&samples, &mut again), Ok(bytes.len()));
    // Both codes of zero become one.
    assert!(bytes
        .iter()
        .zip(&again)
        .all(|(&code, &back)| code == back || code & 0x7f == 0x7f));
    assert_eq!(alaw::decode(bytes, &mut samples), Ok(bytes.len()));
    assert_eq!(alaw::encode(&samples, &mut again), Ok(bytes.len()));
    assert_eq!(bytes, again);
}

fn base64(resampler: &mut Resampler, text: &[u8]) -> Option<Vec<i16>> {
    let mut output = vec![0; resampler.output_len(text.len())];
    let count = resampler
        .process_from_mulaw_base64(text, &mut output)
        .ok()?;
    output.truncate(count);
    Some(output)
}

fn codes(resampler: &mut Resampler, codes: &[u8]) -> Vec<i16> {
    let mut output = vec![0; resampler.output_len(codes.len())];
    assert_eq!(
        resampler.process_from_mulaw(codes, &mut output),
        Ok(output.len())
    );
    output
}
