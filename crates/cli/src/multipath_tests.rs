use super::*;

#[test]
fn who_says_nothing_sends_on_one_network() {
    let config = Multipath::default().apply(Config::mobile(), &["wwan0".into()]).unwrap();
    assert_eq!(config.multipath.scheduler, PathScheduler::PrimaryPath);
}

#[test]
fn several_networks_carry_data() {
    for (multipath, scheduler) in [
        (Multipath::Aggregate, PathScheduler::EarliestCompletion),
        (Multipath::Redundant, PathScheduler::Redundant),
    ] {
        let config = multipath.apply(Config::mobile(), &[]).unwrap();
        assert_eq!(config.multipath.scheduler, scheduler);
        config.validate().unwrap();
        let Err(Failure::Usage(text)) = multipath.apply(Config::mobile(), &["wwan0".into()]) else {
            panic!("wwan0 would be used")
        };
        assert!(text.contains("wwan0") && text.contains("--metered"), "{text}");
    }
}
