use super::*;

#[test]
fn every_scenario_can_be_resolved() {
    let papers = Papers::load().unwrap();
    let names = papers.scenario_names();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        let scenario = papers.scenario(name).unwrap();
        assert!(!scenario.paper().is_empty() && scenario.number() > 0, "{name}");
    }
}

#[test]
fn what_a_scenario_extends_is_merged_leaf_by_leaf() {
    let papers = Papers::load().unwrap();
    let fig8 = papers.scenario("b08-fig8").unwrap();
    // Its own, merged, and replaced as a whole.
    assert_eq!(fig8.number_at("events.fast_period"), Ok(2.0));
    assert_eq!(fig8.number_at("topology.wired_rate"), Ok(100e6));
    assert!(fig8.axis("src").is_empty() && fig8.axis("x").len() == 11);
    assert_eq!(fig8.meaning("thr_ll").unwrap().unit, "bit/s");
    assert!(papers.scenario("b08-fig99").is_err());
}

#[test]
fn profiles_inherit() {
    let papers = Papers::load().unwrap();
    let b08 = papers.profile("b08").unwrap();
    assert_eq!((b08.number("rto_min"), b08.number("rto_initial")), (Ok(0.02), Ok(3.0)));
}
