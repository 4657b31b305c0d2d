use super::*;

fn of_bytes(bytes: &[u8]) -> u64 {
    let mut hash = TraceHash::Kept(0);
    hash.bytes(bytes);
    hash.value()
}

/// The check value of CRC-32/ISO-HDLC, which every implementation must yield: fingerprints are compared between machines.
#[test]
fn known_values() {
    assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
    let mut hash = TraceHash::Kept(0);
    hash.numbers(&[9 << 32 | 0xcbf4_3926]);
    assert_eq!(of_bytes(b"123456789"), hash.value());
}

#[test]
fn order_and_content_matter() {
    let of = |numbers: &[u64]| {
        let mut hash = TraceHash::Kept(0);
        hash.numbers(numbers);
        hash.value()
    };
    assert_ne!(of(&[1, 2]), of(&[2, 1]));
    assert_ne!(of(&[0]), of(&[0, 0]));
}

#[test]
fn every_flipped_bit_and_every_length_matters() {
    let mut bytes = [0x5a; 1500];
    let whole = of_bytes(&bytes);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(of_bytes(&bytes), whole, "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    let zeros = [0; 64];
    let mut of_zeros: Vec<u64> = (0..=zeros.len()).map(|length| of_bytes(&zeros[..length])).collect();
    of_zeros.sort_unstable();
    of_zeros.dedup();
    assert_eq!(of_zeros.len(), 65);
}

#[test]
fn what_is_forgone_stays_nothing() {
    let mut hash = TraceHash::Forgone;
    hash.bytes(b"123456789");
    hash.numbers(&[1]);
    assert_eq!(hash.value(), 0);
}
