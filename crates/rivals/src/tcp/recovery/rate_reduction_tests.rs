use super::*;

/// Sends as much as is allowed and returns how much is in the network afterwards.
fn fill(reduction: &mut RateReduction, pipe: u64) -> u64 {
    let sent = reduction.window().saturating_sub(pipe);
    reduction.on_sent(sent);
    pipe + sent
}

/// 100 bytes were outstanding and 70 may be: seven leave for ten that arrive, from the first on, and none in a burst.
#[test]
fn the_pipe_comes_down_in_proportion() {
    let mut reduction = RateReduction::new(1, 100);
    let (mut pipe, mut least) = (99, 99);
    for delivered in 1..=100 {
        reduction.on_delivered(1, pipe - 1, 70, false);
        let after = fill(&mut reduction, pipe - 1);
        assert!(after + 1 >= pipe && after <= pipe, "{delivered}: {pipe} and then {after}");
        let expected = 99 - delivered * 3 / 10;
        assert!(after.abs_diff(expected) <= 1 || after == 70, "{delivered}: {after}, not {expected}");
        (pipe, least) = (after, least.min(after));
    }
    assert_eq!((pipe, least), (70, 70));
}

/// Losses have taken the pipe below ssthresh: packets are conserved while losses go on, and the pipe grows as in slow start when they do not.
#[test]
fn the_pipe_is_filled_again_only_while_it_is_safe() {
    let mut reduction = RateReduction::new(1, 100);
    let mut pipe = 20;
    for (safe, expected) in [(false, 20), (false, 20), (true, 21), (true, 22), (false, 22)] {
        reduction.on_delivered(1, pipe - 1, 70, safe);
        pipe = fill(&mut reduction, pipe - 1);
        assert_eq!(pipe, expected, "{safe}");
    }
    for _ in 0..100 {
        reduction.on_delivered(1, pipe - 1, 70, true);
        pipe = fill(&mut reduction, pipe - 1);
    }
    assert_eq!(pipe, 70, "and no further");
}

/// RFC 9937: whatever arrives first, one segment leaves as a recovery begins.
#[test]
fn the_first_retransmission_leaves_at_once() {
    let mut reduction = RateReduction::new(1460, 100 * 1460);
    reduction.on_delivered(0, 50 * 1460, 10 * 1460, false);
    assert_eq!(reduction.window(), 51 * 1460);
}
