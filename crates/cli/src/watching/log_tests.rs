use super::*;

#[test]
fn a_level_or_levels_by_target() {
    let enabled = |text: &str, target: &str, level: tracing_subscriber::filter::LevelFilter| {
        let LogFilter(targets) = text.parse().unwrap();
        level.into_level().is_some_and(|level| targets.would_enable(target, &level))
    };
    assert!(enabled("debug", "whimbrel", LevelFilter::DEBUG));
    assert!(!enabled("debug", "whimbrel::records", LevelFilter::TRACE));
    assert!(enabled("TRACE", "whimbrel::records", LevelFilter::TRACE));
    assert!(!enabled("trace", "others", LevelFilter::ERROR));
    let both = "whimbrel=debug,whimbrel::records=off";
    assert!(enabled(both, "whimbrel", LevelFilter::DEBUG));
    assert!(!enabled(both, "whimbrel::records", LevelFilter::ERROR));
    for wrong in ["", "loud", "whimbrel", "whimbrel=loud", "debug,trace"] {
        assert!(wrong.parse::<LogFilter>().is_err(), "{wrong}");
    }
}
