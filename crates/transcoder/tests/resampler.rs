//! The resampler against its definition, and every instruction set against the others.

use transcoder::filters::{FILTERS, SCALE_BITS};
use transcoder::{mulaw, Error, InstructionSet, Resampler};

const PAIRS: [(u32, u32); 6] = [
    (8000, 16000),
    (16000, 8000),
    (16000, 24000),
    (24000, 16000),
    (8000, 24000),
    (24000, 8000),
];

/// Full-scale noise.
fn noise(length: usize, seed: u64) -> Vec<i16> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as i16
        })
        .collect()
}

/// Zeros between the samples, one sum over all taps in 64 bits, rounded once, saturated.
fn by_definition(from_hz: u32, to_hz: u32, input: &[i16], count: usize) -> Vec<i16> {
    let filter = FILTERS
        .iter()
        .find(|filter| (filter.from_hz, filter.to_hz) == (from_hz, to_hz))
        .unwrap();
    let (up, down) = (i64::from(to_hz / 8000), i64::from(from_hz / 8000));
    let reach = filter.half.len() as i64 - 1;
    let delay = reach - (down - 1);
    (0..count as i64)
        .map(|m| {
            let mut sum = 1i64 << (SCALE_BITS - 1);
            for k in -reach..=reach {
                let position = m * down - delay + k;
                if position >= 0 && position % up == 0 {
                    if let Some(&sample) = input.get((position / up) as usize) {
                        sum +=
                            i64::from(filter.half[k.unsigned_abs() as usize]) * i64::from(sample);
                    }
                }
            }
            (sum >> SCALE_BITS).clamp(-32768, 32767) as i16
        })
        .collect()
}

fn whole(resampler: &mut Resampler, input: &[i16]) -> Vec<i16> {
    let mut output = vec![0; resampler.output_len(input.len())];
    let written = resampler.process(input, &mut output).unwrap();
    assert_eq!(written, output.len());
    output
}

fn tail(resampler: &mut Resampler) -> Vec<i16> {
    let mut output = vec![0; resampler.flush_len()];
    resampler.flush(&mut output).unwrap();
    output
}

#[test]
fn every_instruction_set_is_the_definition() {
    let square: Vec<i16> = (0..1000)
        .map(|n| if n / 7 % 2 == 0 { i16::MAX } else { i16::MIN })
        .collect();
    for (from_hz, to_hz) in PAIRS {
        for input in [noise(1001, 1), square.clone(), vec![i16::MIN; 600]] {
            for &set in InstructionSet::available() {
                let mut resampler = Resampler::with_instruction_set(from_hz, to_hz, set).unwrap();
                let mut output = whole(&mut resampler, &input);
                output.extend(tail(&mut resampler));
                let expected = by_definition(from_hz, to_hz, &input, output.len());
                assert!(output == expected, "{from_hz} to {to_hz} on {set:?}");
            }
        }
    }
}

#[test]
fn chunks_do_not_matter() {
    let input = noise(2500, 2);
    for (from_hz, to_hz) in PAIRS {
        let mut resampler = Resampler::new(from_hz, to_hz).unwrap();
        let mut expected = whole(&mut resampler, &input);
        expected.extend(tail(&mut resampler));
        for size in [1, 2, 3, 5, 159, 161, 480, 481] {
            let mut output = Vec::new();
            for chunk in input.chunks(size) {
                output.extend(whole(&mut resampler, chunk));
                assert!(whole(&mut resampler, &[]).is_empty());
            }
            output.extend(tail(&mut resampler));
            assert!(output == expected, "{from_hz} to {to_hz} by {size}");
        }
    }
}

#[test]
fn frames_in_are_frames_out() {
    for (from_hz, to_hz) in PAIRS {
        let mut resampler = Resampler::new(from_hz, to_hz).unwrap();
        for _ in 0..5 {
            assert_eq!(
                whole(&mut resampler, &noise(from_hz as usize / 50, 3)).len(),
                to_hz as usize / 50
            );
        }
    }
}

#[test]
fn fused_steps_are_the_steps_one_after_the_other() {
    let codes: Vec<u8> = (0..=255).cycle().take(1003).collect();
    let samples: Vec<i16> = codes
        .iter()
        .map(|&code| mulaw::decode_sample(code))
        .collect();
    for (from_hz, to_hz) in PAIRS {
        let mut apart = Resampler::new(from_hz, to_hz).unwrap();
        let mut fused = Resampler::new(from_hz, to_hz).unwrap();
        let expected = whole(&mut apart, &samples);
        let mut output = vec![0; expected.len()];
        fused.process_from_mulaw(&codes, &mut output).unwrap();
        assert!(output == expected);
        let expected: Vec<u8> = whole(&mut apart, &samples)
            .into_iter()
            .map(mulaw::encode_sample)
            .collect();
        let mut encoded = vec![0; expected.len()];
        fused.process_to_mulaw(&samples, &mut encoded).unwrap();
        assert!(encoded == expected);
    }
}

#[test]
fn a_short_output_is_an_error_and_changes_nothing() {
    let input = noise(480, 4);
    for (from_hz, to_hz) in PAIRS {
        let mut resampler = Resampler::new(from_hz, to_hz).unwrap();
        let mut untouched = Resampler::new(from_hz, to_hz).unwrap();
        let needed = resampler.output_len(input.len());
        let given = needed - 1;
        assert_eq!(
            resampler.process(&input, &mut vec![0; given]),
            Err(Error::OutputTooShort { needed, given })
        );
        assert!(whole(&mut resampler, &input) == whole(&mut untouched, &input));
        assert!(resampler.flush(&mut []).is_err());
        assert!(tail(&mut resampler) == tail(&mut untouched));
    }
}

#[test]
fn other_rates_are_refused() {
    for (from_hz, to_hz) in [
        (8000, 8000),
        (0, 0),
        (8000, 48000),
        (u32::MAX, 8000),
        (44100, 16000),
    ] {
        assert_eq!(
            Resampler::new(from_hz, to_hz).err(),
            Some(Error::UnsupportedRates { from_hz, to_hz })
        );
    }
}

/// The last digit of any other sets bits that no byte has.
#[test]
fn bytes_have_one_text() {
    let mut resampler = Resampler::new(8000, 16000).unwrap();
    let mut take = |text: &[u8]| resampler.process_from_mulaw_base64(text, &mut [0; 4]);
    for other in [b"ZB==", b"ZC==", b"ZE==", b"ZI==", b"ZmB=", b"ZmC="] {
        assert_eq!(take(other), Err(Error::InvalidBase64));
    }
    assert_eq!(take(b"ZQ=="), Ok(2));
    assert_eq!(take(b"ZmE="), Ok(4));
}

#[test]
fn recorded_speech_is_the_definition_on_every_instruction_set() {
    let text: String = include_str!("vectors/speech.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let mut silence = Resampler::new(8000, 16000).unwrap();
    let count = silence.output_len(text.trim_end_matches('=').len() * 3 / 4);
    // The way back to samples: what the even outputs copy is the input, one delay later.
    let mut wide = vec![0; count];
    silence
        .process_from_mulaw_base64(text.as_bytes(), &mut wide)
        .unwrap();
    let speech: Vec<i16> = wide[39..].iter().step_by(2).copied().collect();
    assert!(speech.len() > 20_000 && speech.iter().any(|&sample| sample > 20_000));
    for (from_hz, to_hz) in PAIRS {
        for &set in InstructionSet::available() {
            let mut resampler = Resampler::with_instruction_set(from_hz, to_hz, set).unwrap();
            let mut output = whole(&mut resampler, &speech);
            output.extend(tail(&mut resampler));
            let expected = by_definition(from_hz, to_hz, &speech, output.len());
            assert!(output == expected, "{from_hz} to {to_hz} on {set:?}");
        }
    }
}
