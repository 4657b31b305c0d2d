use super::super::protocol::{Mode, VERSION};
use super::*;

fn request(size: u32, rate: Option<u64>) -> Request {
    let (version, mode) = (VERSION, Mode::Upload);
    Request { version, mode, size, seconds: 1.0, bytes: None, streams: 1, unordered: false, rate }
}

/// What is handed over in one go is a burst.
#[test]
fn with_a_rate_little_is_handed_over_in_one_go() {
    assert_eq!(batch(&request(1000, None)), 262);
    assert_eq!(batch(&request(64, None)), 1024);
    // 5 ms of 20 Mbit/s are 12,500 bytes.
    assert_eq!(batch(&request(1000, Some(20_000_000))), 12);
    assert_eq!(batch(&request(65_536, Some(20_000_000))), 1);
    assert_eq!(batch(&request(1000, Some(1 << 50))), 262);
}
