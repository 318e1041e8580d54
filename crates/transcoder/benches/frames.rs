//! What one 20 ms frame costs, per path and instruction set: `cargo bench -p transcoder`.

use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;
use transcoder::filters::FILTERS;
use transcoder::{alaw, mulaw, HmacSha1, InstructionSet, Resampler, VoiceDetector};

fn samples(count: usize) -> Vec<i16> {
    (0..count)
        .map(|n| ((n as f64 / 5.0).sin() * 20000.0) as i16)
        .collect()
}

fn companding(criterion: &mut Criterion) {
    let samples = samples(160);
    let mut codes = vec![0; 160];
    let mut decoded = vec![0; 160];
    criterion.bench_function("mulaw encode", |bencher| {
        bencher.iter(|| mulaw::encode(black_box(&samples), &mut codes));
    });
    criterion.bench_function("alaw encode", |bencher| {
        bencher.iter(|| alaw::encode(black_box(&samples), &mut codes));
    });
    criterion.bench_function("mulaw decode", |bencher| {
        bencher.iter(|| mulaw::decode(black_box(&codes), &mut decoded));
    });
}

fn resampling(criterion: &mut Criterion) {
    for filter in &FILTERS {
        let input = samples(filter.from_hz as usize / 50);
        let mut output = vec![0; filter.to_hz as usize / 50];
        for &set in InstructionSet::available() {
            let Ok(mut resampler) =
                Resampler::with_instruction_set(filter.from_hz, filter.to_hz, set)
            else {
                continue;
            };
            let name = format!("{} to {} {set:?}", filter.from_hz, filter.to_hz);
            criterion.bench_function(&name, |bencher| {
                bencher.iter(|| resampler.process(black_box(&input), &mut output));
            });
        }
    }
}

fn fused(criterion: &mut Criterion) {
    let codes: Vec<u8> = (0..160).collect();
    let wide = samples(320);
    let mut output = vec![0; 320];
    let mut encoded = vec![0; 160];
    if let (Ok(mut up), Ok(mut down)) = (Resampler::new(8000, 16000), Resampler::new(16000, 8000)) {
        criterion.bench_function("mulaw to 16000", |bencher| {
            bencher.iter(|| up.process_from_mulaw(black_box(&codes), &mut output));
        });
        criterion.bench_function("16000 to mulaw", |bencher| {
            bencher.iter(|| down.process_to_mulaw(black_box(&wide), &mut encoded));
        });
    }
}

fn voice(criterion: &mut Criterion) {
    let frame = samples(320);
    let mut detector = VoiceDetector::new();
    criterion.bench_function("voice of 20 ms", |bencher| {
        bencher.iter(|| detector.hear(black_box(&frame)));
    });
}

fn authentication(criterion: &mut Criterion) {
    let hmac = HmacSha1::new(b"0123456789abcdef0123456789abcdef");
    let message = vec![b'x'; 900];
    criterion.bench_function("hmac-sha1 of 900 bytes", |bencher| {
        bencher.iter(|| hmac.sign(black_box(&message)));
    });
}

criterion_group!(
    benches,
    companding,
    resampling,
    fused,
    voice,
    authentication
);
criterion_main!(benches);
