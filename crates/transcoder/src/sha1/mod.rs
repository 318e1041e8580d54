//! SHA-1. Source: FIPS 180-4, section 6.1. For message authentication only: its collisions are known.

#[cfg(target_arch = "x86_64")]
mod sha_ni;

/// Bytes of one block.
pub(crate) const BLOCK: usize = 64;

/// A hash in progress.
#[derive(Clone)]
pub(crate) struct Sha1 {
    state: [u32; 5],
    buffer: [u8; BLOCK],
    filled: usize,
    length: u64,
}

impl Sha1 {
    pub(crate) fn new() -> Self {
        Sha1 {
            state: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
            buffer: [0; BLOCK],
            filled: 0,
            length: 0,
        }
    }

    pub(crate) fn update(&mut self, mut data: &[u8]) {
        self.length = self.length.wrapping_add(data.len() as u64);
        if self.filled > 0 {
            let taken = data.len().min(BLOCK - self.filled);
            let (head, rest) = data.split_at(taken);
            self.buffer[self.filled..self.filled + taken].copy_from_slice(head);
            self.filled += taken;
            data = rest;
            if self.filled < BLOCK {
                return;
            }
            compress(&mut self.state, &[self.buffer]);
            self.filled = 0;
        }
        let (blocks, rest) = data.as_chunks();
        compress(&mut self.state, blocks);
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    pub(crate) fn finish(mut self) -> [u8; 20] {
        let bits = self.length.wrapping_mul(8);
        self.buffer[self.filled..].fill(0);
        self.buffer[self.filled] = 0x80;
        if self.filled >= BLOCK - 8 {
            compress(&mut self.state, &[self.buffer]);
            self.buffer.fill(0);
        }
        self.buffer[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
        compress(&mut self.state, &[self.buffer]);
        let mut digest = [0; 20];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }
}

fn compress(state: &mut [u32; 5], blocks: &[[u8; BLOCK]]) {
    #[cfg(target_arch = "x86_64")]
    if sha_ni::compress(state, blocks) {
        return;
    }
    for block in blocks {
        compress_plain(state, block);
    }
}

/// All 80 steps written out, the registers turning by their names: WebAssembly has no rotating registers, and takes a
/// third less time so.
fn compress_plain(state: &mut [u32; 5], block: &[u8; BLOCK]) {
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    macro_rules! step {
        ($a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $function:ident, $constant:literal, $t:expr) => {
            const T: usize = $t;
            if T >= 16 {
                let mixed = words[(T + 13) % 16] ^ words[(T + 8) % 16] ^ words[(T + 2) % 16];
                words[T % 16] = (mixed ^ words[T % 16]).rotate_left(1);
            }
            $e = $e
                .wrapping_add($a.rotate_left(5))
                .wrapping_add($function($b, $c, $d))
                .wrapping_add($constant)
                .wrapping_add(words[T % 16]);
            $b = $b.rotate_left(30);
        };
    }
    macro_rules! steps {
        ($function:ident, $constant:literal, $($from:literal)*) => {
            $(
                { step!(a, b, c, d, e, $function, $constant, $from); }
                { step!(e, a, b, c, d, $function, $constant, $from + 1); }
                { step!(d, e, a, b, c, $function, $constant, $from + 2); }
                { step!(c, d, e, a, b, $function, $constant, $from + 3); }
                { step!(b, c, d, e, a, $function, $constant, $from + 4); }
            )*
        };
    }
    steps!(choose, 0x5a827999, 0 5 10 15);
    steps!(parity, 0x6ed9eba1, 20 25 30 35);
    steps!(majority, 0x8f1bbcdc, 40 45 50 55);
    steps!(parity, 0xca62c1d6, 60 65 70 75);
    for (register, added) in state.iter_mut().zip([a, b, c, d, e]) {
        *register = register.wrapping_add(added);
    }
}

#[inline(always)]
fn choose(b: u32, c: u32, d: u32) -> u32 {
    d ^ (b & (c ^ d))
}

#[inline(always)]
fn parity(b: u32, c: u32, d: u32) -> u32 {
    b ^ c ^ d
}

#[inline(always)]
fn majority(b: u32, c: u32, d: u32) -> u32 {
    (b & c) | (d & (b | c))
}

/// SHA-1 of `message`.
pub fn sha1(message: &[u8]) -> [u8; 20] {
    let mut hash = Sha1::new();
    hash.update(message);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_hashes_as_the_plain_code_does() {
        let mut plain = [1, 2, 3, 4, 5];
        let mut fast = plain;
        let mut block = [0u8; BLOCK];
        for round in 0..200u8 {
            for (place, byte) in block.iter_mut().enumerate() {
                *byte = byte
                    .wrapping_mul(5)
                    .wrapping_add(round ^ (place as u8).wrapping_mul(37));
            }
            compress_plain(&mut plain, &block);
            compress(&mut fast, &[block]);
            assert_eq!(plain, fast);
        }
    }
}
