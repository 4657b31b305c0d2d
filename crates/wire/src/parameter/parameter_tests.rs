use super::*;
use crate::parameter::ParameterErrorKind::WrongLength;
use crate::testing::hex;
use crate::{Cause, Causes, StreamId, Tsn};

/// One of each, with the bytes the RFC's figure asks for: RFC 9260 §3.3.2.1.1, §3.3.2.1.2, §3.3.2.1.3, §3.3.2.1.4,
/// §3.3.2.1.5, §3.3.3.1.1, §3.3.3.1.2, §3.3.5; RFC 6525 §4.1, §4.2, §4.3, §4.4, §4.5, §4.6; RFC 4895 §3.1, §3.2, §3.3;
/// RFC 4820 §4; RFC 3758 §3.1; RFC 5061 §4.2.1, §4.2.2, §4.2.3, §4.2.4, §4.2.5, §4.2.6, §4.2.7.
#[test]
fn every_parameter_reads_and_writes_its_figure() {
    let request = AddressRequest { correlation_id: 9, address: Ipv6Addr::LOCALHOST.into() };
    let request_bytes = "00000009 00060014 00000000000000000000000000000001";
    let with_request = |code: &str| format!("{code}001c {request_bytes}");
    let causes = hex("00a30004");
    let failure = ErrorCauseIndication { correlation_id: 9, causes: Causes::from_wire(&causes) };
    assert_eq!(failure.causes.collect::<Vec<_>>(), [Ok(Cause::IllegalAsconfAck)]);
    let outgoing = OutgoingSsnResetRequest {
        request_sequence_number: 1,
        response_sequence_number: 2,
        last_assigned_tsn: Tsn(3),
        streams: List::from(&[StreamId(4), StreamId(5)]),
    };
    let incoming = IncomingSsnResetRequest { request_sequence_number: 1, streams: List::from(&[]) };
    let add = AddStreamsRequest { request_sequence_number: 1, new_streams: 2 };
    let response =
        ReConfigResponse { response_sequence_number: 1, result: 2, next_tsns: Some((Tsn(3), Tsn(4))) };
    let cases: [(Parameter<'_>, String); 29] = [
        (Parameter::HeartbeatInfo(&[7]), "00010005 07".into()),
        (Parameter::Ipv4Address([10, 0, 0, 1].into()), "00050008 0a000001".into()),
        (Parameter::Ipv6Address(Ipv6Addr::LOCALHOST), "00060014 00000000000000000000000000000001".into()),
        (Parameter::StateCookie(&[7, 8]), "00070006 0708".into()),
        (Parameter::UnrecognizedParameter(&[0xc1, 0, 0, 4]), "00080008 c1000004".into()),
        (Parameter::CookiePreservative(1000), "00090008 000003e8".into()),
        (Parameter::HostName(b"a\0"), "000b0006 6100".into()),
        (Parameter::SupportedAddressTypes(List::from(&[5, 6])), "000c0008 00050006".into()),
        (
            Parameter::OutgoingSsnResetRequest(outgoing),
            "000d0014 00000001 00000002 00000003 0004 0005".into(),
        ),
        (Parameter::IncomingSsnResetRequest(incoming), "000e0008 00000001".into()),
        (Parameter::SsnTsnResetRequest(1), "000f0008 00000001".into()),
        (Parameter::ReConfigResponse(response), "00100014 00000001 00000002 00000003 00000004".into()),
        (Parameter::AddOutgoingStreamsRequest(add), "0011000c 00000001 00020000".into()),
        (Parameter::AddIncomingStreamsRequest(add), "0012000c 00000001 00020000".into()),
        (Parameter::EcnCapable, "80000004".into()),
        (Parameter::ZeroChecksumAcceptable(1), "80010008 00000001".into()),
        (Parameter::Random(&[1, 2, 3]), "80020007 010203".into()),
        (Parameter::Chunks(&[0xc1, 0x80]), "80030006 c180".into()),
        (Parameter::HmacAlgorithms(List::from(&[3, 1])), "80040008 00030001".into()),
        (Parameter::Padding(&[0; 4]), "80050008 00000000".into()),
        (Parameter::SupportedExtensions(&[0xc0]), "80080005 c0".into()),
        (Parameter::ForwardTsnSupported, "c0000004".into()),
        (Parameter::AddIpAddress(request), with_request("c001")),
        (Parameter::DeleteIpAddress(request), with_request("c002")),
        (Parameter::ErrorCauseIndication(failure), "c003000c 00000009 00a30004".into()),
        (Parameter::SetPrimaryAddress(request), with_request("c004")),
        (Parameter::SuccessIndication(9), "c0050008 00000009".into()),
        (Parameter::AdaptationLayerIndication(9), "c0060008 00000009".into()),
        (
            Parameter::Unknown(UnknownParameter { parameter_type: 0x7fff, raw: &[0x7f, 0xff, 0, 5, 1] }),
            "7fff0005 01".into(),
        ),
    ];
    for (parameter, digits) in cases {
        let bytes = hex(&digits);
        let mut out = b"before".to_vec();
        parameter.emit(&mut out);
        assert_eq!(out[6..], bytes, "{parameter:?}");
        assert_eq!(Parameters::from_wire(&bytes).collect::<Vec<_>>(), [Ok(parameter)]);
        assert_eq!(parameter.parameter_type().to_be_bytes(), bytes[..2]);
    }
}

#[test]
fn lengths_are_checked() {
    for digits in [
        "00050009 0a00000102",
        "00060008 0a000001",
        "00090006 0001",
        "000c0005 00",
        "000d000e 00000001 00000002 0000",
        "000d0011 00000001 00000002 00000003 00",
        "000e0007 000000",
        "000f0004",
        "00100008 00000001",
        "00100010 00000001 00000002 00000003",
        "00110008 00000001",
        "80000005 00",
        "80010004",
        "80040007 000100",
        "c0000008 00000000",
        "c0030006 0000",
        "c0050004",
        "c0060004",
    ] {
        let bytes = hex(digits);
        let read: Vec<_> = Parameters::from_wire(&bytes).collect();
        assert!(matches!(read[..], [Err(ParameterError { kind: WrongLength, .. })]), "{digits}: {read:?}");
    }
}

#[test]
fn addresses_come_out_of_both_families() {
    let v4: IpAddr = [10, 0, 0, 1].into();
    let v6: IpAddr = Ipv6Addr::LOCALHOST.into();
    assert_eq!((Parameter::from(v4).address(), Parameter::from(v6).address()), (Some(v4), Some(v6)));
    assert_eq!(Parameter::EcnCapable.address(), None);
}
