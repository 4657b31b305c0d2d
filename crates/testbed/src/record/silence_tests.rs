use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn ms(ms: u64) -> Option<Duration> {
    Some(Duration::from_millis(ms))
}

#[test]
fn a_silence_counts_from_the_beginning_to_the_end() {
    let mut silence = Silence::from(at(1000));
    assert_eq!(silence.longest(at(5000)), None, "what never spoke is not silent");
    silence.on_delivery(at(100));
    assert_eq!(silence.longest(at(900)), None, "it is over before it counts");
    silence.on_delivery(at(1300));
    assert_eq!(silence.longest(at(1400)), ms(300), "of 1.2 s all but 0.3 s lie before the beginning");
    silence.on_delivery(at(1700));
    assert_eq!((silence.longest(at(1800)), silence.last()), (ms(400), Some(at(1700))));
    assert_eq!(silence.longest(at(2500)), ms(800));
}
