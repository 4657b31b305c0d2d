use bytes::Bytes;
use whimbrel_proto::{Delivery, Part, PayloadProtocolId, StreamId};

use super::*;
use crate::{at, millis};

fn received(arrivals: &[u64]) -> Log {
    let message = || Received {
        stream: StreamId(0),
        ppid: PayloadProtocolId(0),
        delivery: Delivery::Ordered,
        part: Part::Whole,
        payload: Bytes::new(),
    };
    Log { received: arrivals.iter().map(|&ms| (at(ms), message())).collect(), ..Log::default() }
}

#[test]
fn a_time_without_messages_is_one_gap() {
    let log = received(&[100, 110, 140, 150, 1000]);
    assert_eq!(log.longest_gap(at(100), at(500)), (millis(30), at(140)));
    assert_eq!(log.longest_gap(at(140), at(1000)), (millis(850), at(1000)));
    assert_eq!(log.longest_gap(at(150), at(999)), (millis(849), at(999)));
    assert_eq!(received(&[]).longest_gap(at(1), at(5)), (millis(4), at(5)));
}

#[test]
fn who_is_late_is_behind() {
    let log = received(&[100, 115, 120]);
    assert_eq!(log.behind(at(100), millis(10), at(0)), millis(5));
    assert_eq!(log.behind(at(100), millis(10), at(116)), millis(0));
    assert_eq!(log.behind(at(100), millis(10), at(121)), Duration::MAX);
}
