use proptest::prelude::*;

use super::*;
use crate::tcp::rto::{Rto, RtoConfig};
use crate::tcp::sender::Sender;
use crate::tcp::{Greedy, TcpConfig};

const MSS: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A sender that has sent its first ten segments at 0 ms.
fn sender() -> Sender {
    let config = TcpConfig { recovery: Rack::boxed, ..TcpConfig::default() };
    let mut sender = Sender::new(&config, MSS, Rto::new(RtoConfig::default()), Box::new(Greedy));
    sender.open_window(1 << 30);
    assert_eq!(sent(&mut sender, at(0)), (0..10).collect::<Vec<_>>());
    sender
}

/// The segments that leave now, by number.
fn sent(sender: &mut Sender, now: Instant) -> Vec<u64> {
    assert!(sender.on_time(now));
    core::iter::from_fn(|| sender.poll(now)).map(|piece| piece.offset / MSS).collect()
}

/// An acknowledgement of all below a segment, with blocks of segments.
fn ack(sender: &mut Sender, now: Instant, next: u64, blocks: &[(u64, u64)]) {
    let blocks = blocks.iter().map(|&(left, right)| (left * MSS, right * MSS));
    sender.on_ack(now, next * MSS, 1 << 30, blocks);
}

/// RFC 8985 §6.2 step 5: one segment that has arrived from behind is enough once the reordering window is over, a quarter of the round trip.
#[test]
fn what_is_overtaken_is_lost_after_the_reordering_window() {
    let mut sender = sender();
    ack(&mut sender, at(100), 0, &[(1, 2)]);
    assert_eq!(sent(&mut sender, at(100)), [10], "limited transmit");
    assert_eq!(sender.next_deadline(), Some(at(125)));
    assert_eq!(sent(&mut sender, at(124)), [0; 0]);
    assert_eq!(sent(&mut sender, at(125)), [0]);
    assert_eq!((sender.stats().recoveries, sender.stats().timeouts), (1, 0));
}

/// Three segments are enough at once, and what left after the latest of them is not judged.
#[test]
fn three_that_arrived_need_no_waiting() {
    let mut sender = sender();
    ack(&mut sender, at(100), 0, &[(2, 5)]);
    assert_eq!(sent(&mut sender, at(100)), [0]);
    // Three have arrived and two are lost: five are on their way, which is half of ten. The retransmission makes six.
    ack(&mut sender, at(101), 0, &[(2, 6)]);
    assert_eq!(sent(&mut sender, at(101)), [0; 0]);
    ack(&mut sender, at(102), 0, &[(2, 7)]);
    assert_eq!(sent(&mut sender, at(102)), [1]);
    assert_eq!(sender.stats().retransmissions, 2, "and nothing that was sent later");
}

/// A retransmission is lost when something sent after it has arrived.
#[test]
fn lost_retransmissions_are_found() {
    let mut sender = sender();
    ack(&mut sender, at(100), 0, &[(1, 10)]);
    let again = sent(&mut sender, at(100));
    assert_eq!(again[0], 0);
    assert!(again.len() > 1, "new data leaves behind it: {again:?}");
    ack(&mut sender, at(200), 0, &[(1, 11)]);
    assert_eq!(sent(&mut sender, at(200)).first(), Some(&0));
    assert_eq!(sender.next_deadline(), Some(at(1200)), "RTO is 1 s, from the last retransmission on");
    assert_eq!((sender.stats().recoveries, sender.stats().timeouts), (1, 0));
}

/// RFC 8985 §6.2 step 2: an answer sooner than any round trip is one to the first transmission, and says nothing about what left before the second.
#[test]
fn an_early_answer_is_to_an_earlier_transmission() {
    let mut sender = sender();
    ack(&mut sender, at(100), 0, &[(2, 5)]);
    assert_eq!(sent(&mut sender, at(100))[0], 0);
    ack(&mut sender, at(110), 1, &[(2, 5)]);
    let before = sender.stats().retransmissions;
    sent(&mut sender, at(199));
    // Segments 5 to 9 left with those that have arrived, and before the retransmission.
    assert!(sender.stats().retransmissions <= before + 1, "{:?}", sender.stats());
}

/// All that was sent again has come twice: the window is what it was before.
#[test]
fn a_needless_recovery_is_taken_back() {
    let mut sender = sender();
    let before = sender.stats().window;
    ack(&mut sender, at(100), 0, &[(1, 4)]);
    assert_eq!(sent(&mut sender, at(100))[0], 0);
    assert!(sender.stats().window < before);
    ack(&mut sender, at(105), 4, &[]);
    ack(&mut sender, at(200), 10, &[(0, 1)]);
    assert_eq!(sender.stats().window, before);
}

/// The same where what has come twice lies inside of another block (RFC 2883 §4.2).
#[test]
fn duplicates_above_a_hole_count() {
    let mut sender = sender();
    let before = sender.stats().window;
    ack(&mut sender, at(100), 0, &[(2, 5)]);
    assert_eq!(sent(&mut sender, at(100)), [0]);
    ack(&mut sender, at(102), 0, &[(2, 7)]);
    assert_eq!(sent(&mut sender, at(102)), [1]);
    ack(&mut sender, at(105), 0, &[(1, 7)]);
    ack(&mut sender, at(200), 0, &[(1, 2), (1, 10)]);
    assert!(sender.stats().window < before);
    ack(&mut sender, at(201), 10, &[(0, 1)]);
    assert_eq!(sender.stats().window, before);
}

/// RFC 8985 §6.3: what has just been sent is not taken for lost as the timer expires.
#[test]
fn a_timeout_spares_what_was_sent_just_before() {
    let mut rack = Rack::boxed(MSS, 3).0;
    let mut board = Scoreboard::default();
    let state = |now| SenderState { now, srtt: Some(RTT), timer: None, cwnd: 10 * MSS };
    for (now, segments) in [(at(0), 3), (at(1000), 2)] {
        for _ in 0..segments {
            board.on_sent(now, MSS);
            rack.on_sent(&board, &board.last().expect("sent"), &state(now));
        }
    }
    rack.on_timeout(&board);
    rack.lose_at_timeout(at(1000), &mut board);
    board.invariants();
    assert_eq!(board.pipe(), 0, "before anything is measured all may be lost");
    board.on_sent(at(1001), MSS);
    let last = board.last().expect("sent");
    rack.on_sent(&board, &last, &state(at(1001)));
    let mut acknowledged = Acknowledged { now: at(1101), ..Acknowledged::default() };
    board.sack(5 * MSS, 6 * MSS, &mut acknowledged);
    rack.on_acknowledged(&mut board, &acknowledged);
    board.on_sent(at(1150), MSS);
    rack.on_sent(&board, &board.last().expect("sent"), &state(at(1150)));
    rack.lose_at_timeout(at(1200), &mut board);
    board.invariants();
    assert_eq!(board.pipe(), MSS, "half a round trip is too short for an answer");
}

proptest! {
    /// Whatever a peer acknowledges, and whenever timers expire, the sums of the scoreboard are right, nothing leaves that the peer has no room for, and
    /// something is always waited for.
    #[test]
    fn any_acknowledgements(steps in proptest::collection::vec((0..4_u8, 0..30_u64, 0..12_u64, 1..80_u64), 1..80)) {
        let mut sender = sender();
        let mut now = at(0);
        for (what, a, b, wait) in steps {
            now += Duration::from_millis(wait);
            let next = sender.acknowledged() / MSS;
            match what {
                0 => ack(&mut sender, now, next + a / 4, &[]),
                1 => ack(&mut sender, now, next, &[(next + a, next + a + b)]),
                2 => ack(&mut sender, now, next + a / 8, &[(next.saturating_sub(a), next), (next + b, next + b + a)]),
                _ => {}
            }
            sent(&mut sender, now);
            sender.invariants();
            prop_assert!(sender.next_deadline().is_some());
        }
    }
}
