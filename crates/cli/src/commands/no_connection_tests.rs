use whimbrel_wire::cause_code::OUT_OF_RESOURCE;

use super::*;

/// What a lossy start, or a crowd of others, does to an attempt is tried again; what somebody has answered for good is not.
#[test]
fn what_time_may_change_is_tried_again() {
    let aborted = |cause, reason: &'static str| CloseReason::AbortedByPeer {
        causes: vec![cause],
        reason: reason.as_bytes().into(),
    };
    assert!(may_pass(&CloseReason::Unreachable));
    assert!(may_pass(&CloseReason::KeyExchange(KeyExchangeError::Late)));
    assert!(may_pass(&aborted(OUT_OF_RESOURCE, "")));
    assert!(may_pass(&aborted(13, "no keys were agreed on in time")));
    assert!(!may_pass(&aborted(13, "somebody on the way has changed how the association was set up")));
    assert!(!may_pass(&aborted(12, "")));
    assert!(!may_pass(&CloseReason::KeyExchange(KeyExchangeError::Refused)));
    assert!(!may_pass(&CloseReason::PeerUnprotected));
}
