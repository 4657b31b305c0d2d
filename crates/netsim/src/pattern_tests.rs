use std::sync::Arc;

use proptest::prelude::*;
use whimbrel_machine::{Instant, Seed};

use super::*;
use crate::{Fate, LinkConfig, LinkDirection, QueueLimit};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn following(config: LinkConfig, text: &str, from: u64) -> LinkDirection {
    let mut link = LinkDirection::new(config, &Seed::from_u64(1), 0);
    link.follow(at(from), Arc::new(Pattern::parse(text).unwrap()));
    link
}

/// When each of `count` packets arrives, in ms; one comes every 10 ms from `from` on.
fn arrivals(link: &mut LinkDirection, from: u64, count: u64) -> Vec<Option<u64>> {
    let fate = |number| match link.offer(at(from + number * 10), 1000) {
        Fate::Passed { first, .. } => Some(first.flight.arrives.as_nanos() / 1_000_000),
        _ => None,
    };
    (0..count).map(fate).collect()
}

#[test]
fn packets_are_dropped_by_number_and_by_time() {
    let text = "packet 2 drop\npacket 5-6 drop\nms 70-79 drop # the eighth\n";
    let mut link = following(LinkConfig::default(), text, 1000);
    let some = |ms: u64| Some(1000 + ms);
    let expected = [some(0), None, some(20), some(30), None, None, some(60), None, some(80), some(90)];
    assert_eq!(arrivals(&mut link, 1000, 10), expected);
    assert_eq!(link.stats().dropped_for(crate::DropReason::Loss), 4);
}

#[test]
fn what_is_dropped_by_the_queue_counts() {
    let config =
        LinkConfig { rate_bps: Some(800_000), queue: QueueLimit::packets(1), ..LinkConfig::default() };
    let mut link = following(config, "packet 5 drop\n", 0);
    let fates: Vec<bool> = (0..4).map(|_| matches!(link.offer(at(0), 1000), Fate::Passed { .. })).collect();
    assert_eq!(fates, [true, true, false, false]);
    let (fifth, sixth) = (link.offer(at(100), 1000), link.offer(at(100), 1000));
    assert!(matches!(fifth, Fate::Dropped(crate::DropReason::Loss)), "{fifth:?}");
    // What the pattern drops has used no bottleneck: 10 ms each.
    let Fate::Passed { first, .. } = sixth else { panic!("{sixth:?}") };
    assert_eq!(first.flight.arrives, at(110));
    link.invariants();
}

#[test]
fn delays_and_rates_hold_from_their_position_on() {
    let text =
        "packet 3 delay 5ms\nms 40 delay 7ms\npacket 7 rate 4mbit\nms 70 rate 2mbit\nms 80 rate none\n";
    let mut link = following(LinkConfig::default(), text, 0);
    let expected = [0, 10, 25, 35, 47, 57, 69, 81, 87].map(Some);
    assert_eq!(arrivals(&mut link, 0, 9), expected);
    link.invariants();
}

#[test]
fn what_waits_keeps_its_rate() {
    let config = LinkConfig { rate_bps: Some(8_000_000), ..LinkConfig::default() };
    let mut link = following(config, "packet 3 rate 800kbit\n", 0);
    let arrives = |link: &mut LinkDirection| match link.offer(at(0), 1000) {
        Fate::Passed { first, .. } => first.flight.arrives,
        fate => panic!("{fate:?}"),
    };
    assert_eq!([(); 3].map(|()| arrives(&mut link)), [at(1), at(2), at(12)]);
    link.invariants();
}

#[test]
fn a_pattern_begins_anew_when_it_is_set_again() {
    let pattern = Arc::new(Pattern::parse("packet 1 drop\nms 20-29 drop").unwrap());
    let mut link = LinkDirection::new(LinkConfig::default(), &Seed::from_u64(1), 0);
    let dropped = |times: Vec<Option<u64>>| times.iter().map(Option::is_none).collect::<Vec<_>>();
    for from in [0, 500] {
        link.follow(at(from), Arc::clone(&pattern));
        assert_eq!(dropped(arrivals(&mut link, from, 4)), [true, false, true, false]);
    }
}

#[test]
fn nonsense_is_refused_with_its_line() {
    for (text, error) in [
        ("packet 1 drop\nbyte 3 drop", "line 2: 'byte' is neither packet nor ms"),
        ("packet", "line 1: a position is missing"),
        ("packet 4", "line 1: what happens there is missing: drop, delay or rate"),
        ("packet 0 drop", "line 1: packets are counted from 1"),
        ("ms 9-3 drop", "line 1: '9-3' ends before it begins"),
        ("ms +3 drop", "line 1: '+3' is no position"),
        ("ms -3 drop", "line 1: '-3' is no position"),
        ("ms 99999999999999999999 drop", "line 1: '99999999999999999999' is no position"),
        ("ms 3 drop 1", "line 1: '1' is too much"),
        ("ms 3 delay", "line 1: 'delay' needs a value"),
        ("ms 3 delay 4", "line 1: '' is no unit of time: us, ms or s"),
        ("ms 3 rate 4mb", "line 1: 'mb' is no unit of a rate: kbit, mbit, gbit or none"),
        ("ms 3-4 rate 4mbit", "line 1: rate holds from one position on, not in a range"),
        ("ms 3 explode", "line 1: 'explode' is none of: drop, delay, rate"),
        ("ms 3 rate 1mbit\nms 3 rate 2mbit", "ms 3 has two values of rate"),
    ] {
        assert_eq!(Pattern::parse(text).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn a_pattern_is_bounded() {
    assert!(Pattern::parse(&" ".repeat(TEXT_MAX)).is_ok());
    assert!(Pattern::parse(&" ".repeat(TEXT_MAX + 1)).is_err());
    assert!(Pattern::parse(&"ms 1 drop\n".repeat(STEPS_MAX)).is_ok());
    let error = Pattern::parse(&"ms 1 drop\n".repeat(STEPS_MAX + 1)).unwrap_err();
    assert_eq!(error.to_string(), "a pattern has at most 1048576 steps");
}

fn line() -> impl Strategy<Value = String> {
    let clock = prop_oneof![Just("packet"), Just("ms")];
    let what = prop_oneof![
        (0_u64..60).prop_map(|more| (more, "drop".to_owned())),
        (0_u64..2_000_000).prop_map(|micros| (0, format!("delay {micros}us"))),
        proptest::option::of(1_u64..1 << 40)
            .prop_map(|rate| (0, rate.map_or("rate none".to_owned(), |rate| format!("rate {rate}bit")))),
    ];
    (clock, 1_u64..500, what).prop_map(|(clock, first, (more, what))| match more {
        0 => format!("{clock} {first} {what}"),
        more => format!("{clock} {first}-{} {what}", first + more),
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back(lines in proptest::collection::vec(line(), 0..30)) {
        let Ok(pattern) = Pattern::parse(&lines.join("\n")) else { return Ok(()) };
        prop_assert_eq!(Pattern::parse(&pattern.to_string()), Ok(pattern));
    }

    #[test]
    fn no_text_does_harm(text in "(packet|ms|drop|delay|rate|none|[0-9]{1,25}|[-#. \n]|us|ms|s|mbit|\\PC){0,40}") {
        let Ok(pattern) = Pattern::parse(&text) else { return Ok(()) };
        let mut link = LinkDirection::new(LinkConfig::default(), &Seed::from_u64(1), 0);
        link.follow(at(0), Arc::new(pattern));
        arrivals(&mut link, 0, 50);
        link.invariants();
    }

    /// Dropped is what the text says, however its lines overlap.
    #[test]
    fn drops_are_the_union_of_their_ranges(ranges in proptest::collection::vec((1_u64..80, 0_u64..10), 0..20)) {
        let text: String =
            ranges.iter().map(|(first, more)| format!("packet {first}-{} drop\n", first + more)).collect();
        let mut link = following(LinkConfig::default(), &text, 0);
        let passed = arrivals(&mut link, 0, 100);
        for (number, passed) in (1..).zip(passed) {
            let dropped = ranges.iter().any(|(first, more)| (*first..=first + more).contains(&number));
            prop_assert_eq!(passed.is_none(), dropped, "packet {}", number);
        }
    }
}
