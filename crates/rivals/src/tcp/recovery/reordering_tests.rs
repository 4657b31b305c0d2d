use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn window(min_rtt: Duration) -> ReorderingWindow {
    let mut window = ReorderingWindow::default();
    window.on_measurement(Instant::ZERO, min_rtt);
    window.on_measurement(Instant::ZERO, min_rtt * 2);
    window
}

fn arrived(lowest_once: Option<u64>, highest: u64) -> Arrivals {
    Arrivals { lowest_once, highest, ..Arrivals::default() }
}

/// RFC 8985 §6.2 step 4: nothing is waited for in a recovery until something is seen to come out of order.
#[test]
fn it_is_closed_in_recovery_until_reordering_is_seen() {
    let mut window = window(ms(40));
    window.on_arrivals(&arrived(Some(1000), 1000));
    window.on_arrivals(&arrived(None, 900));
    assert_eq!(window.length(true, Some(ms(80))), Duration::ZERO, "a retransmission below tells nothing");
    assert_eq!(window.length(false, Some(ms(80))), ms(10));
    window.on_arrivals(&arrived(Some(900), 1100));
    assert_eq!(window.length(true, Some(ms(80))), ms(10));
}

/// A quarter more in each round trip that reports duplicates, SRTT at most, for 16 recoveries.
#[test]
fn duplicates_make_it_longer() {
    let mut window = window(ms(40));
    window.on_duplicate(0, 1000);
    window.on_duplicate(500, 1500);
    assert_eq!(window.length(false, Some(ms(80))), ms(20), "once in a round trip");
    window.on_duplicate(1000, 2000);
    assert_eq!(window.length(false, Some(ms(80))), ms(30));
    assert_eq!(window.length(false, Some(ms(25))), ms(25));
    for _ in 0..15 {
        window.on_recovered();
    }
    assert_eq!(window.length(false, Some(ms(80))), ms(30));
    window.on_recovered();
    assert_eq!(window.length(false, Some(ms(80))), ms(10));
}

#[test]
fn a_least_round_trip_is_forgotten() {
    let mut window = window(ms(40));
    let later = Instant::ZERO + MIN_RTT_AGE;
    window.on_measurement(later, ms(400));
    assert_eq!(window.min_rtt(), ms(40));
    window.on_measurement(later + ms(1), ms(400));
    assert_eq!(window.min_rtt(), ms(400));
}
