use super::*;

/// What interop/records/known_answers.py prints: the number of the record, the masked number and the ciphertext with its tag.
const ANSWERS: [(CipherSuite, u64, u8, &str); 6] = [
    (
        CipherSuite::TLS13_AES_128_GCM_SHA256,
        0x0,
        0x2b,
        "493ad8237bb1a5c23a16114df13351d1bc1b4d4e5c8431b7d654a7",
    ),
    (
        CipherSuite::TLS13_AES_128_GCM_SHA256,
        0x12345,
        0x2b,
        "f9466b6e1be93a16db571da2174069d6f2bc7b1e435b83962e068c",
    ),
    (
        CipherSuite::TLS13_AES_128_GCM_SHA256,
        0x123456789abc,
        0x28,
        "fc1391e5217b93e49f912eef58576e018a7db79be4f9cb5db0f712",
    ),
    (
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        0x0,
        0x2b,
        "2515784417cfd50bdc240d18ebf1f41f0d5deaa8154e325ca8fce5",
    ),
    (
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        0x12345,
        0x2b,
        "44000425dad84ad9fae357dfe2e10fc5494195f48f763029008035",
    ),
    (
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        0x123456789abc,
        0x28,
        "2bba88a15e0b6a87df2214c4a271bba16a984c4960d9b619e508c7",
    ),
];

fn cipher(suite: CipherSuite) -> Records {
    let suite = Suite::of(suite).expect("in use");
    let bytes = |from: u8, count: usize| (from..).take(count).collect::<Vec<u8>>();
    let iv = bytes(128, IV_LEN).try_into().unwrap();
    suite
        .cipher(&bytes(0, suite.key_len()), &bytes(64, suite.key_len()), iv)
        .expect("keys of the right length")
}

#[test]
fn records_are_sealed_as_another_library_does() {
    for (suite, number, first, answer) in ANSWERS {
        let low = (number as u16).to_be_bytes();
        let mut content = vec![7, 0, 0, 8, 0, 0, 0, 17, 23];
        let cipher = cipher(suite);
        let header = [first, low[0], low[1]];
        let tag = cipher.seal(number, &header, &mut content);
        content.extend_from_slice(&tag);
        let mask = cipher.mask(content.first_chunk().unwrap());
        let sent = [&[low[0] ^ mask[0], low[1] ^ mask[1]], &content[..]].concat();
        let hex: String = sent.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, answer, "{suite:?} {number}");
        assert!(cipher.open(number, &header, &mut content));
        assert_eq!(content[..9], [7, 0, 0, 8, 0, 0, 0, 17, 23]);
    }
}

#[test]
fn other_suites_are_not_in_use() {
    assert!(Suite::of(CipherSuite::TLS13_AES_256_GCM_SHA384).is_none());
    assert!(Suite::of(CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256).is_none());
}
