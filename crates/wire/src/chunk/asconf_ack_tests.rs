use super::*;
use crate::cause::{Cause, Causes, encode_causes};
use crate::testing::{check, emitted, error_of, hex, round_trip};
use crate::{Chunk, ErrorCauseIndication};

/// RFC 5061 §4.1.2.
#[test]
fn reads_and_writes_what_usrsctp_sent() {
    let ack = AsconfAck { sequence_number: 0x5407_3b9e, parameters: Parameters::EMPTY };
    check("usrsctp_auth_asconf_ack", 1, Chunk::AsconfAck(ack));
}

/// The example of RFC 5061 §4.3.1: a refused delete.
#[test]
fn a_refusal_quotes_the_request() {
    let request = hex("c0020010 01023476 00050008 c0000201");
    let mut causes = Vec::new();
    encode_causes(&[Cause::DeleteLastAddress(&request)], &mut causes);
    let refusal = Parameter::ErrorCauseIndication(ErrorCauseIndication {
        correlation_id: 0x0102_3476,
        causes: Causes::from_wire(&causes),
    });
    let builder = AsconfAckBuilder { sequence_number: 1, parameters: &[refusal] };
    let expected = "80000024 00000001 c003001c 01023476 00a00014 c0020010 01023476 00050008 c0000201";
    assert_eq!(emitted(&builder), hex(expected));
    round_trip(&builder, |chunk| {
        let Chunk::AsconfAck(ack) = chunk else { panic!("an ASCONF-ACK") };
        assert_eq!(ack.parameters.collect::<Vec<_>>(), [Ok(refusal)]);
    });
}

#[test]
fn less_than_the_fixed_fields_is_malformed() {
    assert_eq!(error_of("80000006 00000000"), ChunkErrorKind::TooShort);
}
