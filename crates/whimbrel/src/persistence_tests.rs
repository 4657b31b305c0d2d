use whimbrel_proto::PeerKey;

use super::*;
use crate::Bytes;

fn out_of_resource() -> ConnectError {
    let causes = vec![whimbrel_wire::cause_code::OUT_OF_RESOURCE];
    ConnectError::Failed(CloseReason::AbortedByPeer { causes, reason: Bytes::new() })
}

/// A server that is always full is asked some twenty times, ever more seldom, and not for ever.
#[test]
fn a_peer_that_is_out_of_resources_is_asked_ever_more_seldom() {
    for chance in [0, 128, 255] {
        let begun = Instant::now();
        let mut persistence = Persistence::new(begun);
        let mut now = begun;
        let mut pauses = Vec::new();
        while let Some(pause) = persistence.pause(now, &out_of_resource(), chance) {
            pauses.push(pause);
            now += pause;
        }
        let part = 0.5 + f64::from(chance) / 256.0;
        let expected = [50, 100, 200, 400, 800, 1000, 1000].map(|ms| Duration::from_millis(ms).mul_f64(part));
        assert_eq!(pauses[..expected.len()], expected);
        assert!((12..40).contains(&pauses.len()), "{} attempts", pauses.len());
        assert!(now < begun + KEY_EXCHANGE);
    }
}

#[test]
fn late_keys_are_tried_for_at_once_and_nothing_else_is() {
    let now = Instant::now();
    let failed = |error| ConnectError::Failed(CloseReason::KeyExchange(error));
    let mut persistence = Persistence::new(now);
    let late = failed(KeyExchangeError::Late);
    assert_eq!(persistence.pause(now, &late, 0), Some(Duration::ZERO));
    assert_eq!(persistence.pause(now + KEY_EXCHANGE, &late, 0), None);
    let unknown = failed(KeyExchangeError::UnknownPeer(PeerKey(Vec::new().into())));
    for error in [unknown, ConnectError::NoAddress, ConnectError::Failed(CloseReason::Unreachable)] {
        assert_eq!(persistence.pause(now, &error, 0), None, "{error}");
    }
}
