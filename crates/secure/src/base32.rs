//! Bytes as letters and digits that can be read aloud and selected with a double click: RFC 4648 base 32, small letters, no padding.

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Bits in a digit.
const DIGIT: u32 = 5;

pub(crate) fn encode(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::with_capacity(bytes.len() * 8 / 5 + 1), 0_u32, 0);
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count += 8;
        while count >= DIGIT {
            count -= DIGIT;
            text.push(char::from(ALPHABET[(bits >> count & 31) as usize]));
        }
    }
    if count > 0 {
        text.push(char::from(ALPHABET[(bits << (DIGIT - count) & 31) as usize]));
    }
    text
}

/// `None` if `text` is not what [`encode`] makes of some bytes, but for large letters.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(text.len() * 5 / 8), 0_u32, 0);
    for letter in text.bytes() {
        let digit = ALPHABET.iter().position(|&known| known == letter.to_ascii_lowercase())?;
        bits = bits << DIGIT | digit as u32;
        count += DIGIT;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    // What is left is less than a digit, and zero.
    (count < DIGIT && bits & ((1 << count) - 1) == 0).then_some(bytes)
}

#[cfg(test)]
#[path = "base32_tests.rs"]
mod tests;
