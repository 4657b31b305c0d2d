use super::*;
use crate::list::List;
use crate::testing::{bytes_of, captured, chunk_of, emitted};
use crate::{
    AddStreamsRequest, Chunk, IncomingSsnResetRequest, OutgoingSsnResetRequest, ReConfigResponse, StreamId,
    Tsn,
};

#[track_caller]
fn check(name: &str, expected: Parameter<'_>) {
    let packet = captured(name);
    let Chunk::ReConfig(re_config) = chunk_of(&packet, 0) else { panic!("a RE-CONFIG") };
    assert_eq!(re_config.parameters.collect::<Vec<_>>(), [Ok(expected)]);
    assert_eq!(emitted(&re_config), bytes_of(&packet, 0));
    assert_eq!(emitted(&ReConfigBuilder { parameters: &[expected] }), bytes_of(&packet, 0));
}

/// RFC 6525 §3.1, §4.1, §4.2, §4.3, §4.5.
#[test]
fn reads_and_writes_the_requests_linux_sent() {
    check(
        "linux_re_config_outgoing",
        Parameter::OutgoingSsnResetRequest(OutgoingSsnResetRequest {
            request_sequence_number: 0x7af2_e376,
            response_sequence_number: 0xf999_632b,
            last_assigned_tsn: Tsn(0x7af2_e379),
            streams: List::from(&[StreamId(0)]),
        }),
    );
    check(
        "linux_re_config_incoming",
        Parameter::IncomingSsnResetRequest(IncomingSsnResetRequest {
            request_sequence_number: 0x7af2_e378,
            streams: List::from(&[StreamId(0)]),
        }),
    );
    let request = AddStreamsRequest { request_sequence_number: 0x7af2_e377, new_streams: 3 };
    check("linux_re_config_add_streams", Parameter::AddOutgoingStreamsRequest(request));
    check("linux_re_config_tsn", Parameter::SsnTsnResetRequest(0x7af2_e379));
}

/// RFC 6525 §4.4.
#[test]
fn reads_and_writes_the_responses_linux_sent() {
    let response = |number, next_tsns| {
        Parameter::ReConfigResponse(ReConfigResponse {
            response_sequence_number: number,
            result: 1,
            next_tsns,
        })
    };
    check("linux_re_config_response", response(0x7af2_e376, None));
    check("linux_re_config_tsn_response", response(0x7af2_e379, Some((Tsn(0xf999_632c), Tsn(0xfaf2_e379)))));
}
