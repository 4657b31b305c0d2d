use core::net::{Ipv4Addr, Ipv6Addr};

use super::*;
use crate::Chunk;
use crate::list::List;
use crate::testing::{bytes_of, captured, chunk_of, emitted, error_of};

/// The INIT usrsctp sent, with the parameters in its order.
fn with_expected<R>(random: &[u8], check: impl FnOnce(InitBuilder<'_>) -> R) -> R {
    let parameters = [
        Parameter::EcnCapable,
        Parameter::ForwardTsnSupported,
        Parameter::SupportedExtensions(&[0xc0, 0x0f, 0xc1, 0x80, 0x82]),
        Parameter::Random(random),
        Parameter::HmacAlgorithms(List::from(&[1])),
        Parameter::Chunks(&[0x80, 0xc1]),
        Parameter::SupportedAddressTypes(List::from(&[5, 6])),
        Parameter::Ipv6Address("fd13:2::2:1".parse::<Ipv6Addr>().expect("an address")),
        Parameter::Ipv4Address(Ipv4Addr::new(10, 143, 2, 1)),
        Parameter::Ipv6Address("fd13:2::1:1".parse::<Ipv6Addr>().expect("an address")),
        Parameter::Ipv4Address(Ipv4Addr::new(10, 143, 1, 1)),
    ];
    check(InitBuilder {
        initiate_tag: 0x77e4_6f89,
        a_rwnd: 131_072,
        outbound_streams: 10,
        inbound_streams: 2048,
        initial_tsn: Tsn(0x562b_70b2),
        parameters: &parameters,
    })
}

#[test]
fn reads_and_writes_what_usrsctp_sent() {
    let packet = captured("usrsctp_init");
    let Chunk::Init(init) = chunk_of(&packet, 0) else { panic!("an INIT") };
    assert_eq!((init.initiate_tag, init.a_rwnd, init.initial_tsn), (0x77e4_6f89, 131_072, Tsn(0x562b_70b2)));
    assert_eq!((init.outbound_streams, init.inbound_streams), (10, 2048));
    let read: Vec<_> = init.parameters.map(|parameter| parameter.expect("well-formed")).collect();
    let Parameter::Random(random) = read[3] else { panic!("RANDOM") };
    assert_eq!(random.len(), 32);
    with_expected(random, |expected| {
        assert_eq!(read, expected.parameters);
        assert_eq!(emitted(&expected), bytes_of(&packet, 0));
    });
    assert_eq!(emitted(&init), bytes_of(&packet, 0));
}

#[test]
fn what_nobody_knows_is_kept() {
    let packet = captured("made_init_unknown");
    let Chunk::Init(init) = chunk_of(&packet, 0) else { panic!("an INIT") };
    let read: Vec<_> = init.parameters.map(|parameter| parameter.expect("well-formed")).collect();
    let [Parameter::Unknown(skip), Parameter::Padding(padding), Parameter::Unknown(stop)] = read[..] else {
        panic!("three parameters: {read:?}")
    };
    assert_eq!((skip.parameter_type, skip.raw), (0xc0aa, &[0xc0, 0xaa, 0, 7, 1, 2, 3][..]));
    assert_eq!(skip.action(), crate::UnknownAction::SkipReport);
    assert_eq!(padding, [0; 4]);
    assert_eq!((stop.parameter_type, stop.action()), (0x40bb, crate::UnknownAction::StopReport));
    assert_eq!(emitted(&init), bytes_of(&packet, 0));
}

/// RFC 9260 §3.2: whether the length counts the padding of the last parameter or not.
#[test]
fn final_padding_may_be_counted() {
    for length in ["0019", "001a", "001b", "001c"] {
        let digits = format!("0100{length} 00000001 000005dc 0001 0001 00000000 c0aa0005 07000000");
        let packet = crate::testing::packet_of(&crate::testing::hex(&digits));
        let Chunk::Init(init) = chunk_of(&packet, 0) else { panic!("an INIT") };
        let read: Vec<_> = init.parameters.collect();
        assert!(matches!(read[..], [Ok(Parameter::Unknown(unknown))] if unknown.raw.len() == 5), "{length}");
    }
}

#[test]
fn less_than_the_fixed_fields_is_malformed() {
    assert_eq!(error_of("01000010 00000001 000005dc 00010001"), ChunkErrorKind::TooShort);
}
