use whimbrel_wire::Parameters;

use super::*;
use crate::auth::key::KeyVectors;
use crate::auth::shared_keys::SharedSecret;

fn config() -> Config {
    Config { auth: crate::AuthConfig::offered(), ..Config::rfc() }
}

fn offer(first: u8, chunks: Option<&[u8]>, hmacs: &[u16]) -> Offer {
    Offer {
        random: core::array::from_fn(|n| first.wrapping_add(n as u8)),
        chunks: chunks.map(SmallVec::from_slice),
        hmacs: SmallVec::from_slice(hmacs),
    }
}

fn encoded(parameters: &[Parameter<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for parameter in parameters {
        parameter.emit(&mut out);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

fn judge(config: &Config, parameters: &[Parameter<'_>]) -> Result<Option<Offer>, Refusal> {
    let bytes = encoded(parameters);
    let mut read = AuthParameters::default();
    let mut extensions = None;
    for parameter in Parameters::from_wire(&bytes).map(Result::unwrap) {
        match parameter {
            Parameter::SupportedExtensions(listed) => extensions = Some(Extensions::known(listed)),
            other => read.note(&other),
        }
    }
    read.judge(config, extensions.unwrap_or_default())
}

const RANDOM: Parameter<'static> = Parameter::Random(&[5; 32]);

fn hmacs(ids: &[u16]) -> Parameter<'_> {
    Parameter::HmacAlgorithms(List::from(ids))
}

const fn extensions(types: &[u8]) -> Parameter<'_> {
    Parameter::SupportedExtensions(types)
}

/// RFC 4895 §6.1: type, length and value of RANDOM, CHUNKS and HMAC-ALGO, without padding; what was not sent is left out.
#[test]
fn a_key_vector_is_what_was_sent_without_padding() {
    let random: Vec<u8> = (7..39).collect();
    let with = offer(7, Some(&[0xc1, 0x80, 0]), &[3, 1, 77]);
    let expected = [
        &[0x80, 2, 0, 36],
        &random[..],
        &[0x80, 3, 0, 7, 0xc1, 0x80, 0],
        &[0x80, 4, 0, 10, 0, 3, 0, 1, 0, 77],
    ];
    assert_eq!(with.key_vector(), expected.concat());
    let without = offer(7, None, &[1]);
    assert_eq!(without.key_vector(), [&[0x80, 2, 0, 36], &random[..], &[0x80, 4, 0, 6, 0, 1]].concat());
    let empty = offer(7, Some(&[]), &[1]);
    assert_ne!(empty.key_vector(), without.key_vector(), "an empty parameter was sent all the same");
}

/// Keys computed with another program, from the text of RFC 4895 §6.1 alone. Their SHA-256.
#[test]
fn association_keys_agree_with_an_independent_computation() {
    use sha2::{Digest, Sha256};
    let a = offer(0, Some(&[0xc1, 0x80]), &[3, 1]);
    let b = offer(32, Some(&[0xc1, 0x80]), &[3, 1]);
    let c = Offer { random: [0xff; 32], ..offer(0, None, &[1]) };
    let d = Offer { random: [0; 32], ..offer(0, Some(&[0xc1, 0x80, 0]), &[3, 1]) };
    let digest = |shared: &[u8], one: &Offer, other: &Offer| {
        let vectors = KeyVectors::new(&one.key_vector(), &other.key_vector());
        let key = vectors.association_key(&SharedSecret::new(shared));
        Sha256::digest(&key[..]).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let expected = "d9027d6172045c7b84c93f648635ed6952158a8d59435c12901fca859de0d1fb";
    assert_eq!(digest(b"", &a, &b), expected);
    assert_eq!(digest(b"", &b, &a), expected);
    let expected = "376374ca8c10d461a27779d0c02b031cbf7d40c4b3e359579b275662757f6d94";
    assert_eq!(digest(b"secret", &b, &a), expected);
    let expected = "41c064385cfe67f236973450da8c017660c410952a19b9ffaae48cea83c68f38";
    assert_eq!(digest(b"k", &c, &d), expected);
}

/// RFC 4895 §3.1 to §3.3, RFC 5061 §4.2.7.
#[test]
fn what_is_sent_is_read_back() {
    let mut config = config();
    config.auth.required = vec![chunk_type::DATA, chunk_type::HEARTBEAT, chunk_type::DATA];
    let own = Offer::own(&config, [9; 32]).unwrap();
    assert_eq!(own.hmacs[..], [3, 1]);
    assert!(
        [chunk_type::DATA, chunk_type::HEARTBEAT].iter().all(|t| own.chunks.as_ref().unwrap().contains(t))
    );
    assert_eq!(judge(&config, &own.parameters()), Ok(Some(own.clone())));
}

#[test]
fn nothing_is_said_or_heard_where_authentication_is_off() {
    let off = Config::rfc();
    assert_eq!(Offer::own(&off, [9; 32]), None);
    assert_eq!(judge(&off, &[RANDOM, hmacs(&[3, 1])]), Ok(None));
    assert_eq!(judge(&off, &[Parameter::Random(&[1; 3]), RANDOM]), Ok(None));
}

/// RFC 4895 §6.1: if the random number is not 32 bytes long, the association MUST be aborted.
#[test]
fn a_random_number_of_another_length_is_a_violation() {
    for len in [0, 1, 31, 33, 64] {
        let bytes = vec![1; len];
        let result = judge(&config(), &[Parameter::Random(&bytes), hmacs(&[3, 1])]);
        assert!(matches!(result, Err(Refusal::Violation(_))), "{len}: {result:?}");
    }
}

/// RFC 4895 §3.1, §3.2, §3.3: each parameter is included once.
#[test]
fn a_parameter_twice_is_a_violation() {
    let ids = [3, 1];
    let all = [RANDOM, Parameter::Chunks(&[0]), hmacs(&ids)];
    assert!(judge(&config(), &all).unwrap().is_some());
    for again in all {
        let result = judge(&config(), &[all[0], all[1], all[2], again]);
        assert!(matches!(result, Err(Refusal::Violation(_))), "{again:?}: {result:?}");
    }
}

/// RFC 4895 §3.2: CHUNKS has 260 bytes at most. No limit is set for HMAC-ALGO, but a cookie must hold it.
#[test]
fn lists_are_bounded() {
    let ids = vec![1; 17];
    let types = vec![0; 257];
    assert!(
        judge(&config(), &[RANDOM, Parameter::Chunks(&types[..256]), hmacs(&ids[..16])]).unwrap().is_some()
    );
    judge(&config(), &[RANDOM, hmacs(&ids)]).unwrap_err();
    judge(&config(), &[RANDOM, Parameter::Chunks(&types), hmacs(&ids[..1])]).unwrap_err();
}

/// RFC 4895 §6.1: the first algorithm of the peer's list that is supported.
#[test]
fn the_peers_preference_decides() {
    let ours = config().auth.algorithms;
    let of = |ids: &[u16]| offer(0, None, ids).algorithm(&ours);
    assert_eq!(of(&[3, 1]), Some(HmacAlgorithm::Sha256));
    assert_eq!(of(&[1, 3]), Some(HmacAlgorithm::Sha1));
    assert_eq!(of(&[0, 2, 77, 1]), Some(HmacAlgorithm::Sha1));
    assert_eq!(of(&[0, 2, 77]), None);
    assert_eq!(offer(0, None, &[3, 1]).algorithm(&[HmacAlgorithm::Sha1]), Some(HmacAlgorithm::Sha1));
}

/// A peer that cannot authenticate: fine, unless it says that it has ASCONF or our user insists.
#[test]
fn incomplete_offers() {
    let ids = [3, 1];
    let incomplete: [&[Parameter<'_>]; 5] =
        [&[], &[RANDOM], &[hmacs(&ids)], &[RANDOM, hmacs(&[2])], &[RANDOM, hmacs(&[]), extensions(&[0x0f])]];
    let mut insisting = config();
    insisting.auth.required = vec![chunk_type::DATA];
    for parameters in incomplete {
        assert_eq!(judge(&config(), parameters), Ok(None), "{parameters:?}");
        assert_eq!(judge(&insisting, parameters), Err(Refusal::NotOffered), "{parameters:?}");
    }
    let asconf = [RANDOM, extensions(&[chunk_type::ASCONF, chunk_type::ASCONF_ACK])];
    assert_eq!(judge(&config(), &asconf), Ok(None), "dynamic addresses are not in use here");
    let mut dynamic = config();
    dynamic.dar.mode = DarMode::Negotiated;
    assert!(matches!(judge(&dynamic, &asconf), Err(Refusal::Violation(_))));
}

/// RFC 4895 §6.1: the random number follows the rules of the Verification Tag.
#[test]
fn random_numbers_go_with_tags() {
    let randoms = Randoms::new(Seed::from_u64(1));
    let one = randoms.of(1, Tsn(2));
    assert_eq!(randoms.of(1, Tsn(2)), one);
    for other in [randoms.of(2, Tsn(1)), randoms.of(1, Tsn(3)), Randoms::new(Seed::from_u64(2)).of(1, Tsn(2))]
    {
        assert_ne!(other, one);
    }
}
