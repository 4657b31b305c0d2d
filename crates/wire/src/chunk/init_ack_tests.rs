use super::*;
use crate::Chunk;
use crate::testing::{bytes_of, captured, chunk_of, emitted, error_of};

#[test]
fn reads_and_writes_what_linux_and_usrsctp_sent() {
    for (name, tag, streams, tsn) in [
        ("linux_init_ack", 0xddc9_c306, (10, 10), 0x7e3f_2a66),
        ("usrsctp_init_ack", 0xe86a_673d, (10, 2048), 0xe4e9_917f),
    ] {
        let packet = captured(name);
        let Chunk::InitAck(ack) = chunk_of(&packet, 0) else { panic!("an INIT ACK") };
        assert_eq!(ack.initiate_tag, tag, "{name}");
        assert_eq!((ack.outbound_streams, ack.inbound_streams), streams, "{name}");
        assert_eq!(ack.initial_tsn, Tsn(tsn), "{name}");
        let parameters: Vec<_> = ack.parameters.map(|parameter| parameter.expect("well-formed")).collect();
        let InitAck { initiate_tag, a_rwnd, outbound_streams, inbound_streams, initial_tsn, .. } = ack;
        let parameters = &parameters[..];
        let builder = InitAckBuilder {
            initiate_tag,
            a_rwnd,
            outbound_streams,
            inbound_streams,
            initial_tsn,
            parameters,
        };
        assert_eq!(emitted(&ack), bytes_of(&packet, 0), "{name}");
        assert_eq!(emitted(&builder), bytes_of(&packet, 0), "{name}");
    }
}

#[test]
fn unrecognized_parameters_come_back_whole() {
    let packet = captured("linux_init_ack_unrecognized");
    let Chunk::InitAck(ack) = chunk_of(&packet, 0) else { panic!("an INIT ACK") };
    let reported: Vec<_> = ack
        .parameters
        .filter_map(|parameter| match parameter {
            Ok(Parameter::UnrecognizedParameter(quoted)) => Parameters::from_wire(quoted).next(),
            _ => None,
        })
        .map(|quoted| quoted.expect("well-formed").parameter_type())
        .collect();
    assert_eq!(reported, [0xc0aa, 0x40bb]);
}

#[test]
fn less_than_the_fixed_fields_is_malformed() {
    assert_eq!(error_of("02000010 00000001 000005dc 00010001"), ChunkErrorKind::TooShort);
}
