use super::*;

fn all() -> Vec<Assumptions> {
    let papers = Papers::load().unwrap();
    let table: Table = include_str!("../data/assumptions.toml").parse().unwrap();
    ["b08", "e13", "c04"]
        .map(|paper| {
            let groups = table.get(paper).and_then(Toml::as_array).into_iter().flatten();
            let entries = groups.flat_map(|group| alternatives(&papers, group).unwrap()).collect();
            Assumptions { name: paper.to_owned(), scenario: scenario(paper, 1), entries }
        })
        .into()
}

/// A slip in the data would show as an assumption without influence.
#[test]
fn every_alternative_changes_something_that_there_is() {
    let papers = Papers::load().unwrap();
    for assumptions in all() {
        assert!(assumptions.entries.len() >= 5, "{}", assumptions.name);
        assert!(assumptions.plots().len() > 1 && assumptions.plots().len() <= PANELS.len());
        let mut labels = Vec::new();
        for entry in &assumptions.entries {
            assert!(papers.leaf(&entry.leaf).is_some(), "{}", entry.leaf);
            let altered = papers.with(&entry.leaf, entry.value.clone()).unwrap();
            assert_ne!(papers.leaf(&entry.leaf), altered.leaf(&entry.leaf), "{}", entry.label);
            let experiment = figures::named(&altered, std::slice::from_ref(&entry.headline.experiment));
            let experiment = experiment.unwrap().remove(0);
            assert!(experiment.metrics().iter().any(|metric| *metric == entry.headline.metric));
            for (axis, _) in entry.headline.at.iter().chain(&entry.headline.over) {
                assert!(experiment.axes().contains(axis), "{axis}");
            }
            let label = (&entry.headline.says, &entry.label);
            assert!(!labels.contains(&label), "{label:?}");
            labels.push(label);
        }
    }
}

#[test]
fn a_changed_value_changes_the_number_and_the_same_value_does_not() {
    let papers = Papers::load().unwrap();
    let headline = Headline {
        says: String::new(),
        experiment: "b08_fig07".to_owned(),
        metric: "failover_latency".to_owned(),
        at: [("pair", "wlan-umts"), ("src", "cbr45")]
            .map(|(axis, value)| (Name::from(axis), Value::from(value)))
            .into_iter()
            .chain([("qs".into(), Value::Integer(10)), ("pmr".into(), Value::Integer(1))])
            .collect(),
        over: Vec::new(),
    };
    let leaf = "profile.b08.rto_min";
    let with = |value: f64| headline.measure(&papers.with(leaf, Toml::Float(value)).unwrap(), 0).unwrap();
    let assumed = headline.measure(&papers, 0).unwrap();
    assert_eq!(with(0.020), assumed);
    assert!(with(1.0) > 2.0 * assumed);
}
