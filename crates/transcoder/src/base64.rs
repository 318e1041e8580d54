//! Base64 to bytes. Source: RFC 4648, section 4. The padding may be missing; nothing else may.

use crate::error::Error;

/// No digit.
const BAD: u8 = 0x80;

const DIGITS: [u8; 256] = {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digits = [BAD; 256];
    let mut value = 0;
    while value < 64 {
        digits[alphabet[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Replaces `bytes` by what `text` stands for. After an error `bytes` holds nothing of use.
pub(crate) fn decode(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), Error> {
    let text = match text {
        [digits @ .., b'=', b'='] if text.len().is_multiple_of(4) => digits,
        [digits @ .., b'='] if text.len().is_multiple_of(4) => digits,
        digits => digits,
    };
    bytes.clear();
    bytes.resize(text.len() / 4 * 3, 0);
    let mut seen = 0;
    let quads = text.chunks_exact(4);
    let rest = quads.remainder();
    for (three, four) in bytes.chunks_exact_mut(3).zip(quads) {
        let [a, b, c, d] = [four[0], four[1], four[2], four[3]].map(|text| DIGITS[text as usize]);
        seen |= a | b | c | d;
        three[0] = a << 2 | b >> 4;
        three[1] = b << 4 | c >> 2;
        three[2] = c << 6 | d;
    }
    let mut digits = [0; 3];
    for (digit, &text) in digits.iter_mut().zip(rest) {
        *digit = DIGITS[text as usize];
    }
    let [a, b, c] = digits;
    seen |= a | b | c;
    let last = [a << 2 | b >> 4, b << 4 | c >> 2];
    match rest.len() {
        0 => {}
        1 => return Err(Error::InvalidBase64),
        // Bits that no byte has must not be set.
        2 if b & 15 == 0 => bytes.push(last[0]),
        3 if c & 3 == 0 => bytes.extend(last),
        _ => return Err(Error::InvalidBase64),
    }
    if seen & BAD == 0 {
        Ok(())
    } else {
        Err(Error::InvalidBase64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The one text of some bytes, without padding.
    fn encode(bytes: &[u8]) -> Vec<u8> {
        let digit = |value: u8| DIGITS.iter().position(|&digit| digit == value).unwrap() as u8;
        let mut text = Vec::new();
        for three in bytes.chunks(3) {
            let [a, b, c] = std::array::from_fn(|place| three.get(place).copied().unwrap_or(0));
            let four = [
                a >> 2,
                (a & 3) << 4 | b >> 4,
                (b & 15) << 2 | c >> 6,
                c & 63,
            ];
            text.extend(four[..=three.len()].iter().map(|&value| digit(value)));
        }
        text
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut text = encode(&bytes);
            let mut decoded = vec![9];
            prop_assert_eq!(decode(&text, &mut decoded), Ok(()));
            prop_assert_eq!(&decoded, &bytes);
            text.resize(text.len().next_multiple_of(4), b'=');
            prop_assert_eq!(decode(&text, &mut decoded), Ok(()));
            prop_assert_eq!(&decoded, &bytes);
        }

        #[test]
        fn what_is_taken_is_the_one_text_of_its_bytes(text in "[A-D+/=\\-_ ]{0,9}|[ -~]{0,40}") {
            let mut decoded = Vec::new();
            if decode(text.as_bytes(), &mut decoded).is_ok() {
                prop_assert_eq!(text.trim_end_matches('=').as_bytes(), encode(&decoded));
                prop_assert!(!text.contains('=') || text.len().is_multiple_of(4));
            }
        }
    }

    #[test]
    fn rfc_4648_section_10() {
        let vectors = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
            ("Zm9vYg", "foob"),
        ];
        for (text, bytes) in vectors {
            let mut decoded = vec![1, 2, 3];
            assert_eq!(decode(text.as_bytes(), &mut decoded), Ok(()), "{text}");
            assert_eq!(decoded, bytes.as_bytes());
        }
    }

    #[test]
    fn what_is_not_base64() {
        let wrong = [
            "A",
            "=",
            "==",
            "A=",
            "AA=",
            "AAA==",
            "AA=A",
            "Zh==",
            "Zm9=",
            "A-A_",
            "AAAA=",
            "AAA ",
            "AAAA====",
            "\u{c4}AAA",
            "AAAA\n",
        ];
        for text in wrong {
            let decoded = decode(text.as_bytes(), &mut Vec::new());
            assert_eq!(decoded, Err(Error::InvalidBase64), "{text}");
        }
    }
}
