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

/// The key used last, made ready: one secret signs and verifies many messages.
#[derive(Default)]
pub struct LastKey {
    key: Vec<u8>,
    hmac: Option<HmacSha1>,
}

impl LastKey {
    /// No key yet. Does not allocate.
    pub const fn new() -> Self {
        LastKey {
            key: Vec::new(),
            hmac: None,
        }
    }

    /// The state for `key`, made only when it is not the one of last time.
    pub fn prepare(&mut self, key: &[u8]) -> &HmacSha1 {
        if self.key != key {
            self.key = key.to_vec();
            self.hmac = None;
        }
        self.hmac.get_or_insert_with(|| HmacSha1::new(key))
    }
}
