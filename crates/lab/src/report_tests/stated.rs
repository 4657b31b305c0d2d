use super::*;
use crate::report::stated::StatedNumbers;

/// What is stated about a chart that there is not would silently be missing.
#[test]
fn what_is_stated_is_stated_about_charts_and_lines_that_there_are() {
    let papers = Papers::load().unwrap();
    let plots = figures::all(&papers).unwrap().into_iter().flat_map(|experiment| {
        let paper = experiment.scenario().paper().to_owned();
        experiment.plots().into_iter().map(move |plot| (plot.file_name(&paper), plot.lines))
    });
    let plots: std::collections::BTreeMap<String, Vec<Line>> = plots.collect();
    let stated = StatedNumbers::load().unwrap();
    for (chart, line) in stated.names() {
        let lines = plots.get(chart).unwrap_or_else(|| panic!("there is no chart {chart}"));
        let has = line.is_none_or(|line| lines.iter().any(|one| one.label == line));
        assert!(has, "{chart} has no line {line:?}");
    }
}

#[test]
fn stated_numbers_and_points_of_ns2_are_drawn_into_their_chart() {
    let stated = StatedNumbers::load().unwrap();
    let mut chart = fig07(&[(PAPER, Some(1), 4.0)]);
    let before = chart.lines.len();
    stated.put_into(&mut chart);
    let json = serde_json::to_value(&chart).unwrap();
    let marks = json["marks"].as_array().unwrap();
    let values: Vec<f64> = marks.iter().filter_map(|mark| mark["value"].as_f64()).collect();
    assert_eq!(values, [0.3, 2.0]);
    assert!(
        chart.notes.iter().any(|note| note.starts_with("300 ms: ") && note.ends_with("(b08 sect. 4.1.2)."))
    );
    assert_eq!(chart.lines.len(), before + 1, "CBR-45 is all that was measured here");
    let ns2 = chart.lines.last().unwrap();
    assert_eq!(ns2.beside.as_deref(), Some("timers, CBR-45 (queue 10)"));
    assert!(
        ns2.points.iter().any(|point| point.x == 2.0 && (0.2..0.5).contains(&point.y)),
        "as docs/ns2.md has it"
    );
    assert!(beside::Beside::of(&chart).is_none(), "another simulator's points are nobody's here");
}

#[test]
fn where_nothing_is_measured_nothing_is_stated() {
    let mut chart = fig07(&[]);
    StatedNumbers::load().unwrap().put_into(&mut chart);
    assert!(chart.lines.is_empty() && chart.marks.is_empty() && chart.notes.is_empty());
}

#[test]
fn the_papers_scheme_is_called_what_it_is() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    assert!(!page.contains("<dt>paper</dt>"));
    let stated = StatedNumbers::load().unwrap();
    for one in &measured {
        let scheme = stated.scheme(one.experiment.name());
        assert_ne!(scheme, stated.scheme("none"), "{}", one.experiment.name());
        if !one.experiment.series().is_empty() {
            assert!(page.contains(&format!("<dt>{scheme}</dt>")), "{scheme}");
        }
    }
}
