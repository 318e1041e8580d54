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

#[test]
fn slices_are_the_samples_one_by_one() {
    let samples: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let mut codes = vec![0; samples.len()];
    assert_eq!(mulaw::encode(&samples, &mut codes), Ok(65536));
    assert!(samples
        .iter()
        .zip(&codes)
        .all(|(&sample, &code)| mulaw::encode_sample(sample) == code));
    assert_eq!(alaw::encode(&samples, &mut codes), Ok(65536));
    assert!(samples
        .iter()
        .zip(&codes)
        .all(|(&sample, &code)| alaw::encode_sample(sample) == code));
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
