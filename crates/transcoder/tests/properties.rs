//! Any input at all, for every entry point: nothing panics, and what must hold holds. `PROPTEST_CASES` sets how many
//! cases are tried; the default takes a few seconds.

use proptest::collection::vec;
use proptest::prelude::*;
use transcoder::{
    alaw, mulaw, sha1, Error, Handles, HmacSha1, InstructionSet, RecentKeys, Resampler,
    VoiceDetector,
};

fn rates() -> impl Strategy<Value = (u32, u32)> {
    prop_oneof![
        Just((8000, 16000)),
        Just((16000, 8000)),
        Just((16000, 24000)),
        Just((24000, 16000)),
        Just((8000, 24000)),
        Just((24000, 8000)),
    ]
}

/// One thing that may be asked of a resampler.
#[derive(Clone, Debug)]
enum Step {
    Process(Vec<i16>),
    FromMulaw(Vec<u8>),
    FromBase64(Vec<u8>),
    ToMulaw(Vec<i16>),
    ShortOutput(Vec<i16>),
    Flush,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => vec(any::<i16>(), 0..1000).prop_map(Step::Process),
        2 => vec(any::<u8>(), 0..1000).prop_map(Step::FromMulaw),
        2 => "[A-Za-z0-9+/]{0,700}={0,2}".prop_map(|text| Step::FromBase64(text.into_bytes())),
        1 => vec(any::<u8>(), 0..50).prop_map(Step::FromBase64),
        2 => vec(any::<i16>(), 0..1000).prop_map(Step::ToMulaw),
        1 => vec(any::<i16>(), 3..1000).prop_map(Step::ShortOutput),
        1 => Just(Step::Flush),
        1 => Just(Step::Reset),
    ]
}

/// Takes a step; what comes out, as 16-bit numbers.
fn take(resampler: &mut Resampler, step: &Step) -> Vec<i16> {
    match step {
        Step::Process(input) => {
            let mut output = vec![0; resampler.output_len(input.len())];
            assert_eq!(resampler.process(input, &mut output), Ok(output.len()));
            output
        }
        Step::FromMulaw(input) => {
            let mut output = vec![0; resampler.output_len(input.len())];
            assert_eq!(
                resampler.process_from_mulaw(input, &mut output),
                Ok(output.len())
            );
            output
        }
        Step::FromBase64(text) => {
            let mut output = vec![0; resampler.output_len(text.len())];
            match resampler.process_from_mulaw_base64(text, &mut output) {
                Ok(count) => output.truncate(count),
                Err(_) => output.clear(),
            }
            output
        }
        Step::ToMulaw(input) => {
            let mut output = vec![0; resampler.output_len(input.len())];
            assert_eq!(
                resampler.process_to_mulaw(input, &mut output),
                Ok(output.len())
            );
            output.into_iter().map(i16::from).collect()
        }
        Step::ShortOutput(input) => {
            let needed = resampler.output_len(input.len());
            let mut output = vec![0; needed.saturating_sub(1)];
            assert_eq!(resampler.process(input, &mut output).is_err(), needed > 0);
            Vec::new()
        }
        Step::Flush => {
            let mut output = vec![0; resampler.flush_len()];
            assert_eq!(resampler.flush(&mut output), Ok(output.len()));
            output
        }
        Step::Reset => {
            resampler.reset();
            Vec::new()
        }
    }
}

/// Frames that are alike for a while, at any level, some of them with nothing but extremes.
fn frames() -> impl Strategy<Value = Vec<Vec<i16>>> {
    let part = (vec(any::<i16>(), 320), 0u32..17, 1usize..15);
    let frames = part.prop_map(|(mut frame, shift, times)| {
        for sample in &mut frame {
            *sample = match shift {
                16 if *sample < 0 => i16::MIN,
                16 => i16::MAX,
                _ => *sample >> shift,
            };
        }
        vec![frame; times]
    });
    vec(frames, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_frames_are_heard(frames in frames()) {
        let mut detector = VoiceDetector::new();
        let mut other = VoiceDetector::new();
        for frame in &frames {
            let heard = detector.hear(frame).unwrap();
            let squares = frame.iter().map(|&sample| u64::from(sample.unsigned_abs()).pow(2));
            prop_assert_eq!(heard.energy, squares.sum::<u64>());
            let energy = heard.energy as f64;
            prop_assert_eq!(heard.pack(), if heard.voiced { -1.0 - energy } else { energy });
            prop_assert_eq!(other.hear(frame), Ok(heard));
        }
    }

    #[test]
    fn what_is_no_frame_is_not_heard(frames in frames(), (from_hz, to_hz) in rates(), input in vec(any::<u8>(), 0..1000), room in 0usize..700) {
        let mut detector = VoiceDetector::new();
        let mut untouched = VoiceDetector::new();
        let mut resampler = Resampler::new(from_hz, to_hz).unwrap();
        let mut same = Resampler::new(from_hz, to_hz).unwrap();
        let mut output = vec![0; room];
        let fits = to_hz == 16_000 && resampler.output_len(input.len()) == 320;
        let heard = detector.hear_mulaw(&mut resampler, &input, &mut output);
        if fits && room >= 320 {
            same.process_from_mulaw(&input, &mut vec![0; 320]).unwrap();
            prop_assert_eq!(untouched.hear(&output[..320]), heard);
        } else {
            prop_assert_eq!(heard.err() == Some(Error::NotAFrame), !fits);
        }
        prop_assert_eq!(detector.hear(&vec![1; room]).is_ok(), room == 320);
        if room == 320 {
            untouched.hear(&vec![1; room]).unwrap();
        }
        for frame in &frames {
            prop_assert_eq!(detector.hear(frame), untouched.hear(frame));
        }
        let rest = take(&mut resampler, &Step::FromMulaw(input.clone()));
        prop_assert!(rest == take(&mut same, &Step::FromMulaw(input)));
    }

    #[test]
    fn mulaw_is_heard_as_its_samples(codes in vec(vec(any::<u8>(), 160), 0..60)) {
        let (mut fused, mut apart) = (VoiceDetector::new(), VoiceDetector::new());
        let mut resamplers = [Resampler::new(8000, 16_000).unwrap(), Resampler::new(8000, 16_000).unwrap()];
        for codes in &codes {
            let (mut output, mut expected) = ([0; 320], [0; 320]);
            let heard = fused.hear_mulaw(&mut resamplers[0], codes, &mut output);
            resamplers[1].process_from_mulaw(codes, &mut expected).unwrap();
            prop_assert_eq!(heard, apart.hear(&expected));
            prop_assert_eq!(output, expected);
        }
    }

    #[test]
    fn instruction_sets_agree_whatever_is_asked((from_hz, to_hz) in rates(), steps in vec(step(), 0..12)) {
        let mut all: Vec<Resampler> = InstructionSet::available()
            .iter()
            .map(|&set| Resampler::with_instruction_set(from_hz, to_hz, set).unwrap())
            .collect();
        for step in &steps {
            let outputs: Vec<Vec<i16>> = all.iter_mut().map(|each| take(each, step)).collect();
            prop_assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn chunks_do_not_matter((from_hz, to_hz) in rates(), chunks in vec(vec(any::<i16>(), 0..400), 0..10)) {
        let mut pieces = Resampler::new(from_hz, to_hz).unwrap();
        let mut whole = Resampler::new(from_hz, to_hz).unwrap();
        let mut output: Vec<i16> = Vec::new();
        for chunk in &chunks {
            output.extend(take(&mut pieces, &Step::Process(chunk.clone())));
        }
        output.extend(take(&mut pieces, &Step::Flush));
        let mut expected = take(&mut whole, &Step::Process(chunks.concat()));
        expected.extend(take(&mut whole, &Step::Flush));
        prop_assert!(output == expected);
    }

    #[test]
    fn any_rates_are_taken_or_refused(from_hz in any::<u32>(), to_hz in any::<u32>()) {
        let offered = [8000, 16000, 24000];
        let expected = from_hz != to_hz && offered.contains(&from_hz) && offered.contains(&to_hz);
        prop_assert_eq!(Resampler::new(from_hz, to_hz).is_ok(), expected);
    }

    #[test]
    fn companding_takes_any_lengths(samples in vec(any::<i16>(), 0..700), room in 0usize..700) {
        let mut codes = vec![0; room];
        prop_assert_eq!(mulaw::encode(&samples, &mut codes).is_ok(), room >= samples.len());
        prop_assert_eq!(alaw::encode(&samples, &mut codes).is_ok(), room >= samples.len());
        let mut decoded = vec![0; samples.len()];
        prop_assert_eq!(mulaw::decode(&codes, &mut decoded).is_ok(), samples.len() >= room);
        prop_assert_eq!(alaw::decode(&codes, &mut decoded).is_ok(), samples.len() >= room);
    }

    #[test]
    fn codes_are_made_for_what_was_signed(key in vec(any::<u8>(), 0..200), message in vec(any::<u8>(), 0..500), mac in vec(any::<u8>(), 0..30)) {
        let code = HmacSha1::new(&key).sign(&message);
        prop_assert!(HmacSha1::new(&key).verify(&message, &code));
        prop_assert_eq!(HmacSha1::new(&key).verify(&message, &mac), mac == code);
        let mut last = RecentKeys::new();
        for _ in 0..2 {
            prop_assert_eq!(last.prepare(&key).sign(&message), code);
            prop_assert_eq!(last.prepare(&message).sign(&key), HmacSha1::new(&message).sign(&key));
        }
        let mut other = message.clone();
        other.push(0);
        prop_assert_ne!(sha1(&message), sha1(&other));
    }

    #[test]
    fn handles_find_their_values_only(steps in vec((any::<bool>(), any::<u32>()), 0..300)) {
        let mut handles = Handles::new();
        let mut alive: Vec<u32> = Vec::new();
        let mut dead: Vec<u32> = Vec::new();
        for (insert, choice) in steps {
            if insert || alive.is_empty() {
                let handle = handles.insert(choice).unwrap();
                prop_assert!(!alive.contains(&handle) && !dead.contains(&handle));
                alive.push(handle);
            } else {
                let handle = alive.swap_remove(choice as usize % alive.len());
                prop_assert!(handles.remove(handle));
                dead.push(handle);
            }
            prop_assert!(dead.iter().all(|&handle| handles.get(handle).is_none()));
            prop_assert!(alive.iter().all(|&handle| handles.get(handle).is_some()));
            prop_assert_eq!(handles.len(), alive.len());
        }
    }
}
