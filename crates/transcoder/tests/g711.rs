//! G.711 against a transcription of the ITU-T reference code (G.191, ulaw_compress and alaw_compress), for every input.

use transcoder::{alaw, mulaw, Error};

fn mulaw_reference(sample: i16) -> u8 {
    let sample = i32::from(sample);
    let absolute = if sample < 0 {
        ((!sample) >> 2) + 33
    } else {
        (sample >> 2) + 33
    }
    .min(0x1fff);
    let mut segment = 1;
    let mut rest = absolute >> 6;
    while rest != 0 {
        segment += 1;
        rest >>= 1;
    }
    let high = 0x0008 - segment;
    let low = 0x000f - ((absolute >> segment) & 0x000f);
    let code = (high << 4) | low;
    (if sample >= 0 { code | 0x80 } else { code }) as u8
}

fn alaw_reference(sample: i16) -> u8 {
    let sample = i32::from(sample);
    let mut value = if sample < 0 {
        (!sample) >> 4
    } else {
        sample >> 4
    };
    if value > 15 {
        let mut exponent = 1;
        while value > 16 + 15 {
            value >>= 1;
            exponent += 1;
        }
        value = value - 16 + (exponent << 4);
    }
    if sample >= 0 {
        value |= 0x80;
    }
    (value ^ 0x55) as u8
}

#[test]
fn every_sample_has_the_code_of_the_reference() {
    for sample in i16::MIN..=i16::MAX {
        assert_eq!(
            mulaw::encode_sample(sample),
            mulaw_reference(sample),
            "mu-law of {sample}"
        );
        assert_eq!(
            alaw::encode_sample(sample),
            alaw_reference(sample),
            "A-law of {sample}"
        );
    }
}

#[test]
fn every_code_comes_back() {
    for code in 0..=255u8 {
        // The negative zero of mu-law is the one code that another has the value of.
        let expected = if code == 0x7f { 0xff } else { code };
        assert_eq!(mulaw::encode_sample(mulaw::decode_sample(code)), expected);
        assert_eq!(alaw::encode_sample(alaw::decode_sample(code)), code);
    }
}

/// A law as its functions: of one element, and of slices.
type Law = (
    fn(u8) -> i16,
    fn(i16) -> u8,
    fn(&[u8], &mut [i16]) -> Result<usize, Error>,
    fn(&[i16], &mut [u8]) -> Result<usize, Error>,
);

const LAWS: [Law; 2] = [
    (
        mulaw::decode_sample,
        mulaw::encode_sample,
        mulaw::decode,
        mulaw::encode,
    ),
    (
        alaw::decode_sample,
        alaw::encode_sample,
        alaw::decode,
        alaw::encode,
    ),
];

#[test]
fn slices_are_the_elements_one_by_one() {
    let samples: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let codes: Vec<u8> = (0..=255).collect();
    for (decode_one, encode_one, decode, encode) in LAWS {
        // Backwards too: every element is met at every place of a vector.
        for turn in [false, true] {
            let mut samples = samples.clone();
            let mut codes = codes.repeat(3);
            if turn {
                samples.reverse();
                codes.reverse();
            }
            for skipped in 0..33 {
                let samples = &samples[skipped..];
                let mut encoded = vec![0; samples.len()];
                assert_eq!(encode(samples, &mut encoded), Ok(samples.len()));
                let one_by_one = samples.iter().map(|&sample| encode_one(sample));
                assert!(one_by_one.eq(encoded), "{skipped}");
                let codes = &codes[skipped..];
                let mut decoded = vec![0; codes.len()];
                assert_eq!(decode(codes, &mut decoded), Ok(codes.len()));
                let one_by_one = codes.iter().map(|&code| decode_one(code));
                assert!(one_by_one.eq(decoded), "{skipped}");
            }
        }
    }
}

#[test]
fn any_length_is_converted_whole_and_nothing_beside_it() {
    let samples: Vec<i16> = (0..300).map(|n| (n * 219 - 32768) as i16).collect();
    let codes: Vec<u8> = (0..300).map(|n| (n * 7) as u8).collect();
    for (decode_one, encode_one, decode, encode) in LAWS {
        for length in 0..=200 {
            let mut encoded = [0xa5; 240];
            assert_eq!(encode(&samples[..length], &mut encoded), Ok(length));
            for (place, &code) in encoded.iter().enumerate() {
                let expected = if place < length {
                    encode_one(samples[place])
                } else {
                    0xa5
                };
                assert_eq!(code, expected, "{place} of {length}");
            }
            let mut decoded = [0x5a5a; 240];
            assert_eq!(decode(&codes[..length], &mut decoded), Ok(length));
            for (place, &sample) in decoded.iter().enumerate() {
                let expected = if place < length {
                    decode_one(codes[place])
                } else {
                    0x5a5a
                };
                assert_eq!(sample, expected, "{place} of {length}");
            }
        }
    }
}

#[test]
fn an_output_that_is_too_short_is_an_error_and_stays_as_it_is() {
    let mut samples = [7; 3];
    let error = Error::OutputTooShort {
        needed: 4,
        given: 3,
    };
    assert_eq!(mulaw::decode(&[0; 4], &mut samples), Err(error));
    assert_eq!(alaw::decode(&[0; 4], &mut samples), Err(error));
    assert_eq!(samples, [7; 3]);
    let mut codes = [7; 3];
    assert_eq!(mulaw::encode(&[0; 4], &mut codes), Err(error));
    assert_eq!(alaw::encode(&[0; 4], &mut codes), Err(error));
    assert_eq!(codes, [7; 3]);
}
