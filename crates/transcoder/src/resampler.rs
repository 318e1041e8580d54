//! Streaming sample-rate conversion with state. `plan` says what is summed, `kernel` how; here samples come and go.

use crate::error::{take_output, Error};
use crate::kernel::InstructionSet;
use crate::plan::{Phase, Plan, BLOCK_GROUPS, HISTORY, STRIDE};
use crate::{base64, mulaw};

/// Most input samples of a group, and most output samples.
const GROUP_LIMIT: usize = 3;
/// More than any tail has.
const TAIL_LIMIT: usize = 192;

/// A streaming resampler between two of 8000, 16000 and 24000 Hz. Any chunking of the same input gives the same output;
/// every whole 20 ms frame gives a whole 20 ms frame, from the first on.
pub struct Resampler {
    plan: &'static Plan,
    set: InstructionSet,
    /// `down` streams of [`STRIDE`] samples: the past, then the block at work.
    streams: Vec<i16>,
    /// One row of outputs per phase.
    rows: [[i16; BLOCK_GROUPS]; GROUP_LIMIT],
    /// The samples of a group that is not complete.
    pending: [i16; GROUP_LIMIT],
    pending_len: usize,
    /// Kept between calls, so that text does not cost an allocation a frame.
    bytes: Vec<u8>,
}

impl Resampler {
    /// A resampler whose past is silence. The pairs are 8000, 16000 and 24000 Hz with each other, both ways.
    pub fn new(from_hz: u32, to_hz: u32) -> Result<Self, Error> {
        Self::with_instruction_set(from_hz, to_hz, InstructionSet::best())
    }

    /// The same with a kernel of choice, for tests and benches. One that this processor lacks becomes the plain one.
    pub fn with_instruction_set(
        from_hz: u32,
        to_hz: u32,
        set: InstructionSet,
    ) -> Result<Self, Error> {
        let plan = Plan::find(from_hz, to_hz)?;
        Ok(Resampler {
            plan,
            set: set.or_scalar(),
            streams: vec![0; plan.down * STRIDE],
            rows: [[0; BLOCK_GROUPS]; GROUP_LIMIT],
            pending: [0; GROUP_LIMIT],
            pending_len: 0,
            bytes: Vec::new(),
        })
    }

    /// Rate of the output, in hertz.
    pub fn to_hz(&self) -> u32 {
        self.plan.to_hz
    }

    /// Delay of the filter, in milliseconds.
    pub fn delay_ms(&self) -> f64 {
        let prototype_hz = f64::from(self.plan.from_hz) * self.plan.up as f64;
        self.plan.delay as f64 * 1000.0 / prototype_hz
    }

    /// Samples that the next `input_len` samples of input will give.
    pub fn output_len(&self, input_len: usize) -> usize {
        // Saturation only where no slice can be as long.
        ((self.pending_len.saturating_add(input_len)) / self.plan.down).saturating_mul(self.plan.up)
    }

    /// Consumes `input`, writes the samples that are due and returns their number.
    pub fn process(&mut self, input: &[i16], output: &mut [i16]) -> Result<usize, Error> {
        self.convert(input, output)
    }

    /// [`process`](Self::process) from mu-law bytes.
    pub fn process_from_mulaw(&mut self, input: &[u8], output: &mut [i16]) -> Result<usize, Error> {
        self.convert(input, output)
    }

    /// [`process`](Self::process) to mu-law bytes.
    pub fn process_to_mulaw(&mut self, input: &[i16], output: &mut [u8]) -> Result<usize, Error> {
        self.convert(input, output)
    }

    /// [`process`](Self::process) from mu-law bytes in base64. A text that is not base64 changes nothing.
    pub fn process_from_mulaw_base64(
        &mut self,
        text: &[u8],
        output: &mut [i16],
    ) -> Result<usize, Error> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let result =
            base64::decode(text, &mut bytes).and_then(|()| self.process_from_mulaw(&bytes, output));
        self.bytes = bytes;
        result
    }

    /// Samples that [`flush`](Self::flush) would write now.
    pub fn flush_len(&self) -> usize {
        (self.pending_len * self.plan.up + self.plan.delay).div_ceil(self.plan.down)
    }

    /// Writes the tail that the filter still holds, returns its length, and forgets all input.
    pub fn flush(&mut self, output: &mut [i16]) -> Result<usize, Error> {
        let output = take_output(output, self.flush_len())?;
        let groups = output.len().div_ceil(self.plan.up);
        let silence = [0; TAIL_LIMIT];
        let mut tail = [0; TAIL_LIMIT];
        self.process(
            &silence[..groups * self.plan.down - self.pending_len],
            &mut tail,
        )?;
        output.copy_from_slice(&tail[..output.len()]);
        self.reset();
        Ok(output.len())
    }

    /// Forgets all input.
    pub fn reset(&mut self) {
        self.streams.fill(0);
        self.pending_len = 0;
    }

    fn convert<In: Element, Out: Element>(
        &mut self,
        input: &[In],
        output: &mut [Out],
    ) -> Result<usize, Error> {
        let Plan { up, down, .. } = *self.plan;
        let output = take_output(output, self.output_len(input.len()))?;
        let mut rest = input;
        let mut room = &mut output[..];
        if self.pending_len > 0 {
            let (head, tail) = rest.split_at(rest.len().min(down - self.pending_len));
            self.keep(head);
            rest = tail;
            if self.pending_len == down {
                let group = self.pending;
                self.pending_len = 0;
                let (now, later) = room.split_at_mut(up);
                self.convert_groups(&group[..down], now);
                room = later;
            }
        }
        let (whole, end) = rest.split_at(rest.len() / down * down);
        for block in whole.chunks(BLOCK_GROUPS * down) {
            let (now, later) = room.split_at_mut(block.len() / down * up);
            self.convert_groups(block, now);
            room = later;
        }
        self.keep(end);
        Ok(output.len())
    }

    /// Keeps samples of a group that is not complete; there is room for a whole one.
    fn keep<In: Element>(&mut self, elements: &[In]) {
        for (place, &element) in self.pending[self.pending_len..].iter_mut().zip(elements) {
            *place = element.to_pcm();
        }
        self.pending_len += elements.len();
    }

    /// At most [`BLOCK_GROUPS`] whole groups.
    fn convert_groups<In: Element, Out: Element>(&mut self, input: &[In], output: &mut [Out]) {
        let Plan { up, down, .. } = *self.plan;
        let groups = input.len() / down;
        deal(input, down, &mut self.streams);
        for (phase, row) in self.plan.phases.iter().zip(&mut self.rows) {
            match phase {
                Phase::Copy(at) => row[..groups].copy_from_slice(&self.streams[*at..*at + groups]),
                Phase::Filter(fir) => {
                    let whole = groups.next_multiple_of(crate::kernel::BLOCK_OUTPUTS);
                    fir.run(self.set, &self.streams, &mut row[..whole]);
                }
            }
        }
        let [first, second, third] = &self.rows;
        match up {
            1 => Out::all_from_pcm(&first[..groups], output),
            2 => {
                let rows = first.iter().zip(second);
                for (out, (&a, &b)) in output.chunks_exact_mut(2).zip(rows) {
                    out[0] = Out::from_pcm(a);
                    out[1] = Out::from_pcm(b);
                }
            }
            _ => {
                let rows = first.iter().zip(second).zip(third);
                for (out, ((&a, &b), &c)) in output.chunks_exact_mut(3).zip(rows) {
                    out[0] = Out::from_pcm(a);
                    out[1] = Out::from_pcm(b);
                    out[2] = Out::from_pcm(c);
                }
            }
        }
        for stream in self.streams.chunks_exact_mut(STRIDE) {
            stream.copy_within(groups..groups + HISTORY, 0);
        }
    }
}

/// What goes in and comes out: a sample, or a mu-law code.
trait Element: Copy {
    fn to_pcm(self) -> i16;
    fn from_pcm(sample: i16) -> Self;
    /// Slices of one length.
    fn all_to_pcm(elements: &[Self], samples: &mut [i16]);
    /// Slices of one length.
    fn all_from_pcm(samples: &[i16], elements: &mut [Self]);
}

impl Element for i16 {
    #[inline(always)]
    fn to_pcm(self) -> i16 {
        self
    }

    #[inline(always)]
    fn from_pcm(sample: i16) -> i16 {
        sample
    }

    fn all_to_pcm(elements: &[i16], samples: &mut [i16]) {
        samples.copy_from_slice(elements);
    }

    fn all_from_pcm(samples: &[i16], elements: &mut [i16]) {
        elements.copy_from_slice(samples);
    }
}

impl Element for u8 {
    #[inline(always)]
    fn to_pcm(self) -> i16 {
        mulaw::decode_sample(self)
    }

    #[inline(always)]
    fn from_pcm(sample: i16) -> u8 {
        mulaw::encode_sample(sample)
    }

    fn all_to_pcm(elements: &[u8], samples: &mut [i16]) {
        mulaw::LAW.expand_all(elements, samples);
    }

    fn all_from_pcm(samples: &[i16], elements: &mut [u8]) {
        mulaw::LAW.compress_all(samples, elements, mulaw::encode_sample);
    }
}

/// Deals whole groups out to the streams, behind their past.
fn deal<In: Element>(input: &[In], down: usize, streams: &mut [i16]) {
    let (first, others) = streams.split_at_mut(STRIDE);
    let first = &mut first[HISTORY..HISTORY + BLOCK_GROUPS];
    match down {
        1 => In::all_to_pcm(input, &mut first[..input.len()]),
        2 => {
            let second = &mut others[HISTORY..HISTORY + BLOCK_GROUPS];
            for (group, (a, b)) in input.chunks_exact(2).zip(first.iter_mut().zip(second)) {
                *a = group[0].to_pcm();
                *b = group[1].to_pcm();
            }
        }
        _ => {
            let (second, third) = others.split_at_mut(STRIDE);
            let second = &mut second[HISTORY..HISTORY + BLOCK_GROUPS];
            let third = &mut third[HISTORY..HISTORY + BLOCK_GROUPS];
            let places = first.iter_mut().zip(second).zip(third);
            for (group, ((a, b), c)) in input.chunks_exact(3).zip(places) {
                *a = group[0].to_pcm();
                *b = group[1].to_pcm();
                *c = group[2].to_pcm();
            }
        }
    }
}
