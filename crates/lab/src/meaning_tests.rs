use super::*;
use crate::figures;
use crate::scenario::Papers;

#[test]
fn a_unit_is_short_and_stands_before_a_semicolon() {
    let parts = |text: &str| {
        let meaning = Meaning::parse(text);
        assert_eq!(meaning.to_string(), text);
        (meaning.unit, meaning.definition)
    };
    let is = |unit: &str, definition: &str| (unit.to_owned(), definition.to_owned());
    assert_eq!(parts("bit/s; of all; together"), is("bit/s", "of all; together"));
    assert_eq!(parts("1 if it holds; else 0"), is("", "1 if it holds; else 0"));
    assert_eq!(parts("share of runs"), is("", "share of runs"));
}

/// What stands in another scenario is taken from there.
#[test]
fn definitions_are_spelt_out() {
    let papers = Papers::load().unwrap();
    let text = |scenario: &str, column: &str| {
        papers.scenario(scenario).unwrap().meaning(column).map(|meaning| meaning.to_string())
    };
    let there = text("c04-base", "ftt").unwrap();
    assert!(there.starts_with("s; first data"), "{there}");
    assert_eq!(text("c04-fig6", "ftt"), Some(there.clone()));
    assert_eq!(text("c04-fig5", "ftt"), Some(format!("{there}; scheme amm")));
    assert_eq!(text("b08-fig7", "qs").unwrap(), "packets; packets that wait at most for an access network");
    assert_eq!(text("b08-fig7", "speed"), None);
}

#[test]
fn every_column_is_defined() {
    let papers = Papers::load().unwrap();
    let mut experiments = figures::all(&papers).unwrap();
    for (file, text) in [
        ("commute.toml", include_str!("../../../docs/lab/commute.toml")),
        ("lift.toml", include_str!("../../../docs/lab/lift.toml")),
        ("neighbour.toml", include_str!("../../../docs/lab/neighbour.toml")),
        ("walk.toml", include_str!("../../../docs/lab/walk.toml")),
        ("warning.toml", include_str!("../../../docs/lab/warning.toml")),
    ] {
        experiments.push(crate::own::load(file, text).unwrap());
    }
    let mut undefined = Vec::new();
    for experiment in &experiments {
        for column in experiment.axes().iter().chain(&experiment.metrics()) {
            let Meaning { definition, .. } = experiment.meaning(column);
            if definition.is_empty() || definition.starts_with("as ") {
                undefined.push(format!("{} {column}: {definition}", experiment.name()));
            }
        }
    }
    assert!(undefined.is_empty(), "{undefined:?}");
}
