use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Whether the HMAC of `data` is `expected`.
#[track_caller]
fn check(algorithm: HmacAlgorithm, key: &[u8], data: &[u8], expected: &str) {
    let result = match Mac::new(algorithm, key) {
        Mac::Sha1(mac) => mac.chain_update(data).verify_slice(&hex(expected)),
        Mac::Sha256(mac) => mac.chain_update(data).verify_slice(&hex(expected)),
    };
    result.unwrap();
}

const LONG: &[u8] = b"Test Using Larger Than Block-Size Key - Hash Key First";

/// RFC 4231 §4.2, §4.3, §4.4, §4.7.
#[test]
fn published_vectors_of_hmac_sha256() {
    let check = |key: &[u8], data: &[u8], expected| check(HmacAlgorithm::Sha256, key, data, expected);
    check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    check(
        b"Jefe",
        b"what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
    check(&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    check(&[0xaa; 131], LONG, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/// RFC 2202 §3, test cases 1, 2, 3 and 6.
#[test]
fn published_vectors_of_hmac_sha1() {
    let check = |key: &[u8], data: &[u8], expected| check(HmacAlgorithm::Sha1, key, data, expected);
    check(&[0x0b; 20], b"Hi There", "b617318655057264e28bc0b6fb378c8ef146be00");
    check(b"Jefe", b"what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    check(&[0xaa; 20], &[0xdd; 50], "125d7342b9ac11cd91a39af48aa17b4f63f175d3");
    check(&[0xaa; 80], LONG, "aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

/// RFC 4895 §6.1: the smaller number first; equal numbers, the shorter first.
#[test]
fn key_vectors_are_ordered_as_numbers() {
    let ordered: [&[u8]; 7] = [&[], &[0], &[1], &[0, 1], &[2], &[1, 0], &[0, 1, 1]];
    for (at, smaller) in ordered.iter().enumerate() {
        for larger in &ordered[at..] {
            let expected = [*smaller, larger].concat();
            for vectors in [KeyVectors::new(smaller, larger), KeyVectors::new(larger, smaller)] {
                let key = vectors.association_key(&SharedSecret::null());
                assert_eq!(*key, expected, "{smaller:?} {larger:?}");
            }
        }
    }
}

/// RFC 4895 §6.1.
#[test]
fn the_shared_key_comes_before_the_vectors() {
    let vectors = KeyVectors::new(&[9], &[8]);
    assert_eq!(*vectors.association_key(&SharedSecret::new([1, 2])), [1, 2, 8, 9]);
}

/// RFC 4895 §6.2: computed over the chunk with a zero HMAC and what follows; §6.3: and checked likewise.
#[test]
fn what_was_signed_is_genuine_and_any_change_is_noticed() {
    for algorithm in [HmacAlgorithm::Sha1, HmacAlgorithm::Sha256] {
        let mac = Mac::new(algorithm, b"key");
        let len = algorithm.mac_len();
        let mut covered = vec![7; 8];
        covered.resize(8 + len, 0);
        covered.extend_from_slice(b"behind");
        mac.sign(&mut covered, 8..8 + len);
        let genuine = |bytes: &[u8]| mac.verify(&bytes[..8], &bytes[8..8 + len], &bytes[8 + len..]);
        assert!(genuine(&covered));
        for bit in 0..covered.len() * 8 {
            covered[bit / 8] ^= 1 << (bit % 8);
            assert!(!genuine(&covered), "bit {bit}");
            covered[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(!Mac::new(algorithm, b"another").verify(
            &covered[..8],
            &covered[8..8 + len],
            &covered[8 + len..]
        ));
        for wrong in [0, 1, len - 1, len + 1, 64] {
            assert!(!mac.verify(&covered[..8], &vec![0; wrong], b""));
        }
    }
}

#[test]
fn no_key_is_shown() {
    assert_eq!(format!("{:?}", Mac::new(HmacAlgorithm::Sha1, b"key")), "Mac(Sha1, ..)");
}
