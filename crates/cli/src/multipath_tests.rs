use super::*;

#[test]
fn who_says_nothing_sends_on_one_network() {
    let config = Multipath::default().apply(Config::mobile());
    assert_eq!(config.multipath.scheduler, PathScheduler::PrimaryPath);
}

#[test]
fn several_networks_carry_data() {
    for (multipath, scheduler) in [
        (Multipath::Aggregate, PathScheduler::EarliestCompletion),
        (Multipath::Redundant, PathScheduler::Redundant),
    ] {
        let config = multipath.apply(Config::mobile());
        assert_eq!(config.multipath.scheduler, scheduler);
        config.validate().unwrap();
    }
}
