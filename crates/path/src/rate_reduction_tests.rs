use super::*;

const PACKET: usize = 1000;

/// One packet of twenty is lost, and the others are acknowledged one by one: half of them let one out each, evenly spread (RFC 9937, Figure 3).
#[test]
fn half_of_what_is_delivered_leaves_while_the_window_is_halved() {
    let (mut flight, ssthresh) = (20 * PACKET, 10 * PACKET);
    let mut reduction = RateReduction::new(flight);
    // What is lost is in flight no more.
    flight -= PACKET;
    let mut left = Vec::new();
    for _ in 0..18 {
        flight -= PACKET;
        let allowed = reduction.allowance(PACKET, false, flight, ssthresh, PACKET);
        if allowed >= PACKET {
            reduction.on_sent(PACKET);
            flight += PACKET;
        }
        left.push(allowed >= PACKET);
    }
    assert_eq!(left.iter().filter(|left| **left).count(), 9, "{left:?}");
    assert!(left.windows(3).all(|three| three.iter().any(|left| *left)), "evenly: {left:?}");
    assert_eq!(flight, ssthresh);
}

/// Where much is lost the window is filled again with what is delivered, and by a packet more where nothing speaks against it, up to ssthresh.
#[test]
fn an_empty_window_is_filled_as_what_is_delivered_allows() {
    let ssthresh = 10 * PACKET;
    let mut reduction = RateReduction::new(20 * PACKET);
    assert_eq!(reduction.allowance(PACKET, false, 2 * PACKET, ssthresh, PACKET), PACKET);
    reduction.on_sent(PACKET);
    assert_eq!(reduction.allowance(2 * PACKET, true, 2 * PACKET, ssthresh, PACKET), 3 * PACKET);
    reduction.on_sent(3 * PACKET);
    assert_eq!(reduction.allowance(2 * PACKET, true, 9 * PACKET, ssthresh, PACKET), PACKET);
    // What was not used before may leave later.
    assert_eq!(reduction.allowance(0, false, 8 * PACKET, ssthresh, PACKET), PACKET);
}

/// All that has left in Fast Recovery is lost again.
#[test]
fn an_empty_path_gets_a_packet() {
    let mut reduction = RateReduction::new(20 * PACKET);
    reduction.on_sent(5 * PACKET);
    assert_eq!(reduction.allowance(PACKET, false, PACKET, 10 * PACKET, PACKET), PACKET);
    assert_eq!(reduction.allowance(0, false, PACKET, 10 * PACKET, PACKET), 0);
    assert_eq!(reduction.allowance(0, false, 0, 10 * PACKET, PACKET), PACKET);
}

#[test]
fn nothing_overflows() {
    let mut reduction = RateReduction::new(0);
    assert_eq!(reduction.allowance(usize::MAX, true, 2, 1, PACKET), usize::MAX);
    reduction.on_sent(usize::MAX);
    assert_eq!(reduction.allowance(usize::MAX, true, usize::MAX, 1, PACKET), 0);
    assert_eq!(reduction.allowance(usize::MAX, true, 0, usize::MAX, PACKET), usize::MAX);
}
