use core::net::Ipv4Addr;

use super::*;
use crate::testing::{bytes_of, captured, chunk_of, emitted, error_of};
use crate::{AddressRequest, Chunk};

#[test]
fn reads_and_writes_what_linux_sent() {
    let [old, new] = [Ipv4Addr::new(10, 143, 1, 2), Ipv4Addr::new(10, 143, 2, 2)].map(IpAddr::V4);
    let request = |address| AddressRequest { correlation_id: 0, address };
    for (name, sequence_number, address, expected) in [
        ("linux_auth_asconf_add", 0x5407_3b9e, old, Parameter::AddIpAddress(request(new))),
        ("linux_auth_asconf_primary", 0x5407_3b9f, new, Parameter::SetPrimaryAddress(request(new))),
        ("linux_auth_asconf_delete", 0x5407_3ba0, new, Parameter::DeleteIpAddress(request(old))),
    ] {
        let packet = captured(name);
        let Chunk::Asconf(asconf) = chunk_of(&packet, 1) else { panic!("an ASCONF") };
        assert_eq!(asconf.parameters.collect::<Vec<_>>(), [Ok(expected)], "{name}");
        assert_eq!((asconf.sequence_number, asconf.address), (sequence_number, address), "{name}");
        let builder = AsconfBuilder { sequence_number, address, parameters: &[expected] };
        assert_eq!(emitted(&asconf), bytes_of(&packet, 1), "{name}");
        assert_eq!(emitted(&builder), bytes_of(&packet, 1), "{name}");
    }
}

/// RFC 5061 §4.1.1: the address parameter is mandatory, and a host name is not one.
#[test]
fn without_an_address_it_is_malformed() {
    assert_eq!(error_of("c1000008 00000001"), ChunkErrorKind::MissingParameter);
    assert_eq!(error_of("c1000010 00000001 000b0008 61626300"), ChunkErrorKind::MissingParameter);
    assert_eq!(error_of("c100000f 00000001 00050007 0a000000"), ChunkErrorKind::MissingParameter);
    assert_eq!(error_of("c1000010 00000001 00050014 0a000001"), ChunkErrorKind::MissingParameter);
    assert_eq!(error_of("c1000006 00000000"), ChunkErrorKind::TooShort);
}
