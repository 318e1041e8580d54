//! SHA-1. Source: FIPS 180-4, section 6.1. For message authentication only: its collisions are known.

#[cfg(target_arch = "x86_64")]
mod x86;

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

/// One step of 80: the choice function `f`, the constant `k` and the word `w` turn the five registers.
macro_rules! step {
    ($a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:expr, $k:expr, $w:expr) => {
        let next = $a
            .rotate_left(5)
            .wrapping_add($f)
            .wrapping_add($e)
            .wrapping_add($k)
            .wrapping_add($w);
        $e = $d;
        $d = $c;
        $c = $b.rotate_left(30);
        $b = $a;
        $a = next;
    };
}

fn compress(state: &mut [u32; 5], blocks: &[[u8; BLOCK]]) {
    #[cfg(target_arch = "x86_64")]
    if x86::compress(state, blocks) {
        return;
    }
    for block in blocks {
        compress_plain(state, block);
    }
}

fn compress_plain(state: &mut [u32; 5], block: &[u8; BLOCK]) {
    let mut words = [0u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for t in 16..80 {
        words[t] = (words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for &word in &words[..20] {
        step!(a, b, c, d, e, (b & c) | (!b & d), 0x5a827999, word);
    }
    for &word in &words[20..40] {
        step!(a, b, c, d, e, b ^ c ^ d, 0x6ed9eba1, word);
    }
    for &word in &words[40..60] {
        step!(a, b, c, d, e, (b & c) | (b & d) | (c & d), 0x8f1bbcdc, word);
    }
    for &word in &words[60..] {
        step!(a, b, c, d, e, b ^ c ^ d, 0xca62c1d6, word);
    }
    for (register, added) in state.iter_mut().zip([a, b, c, d, e]) {
        *register = register.wrapping_add(added);
    }
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
