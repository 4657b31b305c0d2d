use super::*;

const DELAY: Duration = Duration::from_millis(200);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Past the first packet, which is acknowledged at once.
fn warmed_up() -> Acknowledgement {
    let mut acknowledgement = Acknowledgement::new(DELAY, 2);
    packet(&mut acknowledgement, 0, Urgency::Delayed, false);
    assert!(acknowledgement.is_due(at(0)), "first DATA");
    acknowledgement.sent(0);
    acknowledgement
}

fn packet(acknowledgement: &mut Acknowledgement, millis: u64, urgency: Urgency, gaps: bool) {
    acknowledgement.on_chunk(urgency);
    acknowledgement.packet_done(at(millis), gaps);
}

/// RFC 9260 §6.2: at least every second packet, and within the delay.
#[test]
fn every_second_packet_or_the_delay() {
    let mut acknowledgement = warmed_up();
    packet(&mut acknowledgement, 10, Urgency::Delayed, false);
    assert!(!acknowledgement.is_due(at(209)) && acknowledgement.is_pending());
    assert_eq!(acknowledgement.deadline(), Some(at(210)));
    assert!(acknowledgement.is_due(at(210)));
    packet(&mut acknowledgement, 20, Urgency::Delayed, false);
    assert!(acknowledgement.is_due(at(20)));
    assert_eq!(acknowledgement.deadline(), None, "it is due already");
    acknowledgement.sent(0);
    assert!(!acknowledgement.is_due(at(9999)) && !acknowledgement.is_pending());
}

#[test]
fn gaps_and_urgent_packets_do_not_wait() {
    for (urgency, gaps) in [(Urgency::Immediate, false), (Urgency::Delayed, true)] {
        let mut acknowledgement = warmed_up();
        packet(&mut acknowledgement, 10, urgency, gaps);
        assert!(acknowledgement.is_due(at(10)));
    }
    let mut acknowledgement = warmed_up();
    acknowledgement.on_chunk(Urgency::Immediate);
    packet(&mut acknowledgement, 10, Urgency::Delayed, false);
    assert!(acknowledgement.is_due(at(10)), "one urgent chunk is enough");
}

#[test]
fn packets_without_data_do_not_count() {
    let mut acknowledgement = warmed_up();
    acknowledgement.packet_done(at(1), true);
    acknowledgement.packet_done(at(2), true);
    assert!(!acknowledgement.is_pending());
}

/// RFC 9260 §6.2: duplicates are reported, once, at once.
#[test]
fn duplicates_are_reported_once_and_bounded() {
    let mut acknowledgement = warmed_up();
    for n in 0..100 {
        acknowledgement.on_duplicate(Tsn(n));
    }
    acknowledgement.packet_done(at(5), false);
    assert!(acknowledgement.is_due(at(5)));
    let all: Vec<Tsn> = (0..MAX_DUPLICATES as u32).map(Tsn).collect();
    assert_eq!(acknowledgement.sent(99), all);
    assert!(acknowledgement.sent(99).is_empty());
    acknowledgement.on_duplicate(Tsn(1));
    acknowledgement.on_duplicate(Tsn(2));
    assert_eq!(acknowledgement.sent(1), [Tsn(1)], "as fit");
    assert!(acknowledgement.sent(99).is_empty());
}
