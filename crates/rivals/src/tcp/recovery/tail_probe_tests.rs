use super::*;

const MSS: u64 = 1000;

/// Two segments, the second sent again as a probe, and a third, all of which are acknowledged.
fn answered(duplicated: Option<(u64, u64)>) -> Option<u64> {
    let (mut board, mut probe, now) = (Scoreboard::default(), TailProbe::default(), Instant::ZERO);
    for _ in 0..2 {
        board.on_sent(now, MSS);
    }
    assert!(probe.on_time());
    board.on_repaired(now, MSS);
    assert!(probe.on_sent(2 * MSS, true, &board));
    assert!(!probe.on_time(), "one at a time");
    board.on_sent(now, MSS);
    let mut acknowledged = Acknowledged { duplicated, ..Acknowledged::default() };
    board.acknowledge(3 * MSS, &mut acknowledged);
    probe.on_acknowledged(&board, &acknowledged)
}

/// RFC 8985 §7.4.2: what nobody says has come twice has come once, so that something was lost.
#[test]
fn a_probe_that_came_twice_has_repaired_nothing() {
    assert_eq!(answered(None), Some(2 * MSS), "what was outstanding with the probe");
    assert_eq!(answered(Some((MSS, 2 * MSS))), None);
    assert_eq!(answered(Some((0, MSS))), Some(2 * MSS), "another segment");
}
