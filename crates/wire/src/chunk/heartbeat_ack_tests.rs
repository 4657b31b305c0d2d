use super::*;
use crate::Chunk;
use crate::testing::{captured, check, chunk_of, error_of};

/// RFC 9260 §3.3.6.
#[test]
fn linux_returned_what_usrsctp_had_sent() {
    let request = captured("usrsctp_heartbeat");
    let Chunk::Heartbeat(heartbeat) = chunk_of(&request, 0) else { panic!("a HEARTBEAT") };
    check("linux_heartbeat_ack", 0, Chunk::HeartbeatAck(HeartbeatAck { info: heartbeat.info }));
}

#[test]
fn without_heartbeat_info_it_is_malformed() {
    assert_eq!(error_of("05000004"), ChunkErrorKind::MissingParameter);
}
