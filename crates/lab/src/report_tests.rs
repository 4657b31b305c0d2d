#[path = "report_tests/distribution.rs"]
mod distribution;
#[path = "report_tests/hostile.rs"]
mod hostile;
#[path = "report_tests/one_claim.rs"]
mod one_claim;
#[path = "report_tests/stated.rs"]
mod stated;

use super::chart::Chart;
use super::verdicts::Comparison;
use super::*;
use crate::claims::Answer;
use crate::experiment::{Axes, Cell, Name, PAPER, SEAMLESS};
use crate::figures;
use crate::plot::Line;
use crate::sensitivity::{Tried, Turn};
use crate::value::Value;

/// Every place of every experiment twice, with metrics that are no measurements.
fn everything() -> (Papers, Claims, Vec<Measured>) {
    let papers = Papers::load().unwrap();
    let experiments = figures::all(&papers).unwrap();
    let measured = experiments.into_iter().map(|experiment| {
        let mut rows = Vec::new();
        for (number, cell) in experiment.cells().into_iter().enumerate() {
            for repetition in 0..2 {
                let value = |at: usize| (number % 7 + at + 1) as f64 + 0.1 * repetition as f64;
                let metrics = experiment.metrics().into_iter().enumerate();
                rows.push(Row {
                    series: cell.series.clone(),
                    axes: cell.axes.clone(),
                    repetition,
                    seed: experiment.seed(repetition),
                    metrics: metrics.map(|(at, name)| (name, value(at))).collect(),
                });
            }
        }
        Measured { experiment, rows, versions: [crate::VERSION.to_owned()].into() }
    });
    let measured = measured.collect();
    (papers, Claims::load().unwrap(), measured)
}

/// The page with what was tried with other assumptions as it comes with the program.
fn rendered(papers: &Papers, claims: &Claims, measured: &[Measured]) -> Result<String, ReportError> {
    render(papers, claims, &Committed::load().unwrap(), measured)
}

/// What the page says besides the chart library.
fn own_words(page: &str) -> String {
    assert_eq!(page.matches(embed::LIBRARY).count(), 1);
    page.replace(embed::LIBRARY, "")
}

fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.split(mark.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_figure_and_every_claim_is_there_once_and_links_lead_somewhere() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    let ids = attributes(&page, "id");
    let once = |id: &str| assert_eq!(ids.iter().filter(|known| **known == id).count(), 1, "{id}");
    for one in &measured {
        once(one.experiment.name());
        for plot in one.experiment.plots() {
            let id = format!("chart-{}", plot.file_name(one.experiment.scenario().paper()));
            once(&id);
        }
    }
    let (drawn, empty) = (page.matches(" data-chart=\"").count(), page.matches("Nothing measured.").count());
    assert!(drawn > 0);
    assert_eq!(drawn + empty, page.matches("<figure class=\"chart\"").count());
    for claim in claims.all() {
        once(&format!("claim-{}", claim.id));
    }
    for link in attributes(&page, "href") {
        let leads = link == "data:,"
            || link
                .strip_prefix('#')
                .is_some_and(|id| ids.contains(&id) || page.contains(&format!("id={id}")));
        assert!(leads, "{link}");
    }
}

#[test]
fn without_results_everything_is_there_and_says_how_to_get_them() {
    let (papers, claims, mut measured) = everything();
    measured.iter_mut().for_each(|one| one.rows.clear());
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    assert!(page.contains("whimbrel lab run b08_fig07</code> runs it"));
    assert_eq!(page.matches(" data-chart=\"").count(), 0);
    assert_eq!(page.matches("<li class=\"claim ").count(), claims.all().count());
}

/// Scripts draw charts; who has none is told so where they would be, and where the numbers are.
#[test]
fn without_scripts_every_chart_says_where_its_numbers_are() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    let places: Vec<&str> = page.split("<div class=\"plot\"").skip(1).collect();
    assert!(places.len() > 20);
    for place in places {
        let inside = place.split("</div>").next().unwrap_or_default();
        assert!(inside.contains("a script in this page draws the chart"), "{inside}");
        assert!(inside.contains("The numbers stand below.") == place.contains("<details class=\"values\">"));
    }
}

/// Whoever comes with an experiment of his own looks for that, and it is no paper's.
#[test]
fn experiments_of_ones_own_come_first_and_have_no_score() {
    let (papers, claims, mut measured) = everything();
    measured.iter_mut().for_each(|one| one.rows.clear());
    let text = include_str!("../../../docs/lab/warning.toml");
    let experiment = crate::own::load("my docs/warning.toml", text).unwrap();
    let versions = [experiment.version()].into();
    let rows = experiment.cells().into_iter().map(|Cell { series, axes }| {
        let metrics = vec![("goodput".into(), 1e6)];
        Row { series, axes, repetition: 0, seed: experiment.seed(0), metrics }
    });
    let rows = rows.collect();
    measured.push(Measured { experiment, rows, versions });
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    let at = |mark: &str| page.find(mark).unwrap_or_else(|| panic!("{mark} is not there"));
    assert!(at("id=\"paper-warning\"") < at("id=\"paper-b08\""));
    assert!(at("id=\"own\"") < at("class=\"score\""));
    assert!(!page.contains("href=\"#paper-warning\"") && !page.contains("made by another version"));
    assert!(page.contains("whimbrel lab run &#39;my docs/warning.toml&#39;"), "a shell has to read it");
    assert!(page.contains("(the file says 20)"));
    assert!(page.contains(">event.0.at, swept</th>"), "as the file has it");
    let row = "<tr><th scope=\"row\">seamless, event.0.at = 10</th>";
    let means = page.split(row).nth(1).unwrap_or_default();
    assert!(means.trim_start().starts_with("<td class=\"number\">1000000</td>"), "{}", &means[..200]);
}

#[test]
fn figures_are_named_as_people_name_them() {
    let named = |name: &str| {
        let experiment = figures::named(&Papers::load().unwrap(), &[name.to_owned()]).unwrap().remove(0);
        crate::plot::spoken_figures(&experiment.plots())
    };
    let names = ["b08_fig07", "b08_fig08", "e13_lc", "e13_hc", "c04_fig05"].map(named);
    let expected = ["Figures 7a to 7c", "Figures 8a and 8b", "Figures 3 to 6", "Figures 7 to 10", "Figure 5"];
    assert_eq!(names, expected);
}

#[test]
fn equal_results_make_equal_reports() {
    let page = || {
        let (papers, claims, measured) = everything();
        rendered(&papers, &claims, &measured).unwrap()
    };
    assert_eq!(page(), page());
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap()).replace(embed::LICENCE, "");
    for mark in ["http:", "https:", "//cdn", " src=\"", "@import", "url(", "import(", "fetch("] {
        assert!(!page.contains(mark), "{mark}");
    }
    // Nor would the browser.
    assert!(
        attributes(&page, "content").iter().any(|content| content.starts_with("default-src &#39;none&#39;")
            || content.starts_with("default-src 'none'"))
    );
    assert!(!embed::LIBRARY.contains("</script") && !embed::LIBRARY.contains("<!--"));
}

#[test]
fn the_policy_names_scripts_by_their_hash() {
    // SHA-256 of nothing.
    assert!(embed::policy(&[""]).contains("'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"));
}

#[test]
fn rows_of_another_version_are_marked() {
    let (papers, claims, mut measured) = everything();
    let mark = "made by another version";
    assert!(!rendered(&papers, &claims, &measured).unwrap().contains(mark));
    measured[0].versions.insert("0.0.1".to_owned());
    assert_eq!(rendered(&papers, &claims, &measured).unwrap().matches(mark).count(), 1);
}

/// Other protocols' values are assumed, too; what each matters stands beside it, the greatest change.
#[test]
fn everything_that_is_assumed_is_listed_with_its_influence() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    for profile in ["b08", "e13", "c04", "tcp-e13", "tcp-tom"] {
        assert!(page.contains(&format!("<caption>Protocol profile {profile}</caption>")), "{profile}");
    }
    let row = page.split("<tr>").find(|row| row.contains("Protocol profile tcp-e13: rto min")).unwrap();
    assert!(row.contains("href=\"#e13_lc\"") && row.contains("href=\"#e13_hc\""), "{row}");
    assert!(!row.contains("c04"), "{row}");
    let row = page.split("<tr>").find(|row| row.contains("Protocol profile tcp-tom: tunnel header")).unwrap();
    assert!(row.contains("none: the agents build"), "{row}");
    assert!(!page.contains("not looked into"));
}

fn tried(claim: &crate::claims::Claim, verdict: Answer, choice: bool) -> Tried {
    let turn = Turn {
        assumption: "tcp-e13 rto min: 0.2 → 0.4".to_owned(),
        choice,
        verdict: Answer::DoesNotHold,
        closest: "not 1 < 1".to_owned(),
        between: None,
    };
    Tried {
        claim: claim.id.clone(),
        check: claim.check.clone(),
        verdict,
        closest: "1 < 2".to_owned(),
        repetitions: 5,
        alternatives: 3,
        turns: vec![turn],
        undecided: Vec::new(),
        unmeasured: Vec::new(),
    }
}

/// What another value turns stands with the claim, in the list of all, and beside the value.
#[test]
fn a_verdict_that_an_assumed_value_turns_is_shown_with_the_value() {
    let (papers, claims, measured) = everything();
    let mut results = Results::default();
    measured.iter().for_each(|one| results.add(&*one.experiment, &one.rows));
    let checked = claims.check(&papers, &results).unwrap();
    let is = |paper: &str| {
        checked.iter().find(|(claim, verdict)| claim.paper == paper && verdict.name() == "holds")
    };
    let (claim, _) = is("e13").unwrap();
    let page = |choice| {
        let committed = Committed::new(vec![tried(claim, Answer::Holds, choice)]);
        own_words(&render(&papers, &claims, &committed, &measured).unwrap())
    };
    let item = |page: &str| {
        let mark = format!("id=\"claim-{}\"", claim.id);
        page.split(&mark).nth(1).unwrap().split("</li>").next().unwrap().to_owned()
    };
    let (number, choice) = (page(false), page(true));
    assert!(
        item(&number).contains("holds narrowly") && item(&choice).contains(">depends<"),
        "{}",
        item(&number)
    );
    assert!(
        item(&number).contains("(tcp-e13 rto min: 0.2 → 0.4): does not hold (not 1 &#60; 1)"),
        "{}",
        item(&number)
    );
    assert!(number.contains("Verdicts that another value turns (1)"));
    let row = number.split("<tr>").find(|row| row.contains("Protocol profile tcp-e13: rto min")).unwrap();
    assert!(row.contains(&format!("turns {}", claim.id)), "{row}");
    let other =
        number.split("<tr>").find(|row| row.contains("Protocol profile tcp-e13: delayed ack")).unwrap();
    assert!(other.contains("turns no verdict"), "{other}");
    assert!(!number.contains("Stale: "));
}

#[test]
fn verdicts_from_few_repetitions_are_marked() {
    let (papers, claims, measured) = everything();
    let page = own_words(&rendered(&papers, &claims, &measured).unwrap());
    assert!(page.contains("with 2 of 30 repetitions") && page.contains("with 2 of 40 repetitions"));
    assert!(page.contains("verdicts are from fewer repetitions"));
}

/// Runs that vanish from means are told of, with the place.
#[test]
fn runs_that_left_the_path_early_are_said_to_be_left_out() {
    let (papers, claims, mut measured) = everything();
    let row = |at: u64, early: f64| {
        let places = [("pair", "geran-wlan".into()), ("src", "bulk".into()), ("qs", Value::from(10))];
        let axes = places.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Row {
            series: SEAMLESS.into(),
            axes,
            repetition: at,
            seed: at,
            metrics: vec![("spurious_fraction".into(), early)],
        }
    };
    let mut says = |rows: Vec<Row>| {
        measured[0].rows = rows;
        own_words(&rendered(&papers, &claims, &measured).unwrap())
    };
    let told = "1 of 3 in seamless, pair geran-wlan, src bulk, qs 10";
    assert!(says(vec![row(0, 0.0), row(1, 1.0), row(2, 0.0)]).contains(told));
    assert!(!says(vec![row(0, 0.0), row(1, 0.0)]).contains("before it breaks"));
}

fn fig07(rows: &[(&'static str, Option<i64>, f64)]) -> Chart {
    let papers = Papers::load().unwrap();
    let experiment = figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let row = |(number, &(series, pmr, latency)): (usize, &(&'static str, Option<i64>, f64))| {
        let mut axes: Axes = vec![
            ("pair".into(), "wlan-umts".into()),
            ("src".into(), "cbr45".into()),
            ("qs".into(), Value::from(10)),
        ];
        axes.extend(pmr.map(|pmr| ("pmr".into(), Value::from(pmr))));
        let metrics = vec![("failover_latency".into(), latency)];
        Row { series: series.into(), axes, repetition: number as u64, seed: 0, metrics }
    };
    let rows: Vec<Row> = rows.iter().enumerate().map(row).collect();
    Chart::of(&*experiment, &experiment.plots()[0], &summarise(&*experiment, &rows))
}

#[test]
fn a_line_without_a_place_across_is_level_below_the_others() {
    let chart =
        fig07(&[(PAPER, Some(3), 4.0), (PAPER, Some(1), 1.0), (PAPER, Some(1), 2.0), (SEAMLESS, None, 0.5)]);
    let points = |line: usize| -> Vec<(f64, f64)> {
        chart.lines[line].points.iter().map(|point| (point.x, point.y)).collect()
    };
    assert_eq!(chart.lines.len(), 2, "lines of which nothing was measured are not there");
    assert_eq!(points(0), [(1.0, 1.5), (3.0, 4.0)]);
    assert!(chart.lines[0].points[0].half_y > 6.0, "two values are a wide interval");
    assert_eq!(points(1), [(1.0, 0.5), (3.0, 0.5)]);
    assert!(chart.lines[1].level && chart.lines[1].ours && !chart.lines[0].level);

    let beside = beside::Beside::of(&chart).unwrap();
    assert_eq!((beside.paper.as_str(), beside.ours.as_str()), ("1.5 to 4", "0.5"));
    let values = values::Values::of(&chart, 2).unwrap();
    assert_eq!(values.rows.iter().map(|(place, _)| place.as_str()).collect::<Vec<_>>(), ["1", "3"]);
    assert_eq!(values.rows[1].1, ["4 (1 of 2 runs)", "0.5 (1 of 2 runs)"]);
    assert!(values.rows[0].1[0].ends_with(char::is_numeric), "all runs had it: {:?}", values.rows[0]);
}

/// A series that explains the paper's is neither the paper's nor ours.
#[test]
fn how_far_the_field_has_come_is_told_of_our_own_series_alone() {
    let series = [(PAPER, Some(1), 4.0), ("per-path-order", Some(1), 0.1), (SEAMLESS, None, 0.5)];
    let beside = beside::Beside::of(&fig07(&series)).unwrap();
    assert_eq!((beside.paper.as_str(), beside.ours.as_str()), ("4", "0.5"));
    assert_eq!((beside.profile_alone.as_str(), beside.policy_alone.as_str()), ("", ""));
    let apart = [("profile-alone", None, 0.7), ("policy-alone", Some(1), 3.0)];
    let beside = beside::Beside::of(&fig07(&[&series[..], &apart].concat())).unwrap();
    assert_eq!((beside.paper.as_str(), beside.ours.as_str()), ("4", "0.5"));
    assert_eq!((beside.profile_alone.as_str(), beside.policy_alone.as_str()), ("0.7", "3"));
}

#[test]
fn a_comparison_has_our_number_first() {
    let read = |text| Comparison::read(text).map(|one| (one.ours, one.asked, one.place));
    assert_eq!(
        read("not 0.31 < 0.3 (h = wlan-umts, p = 1)"),
        Some(("0.31", "< 0.3", "h = wlan-umts, p = 1"))
    );
    assert_eq!(read("2 == 2"), Some(("2", "== 2", "")));
    assert_eq!(read(""), None);
}

#[test]
fn the_command_is_the_one_that_makes_these_rows() {
    let (_, _, mut measured) = everything();
    assert_eq!(origin::Origin::of(&measured[0]).command, "whimbrel lab run b08_fig07 --reps 2");
    for row in &mut measured[0].rows {
        row.repetition += 5;
    }
    assert_eq!(origin::Origin::of(&measured[0]).command, "whimbrel lab run b08_fig07 --reps 2 --seed 5");
    measured[0].rows.clear();
    assert_eq!(origin::Origin::of(&measured[0]).command, "whimbrel lab run b08_fig07");
}
