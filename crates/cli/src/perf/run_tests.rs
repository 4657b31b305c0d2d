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

/// The pause before the first message is not the network's, but what is hardly longer than the pause would seem to take no time without it.
#[test]
fn the_pause_counts_where_there_is_little_else() {
    let ms = Duration::from_millis;
    assert_eq!(lasted(ms(10_000), ms(300)), ms(9_700));
    assert_eq!(lasted(ms(301), ms(300)), ms(301));
    assert_eq!(lasted(ms(5), ms(0)), ms(5));
}
