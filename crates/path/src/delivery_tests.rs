use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u32) -> Instant {
    Instant::ZERO + Duration::from_secs(1) + MS * ms
}

/// 1000 bytes every 10 ms, a round trip of 40 ms: 100 kB/s.
#[test]
fn a_steady_flow_is_its_rate() {
    let mut delivery = DeliveryRate::new();
    let mut last = None;
    for step in 0..20 {
        if step >= 4 {
            last = delivery.on_acked(at(step * 10), 1000, Some(at(step * 10 - 40)), 40 * MS);
        }
        delivery.on_sent(at(step * 10), 1000, 1000 * (step as usize + 1).min(4));
    }
    let sample = last.unwrap();
    assert_eq!((sample.rate, sample.delivered, sample.in_flight), (Some(100_000), 4000, 4000));
    assert_eq!((sample.prior_delivered, sample.lost, sample.app_limited), (12_000, 0, false));
    assert!(delivery.departures.len() < 12, "{}", delivery.departures.len());
}

/// The send rate is the bound where acknowledgements come together: 4 packets sent over 30 ms, all acknowledged at once.
#[test]
fn compressed_acknowledgements_are_no_fast_path() {
    let mut delivery = DeliveryRate::new();
    for step in 0..4 {
        delivery.on_sent(at(step * 10), 1000, 1000 * (step as usize + 1));
    }
    delivery.on_acked(at(60), 1000, Some(at(0)), 10 * MS);
    delivery.on_sent(at(60), 1000, 4000);
    // 60 ms to 65 ms since the last one; but from the first to the last of them 30 ms passed.
    delivery.on_acked(at(61), 2000, Some(at(20)), 10 * MS);
    let sample = delivery.on_acked(at(62), 1000, Some(at(30)), 10 * MS).unwrap();
    assert_eq!((sample.delivered, sample.rate), (4000, Some(4000 * 1000 / 62)));
    // What left at 60 ms was sent 60 ms after the first and comes 2 ms after the last acknowledgement before it left.
    let sample = delivery.on_acked(at(63), 1000, Some(at(60)), 10 * MS).unwrap();
    assert_eq!((sample.delivered, sample.rate), (4000, Some(4000 * 1000 / 60)));
}

/// No SACK comes for 300 ms, a timer calls everything lost, and the answer to what was sent again tells that all had arrived: not within the 50 ms of
/// that answer.
#[test]
fn what_a_timer_called_lost_was_not_delivered_in_a_moment() {
    let mut delivery = DeliveryRate::new();
    for step in 0..4 {
        delivery.on_sent(at(step * 10), 1000, 1000 * (step as usize + 1));
    }
    delivery.on_sent(at(340), 1000, 1000);
    let sample = delivery.on_acked(at(390), 4000, Some(at(340)), 40 * MS).unwrap();
    assert_eq!((sample.delivered, sample.rate), (4000, Some(4000 * 1000 / 390)));
    // Nothing is on its way any more: the pause that follows is not the path's.
    delivery.on_sent(at(800), 1000, 1000);
    let sample = delivery.on_acked(at(850), 1000, Some(at(800)), 40 * MS).unwrap();
    assert_eq!(sample.rate, Some(20_000));
}

#[test]
fn less_than_a_round_trip_is_no_rate() {
    let mut delivery = DeliveryRate::new();
    delivery.on_sent(at(0), 1000, 1000);
    let sample = delivery.on_acked(at(5), 1000, Some(at(0)), 6 * MS).unwrap();
    assert_eq!((sample.rate, sample.delivered), (None, 1000));
    delivery.on_sent(at(5), 1000, 1000);
    assert_eq!(
        delivery.on_acked(at(5), 1000, Some(at(5)), Duration::ZERO).unwrap().rate,
        None,
        "no time has passed"
    );
}

/// What leaves after the user had no more is marked until that bubble is acknowledged.
#[test]
fn a_user_who_has_no_more_is_no_slow_path() {
    let mut delivery = DeliveryRate::new();
    delivery.on_sent(at(0), 1000, 1000);
    delivery.limit(1000);
    delivery.on_sent(at(10), 1000, 2000);
    assert!(!delivery.on_acked(at(40), 1000, Some(at(0)), MS).unwrap().app_limited);
    assert!(delivery.is_limited());
    assert!(delivery.on_acked(at(50), 1000, Some(at(10)), MS).unwrap().app_limited);
    assert!(!delivery.is_limited());
    delivery.on_sent(at(50), 1000, 1000);
    assert!(!delivery.on_acked(at(90), 1000, Some(at(50)), MS).unwrap().app_limited);
}

#[test]
fn losses_are_counted_since_the_departure() {
    let mut delivery = DeliveryRate::new();
    delivery.on_sent(at(0), 1000, 5000);
    assert_eq!(
        delivery.on_lost(300, at(0)),
        Some(LossSample { in_flight: 5000, lost: 300, app_limited: false })
    );
    delivery.on_sent(at(1), 1000, 6000);
    assert_eq!(delivery.on_lost(200, at(1)).unwrap().lost, 200);
    assert_eq!(delivery.on_acked(at(9), 1000, Some(at(0)), MS).unwrap().lost, 500);
    assert_eq!(delivery.on_lost(1, at(77)), None, "nothing left then");
}

/// A timer has called 4 packets lost, one of which was sent again; they were late, and arrive 1 ms apart. What leaves meanwhile is not sampled: with it
/// come all that were late.
#[test]
fn what_was_late_is_not_sampled() {
    let mut delivery = DeliveryRate::new();
    (0..4).for_each(|step| delivery.on_sent(at(step), 1000, 1000 * (step as usize + 1)));
    delivery.on_sent(at(300), 1000, 1000);
    delivery.on_acked(at(400), 1000, Some(at(300)), 40 * MS);
    delivery.on_sent(at(400), 1000, 1000);
    delivery.distrust(4000);
    (401..404).for_each(|now| _ = delivery.on_acked(at(now), 1000, None, 40 * MS));
    let sample = delivery.on_acked(at(440), 1000, Some(at(400)), 40 * MS).unwrap();
    assert_eq!((sample.delivered, sample.rate), (4000, None));
    delivery.on_sent(at(440), 1000, 1000);
    assert!(delivery.on_acked(at(480), 1000, Some(at(440)), 40 * MS).unwrap().rate.is_some());
}
