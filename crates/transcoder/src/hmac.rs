//! HMAC-SHA1. Source: RFC 2104; vectors: RFC 2202.

use crate::sha1::{sha1, Sha1, BLOCK};

/// A key made ready: the two padded key blocks are hashed once, not once a message.
#[derive(Clone)]
pub struct HmacSha1 {
    inner: Sha1,
    outer: Sha1,
}

impl HmacSha1 {
    /// Takes a key of any length; one over 64 bytes stands for its hash.
    pub fn new(key: &[u8]) -> Self {
        let mut block = [0u8; BLOCK];
        if key.len() > BLOCK {
            block[..20].copy_from_slice(&sha1(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let mut inner = Sha1::new();
        inner.update(&block.map(|byte| byte ^ 0x36));
        let mut outer = Sha1::new();
        outer.update(&block.map(|byte| byte ^ 0x5c));
        HmacSha1 { inner, outer }
    }

    /// The code of `message`.
    pub fn sign(&self, message: &[u8]) -> [u8; 20] {
        let mut inner = self.inner.clone();
        inner.update(message);
        let mut outer = self.outer.clone();
        outer.update(&inner.finish());
        outer.finish()
    }

    /// True when `mac` is the code of `message`. The time taken does not depend on where they differ.
    pub fn verify(&self, message: &[u8], mac: &[u8]) -> bool {
        let expected = self.sign(message);
        if mac.len() != expected.len() {
            return false;
        }
        let difference = expected
            .iter()
            .zip(mac)
            .fold(0, |seen, (a, b)| core::hint::black_box(seen | (a ^ b)));
        core::hint::black_box(difference) == 0
    }
}

/// Keys that are kept ready: a server has a handful of secrets.
const KEPT: usize = 8;

/// The keys used of late, made ready: one secret signs and verifies many messages.
pub struct RecentKeys {
    keys: Vec<(Vec<u8>, HmacSha1)>,
    /// Whose place the next new key takes, once all are taken.
    oldest: usize,
}

impl Default for RecentKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl RecentKeys {
    /// No key yet. Does not allocate.
    pub const fn new() -> Self {
        RecentKeys {
            keys: Vec::new(),
            oldest: 0,
        }
    }

    /// The state for `key`, made only when it is none of the last eight. A key that gives way is wiped.
    pub fn prepare(&mut self, key: &[u8]) -> &HmacSha1 {
        let known = self.keys.iter().position(|(known, _)| known == key);
        let place = known.unwrap_or_else(|| {
            let entry = (key.to_vec(), HmacSha1::new(key));
            if self.keys.len() < KEPT {
                self.keys.push(entry);
                return self.keys.len() - 1;
            }
            let place = self.oldest;
            self.oldest = (place + 1) % KEPT;
            let (gone, _) = &mut self.keys[place];
            gone.fill(0);
            core::hint::black_box(gone);
            self.keys[place] = entry;
            place
        });
        &self.keys[place].1
    }
}

impl Drop for RecentKeys {
    fn drop(&mut self) {
        for (key, _) in &mut self.keys {
            key.fill(0);
            core::hint::black_box(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_key_longer_than_a_block_stands_for_its_hash() {
        let sign = |key: &[u8]| HmacSha1::new(key).sign(b"message");
        for (length, is_hashed) in [(BLOCK, false), (BLOCK + 1, true)] {
            let key = vec![7; length];
            assert_eq!(sign(&key) == sign(&sha1(&key)), is_hashed, "{length}");
        }
    }

    #[test]
    fn the_last_eight_keys_are_kept() {
        let mut keys = RecentKeys::new();
        for key in 0..40u8 {
            keys.prepare(&[key]);
            for recent in key.saturating_sub(KEPT as u8 - 1)..=key {
                assert!(keys.keys.iter().any(|(known, _)| *known == [recent]));
            }
        }
    }

    #[test]
    fn more_keys_than_are_kept_do_not_mix() {
        let mut keys = RecentKeys::new();
        for round in 0..40u8 {
            for key in [round, round / 2, 0, 7] {
                let expected = HmacSha1::new(&[key]).sign(b"message");
                assert_eq!(keys.prepare(&[key]).sign(b"message"), expected);
            }
            assert!(keys.keys.len() <= KEPT);
        }
    }
}
