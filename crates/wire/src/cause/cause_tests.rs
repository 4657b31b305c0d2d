use super::*;
use crate::testing::hex;

/// One of each, with the bytes the RFC's figure asks for.
/// RFC 9260 §3.3.10.1, §3.3.10.2, §3.3.10.3, §3.3.10.4, §3.3.10.5, §3.3.10.6, §3.3.10.7, §3.3.10.8, §3.3.10.9, §3.3.10.10,
/// §3.3.10.11, §3.3.10.12, §3.3.10.13; RFC 5061 §4.3.1, §4.3.2, §4.3.3, §4.3.4, §4.3.5; RFC 4895 §4.1.
#[test]
fn every_cause_reads_and_writes_its_figure() {
    let request: &[u8] = &[0xc0, 2, 0, 4];
    let quoted = |code: &str| format!("{code}0008 c0020004");
    let cases: [(Cause<'_>, String); 20] = [
        (Cause::InvalidStreamIdentifier(StreamId(9)), "00010008 00090000".into()),
        (Cause::MissingMandatoryParameter(List::from(&[7, 8, 9])), "0002000e 00000003 0007 0008 0009".into()),
        (Cause::StaleCookie { microseconds: 5 }, "00030008 00000005".into()),
        (Cause::OutOfResource, "00040004".into()),
        (Cause::UnresolvableAddress(request), quoted("0005")),
        (Cause::UnrecognizedChunkType(request), quoted("0006")),
        (Cause::InvalidMandatoryParameter, "00070004".into()),
        (Cause::UnrecognizedParameters(request), quoted("0008")),
        (Cause::NoUserData { tsn: Tsn(5) }, "00090008 00000005".into()),
        (Cause::CookieReceivedWhileShuttingDown, "000a0004".into()),
        (Cause::RestartWithNewAddresses(request), quoted("000b")),
        (Cause::UserInitiatedAbort(b"bye"), "000c0007 627965".into()),
        (Cause::ProtocolViolation(b"no"), "000d0006 6e6f".into()),
        (Cause::DeleteLastAddress(request), quoted("00a0")),
        (Cause::ResourceShortage(request), quoted("00a1")),
        (Cause::DeleteSourceAddress(request), quoted("00a2")),
        (Cause::IllegalAsconfAck, "00a30004".into()),
        (Cause::NoAuthorization(request), quoted("00a4")),
        (Cause::UnsupportedHmacIdentifier { hmac_id: 2 }, "01050006 0002".into()),
        (Cause::Unknown { code: 0xbeef, bytes: &[1] }, "beef0005 01".into()),
    ];
    for (cause, digits) in cases {
        let bytes = hex(&digits);
        let mut out = b"before".to_vec();
        encode_causes(&[cause], &mut out);
        assert_eq!(out[6..], bytes, "{cause:?}");
        assert_eq!(Causes::from_wire(&bytes).collect::<Vec<_>>(), [Ok(cause)]);
        assert_eq!(cause.code().to_be_bytes(), bytes[..2]);
    }
}

#[test]
fn lengths_and_counts_are_checked() {
    for digits in [
        "00010006 0009",
        "0002000a 00000002 0007",
        "0002000c 00000001 0007 0008",
        "00020006 0000",
        "0002000a ffffffff 0007",
        "00030004",
        "00040008 00000000",
        "00070005 00",
        "00090004",
        "000a0005 00",
        "00a30005 00",
        "01050008 00020000",
    ] {
        let bytes = hex(digits);
        let read: Vec<_> = Causes::from_wire(&bytes).collect();
        let kind = ParameterErrorKind::WrongLength;
        assert!(matches!(&read[..], [Err(error)] if error.kind == kind), "{digits}: {read:?}");
    }
}

#[test]
fn a_bad_cause_is_skipped_and_an_unusable_length_ends_the_walk() {
    let bytes = hex("00030004 00040004 00040003 00040004");
    let read: Vec<_> = Causes::from_wire(&bytes).map(|cause| cause.map_err(|error| error.kind)).collect();
    let errors = [ParameterErrorKind::WrongLength, ParameterErrorKind::BadLength];
    assert_eq!(read, [Err(errors[0]), Ok(Cause::OutOfResource), Err(errors[1])]);
}
