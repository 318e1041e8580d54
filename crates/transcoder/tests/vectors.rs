//! The vectors that Rust and TypeScript share.

use transcoder::{alaw, mulaw, sha1, HmacSha1, Resampler, VoiceDetector};

fn lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split(' ').collect())
}

fn bytes(hex: &str) -> Vec<u8> {
    if hex == "-" {
        return Vec::new();
    }
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn sha1_answers_the_fips_examples() {
    for fields in lines(include_str!("vectors/sha1.txt")) {
        assert_eq!(sha1(&bytes(fields[0])).to_vec(), bytes(fields[1]));
    }
}

#[test]
fn sha1_of_a_million_letters() {
    let digest = sha1(&vec![b'a'; 1_000_000]);
    assert_eq!(
        digest.to_vec(),
        bytes("34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    );
}

#[test]
fn hmac_answers_rfc_2202() {
    for fields in lines(include_str!("vectors/hmac-sha1.txt")) {
        let hmac = HmacSha1::new(&bytes(fields[0]));
        let code = bytes(fields[2]);
        assert_eq!(hmac.sign(&bytes(fields[1])).to_vec(), code);
        assert!(hmac.verify(&bytes(fields[1]), &code));
        for bit in 0..160 {
            let mut wrong = code.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!hmac.verify(&bytes(fields[1]), &wrong));
        }
        assert!(!hmac.verify(&bytes(fields[1]), &code[..19]));
        assert!(!hmac.verify(&bytes(fields[1]), &[&code[..], &[0]].concat()));
        assert!(!hmac.verify(&bytes(fields[1]), &[]));
    }
}

fn noise(length: usize) -> Vec<i16> {
    let mut state = 1u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
            ((state >> 15) as i32 - 0x8000) as i16
        })
        .collect()
}

/// Whether each of 24 frames is voiced, and its energy, in 16-bit elements.
fn heard() -> Vec<u16> {
    let background = noise(24 * 320);
    let mut detector = VoiceDetector::new();
    let frames = background.chunks_exact(320).enumerate();
    frames
        .flat_map(|(frame, background)| {
            let round = frame / 8;
            let gain = if frame % 8 < 6 { 0 } else { 3 + 5 * round };
            let samples = background.iter().enumerate().map(|(place, sample)| {
                let wave = ((320 * frame + place) * (3 + round) % 512) as i16 - 256;
                wave * gain as i16 + (sample >> (6 - round % 3))
            });
            let heard = detector.hear(&samples.collect::<Vec<_>>()).unwrap();
            let energy = heard.energy;
            [
                u16::from(heard.voiced),
                energy as u16,
                (energy >> 16) as u16,
            ]
        })
        .collect()
}

fn fingerprint(values: impl Iterator<Item = u16>) -> u32 {
    values.fold(0x811c_9dc5, |hash, value| {
        (hash ^ u32::from(value)).wrapping_mul(0x0100_0193)
    })
}

#[test]
fn everything_has_its_fingerprint() {
    let noise = noise(481);
    let codes: Vec<u8> = (0..=255).collect();
    for fields in lines(include_str!("vectors/fingerprints.txt")) {
        let (mut encoded, mut decoded) = (vec![0; noise.len()], vec![0; 256]);
        let hash = match fields[0] {
            "mulaw" => {
                mulaw::encode(&noise, &mut encoded).unwrap();
                mulaw::decode(&codes, &mut decoded).unwrap();
                let codes = encoded.into_iter().map(u16::from);
                fingerprint(codes.chain(decoded.into_iter().map(|sample| sample as u16)))
            }
            "alaw" => {
                alaw::encode(&noise, &mut encoded).unwrap();
                alaw::decode(&codes, &mut decoded).unwrap();
                let codes = encoded.into_iter().map(u16::from);
                fingerprint(codes.chain(decoded.into_iter().map(|sample| sample as u16)))
            }
            "voice" => fingerprint(heard().into_iter()),
            rates => {
                let (from, to) = rates.split_once(':').unwrap();
                let mut resampler =
                    Resampler::new(from.parse().unwrap(), to.parse().unwrap()).unwrap();
                let mut body = vec![0; resampler.output_len(noise.len())];
                resampler.process(&noise, &mut body).unwrap();
                let mut tail = vec![0; resampler.flush_len()];
                resampler.flush(&mut tail).unwrap();
                fingerprint(body.into_iter().chain(tail).map(|sample| sample as u16))
            }
        };
        assert_eq!(format!("{hash:08x}"), fields[1], "{}", fields[0]);
    }
}
