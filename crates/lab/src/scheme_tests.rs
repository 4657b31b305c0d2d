use super::*;
use crate::experiment::PAPER;
use crate::figures;
use crate::scenario::Papers;

#[test]
fn one_part_is_taken_over_at_a_time() {
    let (paper, ours) = (Scheme::of(PAPER), Scheme::of(SEAMLESS));
    assert_eq!(paper, Scheme { policy: Whose::Papers, profile: Whose::Papers });
    assert_eq!(ours, Scheme { policy: Whose::Ours, profile: Whose::Ours });
    assert_eq!(Scheme::of(PROFILE_ALONE), Scheme { policy: paper.policy, profile: ours.profile });
    assert_eq!(Scheme::of(POLICY_ALONE), Scheme { policy: ours.policy, profile: paper.profile });
    assert_eq!(
        Scheme::of("per-path-order"),
        paper,
        "what explains the paper's series differs in something else"
    );
}

#[test]
fn a_series_has_the_axes_that_mean_something_to_it() {
    let axis = |part, name| (part, name, vec![Value::from(1), Value::from(2)]);
    let axes =
        [axis(Part::Place, "queue"), axis(Part::Policy, "threshold"), axis(Part::Profile, "retransmissions")];
    let names = |series: &'static str| {
        let cells = cells(series, &axes);
        let names: Vec<String> = cells[0].axes.iter().map(|(name, _)| name.to_string()).collect();
        (cells.len(), names.join(" "))
    };
    assert_eq!(names(PAPER), (8, "queue threshold retransmissions".to_owned()));
    assert_eq!(names(PROFILE_ALONE), (4, "queue threshold".to_owned()));
    assert_eq!(names(POLICY_ALONE), (4, "queue retransmissions".to_owned()));
    assert_eq!(names(SEAMLESS), (2, "queue".to_owned()));
}

/// Whoever compares a policy with the paper's tells what it does from what its profile does, and draws it.
#[test]
fn where_a_policy_decides_its_part_and_the_profiles_are_told_apart() {
    for experiment in figures::all(&Papers::load().unwrap()).unwrap() {
        let name = experiment.name();
        let (cells, plots) = (experiment.cells(), experiment.plots());
        let has = |series: &str| cells.iter().any(|cell| cell.series == series);
        // The moment of e13's handover is given: its profile is all there is.
        let decides = has(SEAMLESS) && !name.starts_with("e13");
        let said: Vec<Name> = experiment.series().into_iter().map(|(series, _)| series).collect();
        for series in [PROFILE_ALONE, POLICY_ALONE] {
            assert_eq!(has(series), decides, "{name} {series}");
            assert_eq!(said.contains(&Name::from(series)), decides, "{name} {series}");
            for plot in &plots {
                let drawn = plot.lines.iter().any(|line| line.series == series);
                let both = plot.lines.iter().any(|line| line.series == SEAMLESS);
                assert_eq!(drawn, both && decides, "{name} {} {series}", plot.figure);
            }
        }
    }
}
