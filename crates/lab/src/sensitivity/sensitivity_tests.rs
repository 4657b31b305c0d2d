use super::*;
use crate::claims::{Answer, Claims, Class, Results};
use crate::experiment::{Cell, Experiment, Row};
use crate::runner::{Done, Sweep, run};
use crate::scenario::Papers;
use crate::store;

fn data() -> (Papers, Claims) {
    (Papers::load().unwrap(), Claims::load().unwrap())
}

fn altered(name: &str) -> Altered {
    let (papers, claims) = data();
    let all = experiments(&papers, &claims).unwrap();
    all.into_iter().find(|one| one.experiment().name() == name).unwrap()
}

fn rows(experiment: &dyn Experiment, repetitions: u64) -> Vec<Row> {
    let sweep = Sweep { repetitions, ..Sweep::whole(experiment, 2) };
    run(experiment, &sweep, Done::new(), |_, _| true).into_values().flatten().collect()
}

/// A slip in the data would show as an assumption without influence.
#[test]
fn every_alternative_is_tried_somewhere_and_is_another_cell() {
    let (papers, claims) = data();
    let all = experiments(&papers, &claims).unwrap();
    let assumptions = crate::assumptions::Assumptions::load(&papers).unwrap();
    assert!(assumptions.alternatives.len() > 80, "{}", assumptions.alternatives.len());
    for alternative in &assumptions.alternatives {
        assert!(all.iter().any(|one| one.has(alternative)), "{}", alternative.label);
    }
    for one in &all {
        let labels: Vec<String> = one.cells().iter().map(Cell::label).collect();
        let distinct: std::collections::BTreeSet<&String> = labels.iter().collect();
        assert_eq!(distinct.len(), labels.len(), "{}", one.name());
        assert_eq!(one.seed(3), one.experiment().seed(3), "pairs have equal seeds");
    }
}

#[test]
fn a_cell_with_an_alternative_is_run_with_it_and_one_without_is_the_papers() {
    let altered = altered("b08_fig12");
    let plain = altered.experiment();
    let cell = &plain.cells()[0];
    let with = |label: &str| {
        let mut axes = cell.axes.clone();
        axes.insert(0, ("assumption".into(), label.into()));
        let cell = Cell::paper(axes);
        assert!(altered.cells().contains(&cell), "{label}");
        altered.run(&cell, 5, crate::Watch::default())
    };
    let paper = plain.run(cell, 5, crate::Watch::default());
    assert_eq!(with(AS_ASSUMED), paper);
    let label = altered.alternatives().find(|label| label.contains("wired delay")).unwrap();
    assert_ne!(with(label), paper);
}

/// One experiment from its runs to the class of its claims.
#[test]
fn an_assumed_value_that_turns_a_verdict_is_named_with_the_number() {
    let (papers, claims) = data();
    let altered = altered("b08_fig12");
    let rows = rows(&altered, 1);
    let plain = altered.rows_with(&rows, AS_ASSUMED);
    assert!(
        !plain.is_empty() && plain.iter().all(|row| row.axes.iter().all(|(axis, _)| axis != "assumption"))
    );
    let experiment = crate::figures::named(&papers, &["b08_fig12".to_owned()]).unwrap().remove(0);
    let tried = tried(&papers, &claims, &[(altered, rows)]).unwrap();
    let turned = tried.iter().find(|one| !one.turns.is_empty()).expect("something hangs on an assumption");
    assert!(turned.alternatives >= turned.turns.len());
    assert_ne!(turned.turns[0].verdict, turned.verdict);
    assert!(turned.turns[0].told().contains(&turned.turns[0].assumption));

    let committed = Committed::new(tried.clone());
    assert!(!committed.is_stale());
    let mut results = Results::default();
    results.add(&*experiment, &plain);
    let judged = claims.judge(&papers, &results, &committed).unwrap();
    let one = judged.iter().find(|one| one.claim.id == turned.claim).unwrap();
    assert!(matches!(one.class(), Class::HoldsNarrowly | Class::Depends), "{:?}", one.class());
    assert_eq!(one.turns(), turned.turns);
    let steady = tried.iter().find(|one| one.turns.is_empty() && one.verdict == Answer::Holds).unwrap();
    let one = judged.iter().find(|one| one.claim.id == steady.claim).unwrap();
    assert_eq!(one.class(), Class::Holds, "{}", steady.claim);
}

#[test]
fn what_was_tried_is_read_as_it_was_written_and_marked_when_stale() {
    let committed = Committed::load().unwrap();
    assert_eq!(Committed::parse(&committed.written()).unwrap(), committed);
    let other = committed.written().replacen(|letter: char| letter.is_ascii_hexdigit(), "x", 20);
    assert!(Committed::parse(&other).is_err() || Committed::parse(&other).unwrap().is_stale());
    let error = Committed::parse("{\"fingerprint\":\"1\"}\nnonsense\n").unwrap_err();
    assert!(error.to_string().starts_with("line 2 of"), "{error}");
    assert!(Committed::parse("").is_err());
}

/// What is in the file stands in a report and on a terminal.
#[test]
fn a_file_with_other_verdicts_or_control_characters_is_refused() {
    let head = "{\"fingerprint\":\"1\"}\n";
    let line = |claim: &str, verdict: &str, closest: &str| {
        format!(
            "{{\"claim\":\"{claim}\",\"check\":\"\",\"verdict\":\"{verdict}\",\"closest\":\"1 > 0\",\"repetitions\":1,\
             \"alternatives\":1,\"turns\":[{{\"assumption\":\"x\",\"choice\":true,\"verdict\":\"holds\",\
             \"closest\":\"{closest}\"}}],\"undecided\":[],\"unmeasured\":[]}}\n"
        )
    };
    let parse = |lines: &[String]| Committed::parse(&(head.to_owned() + &lines.concat()));
    assert!(parse(&[line("a", "does not hold", "1 > 2")]).is_ok());
    for (lines, expected) in [
        (
            vec![line("a", "holds, surely", "")],
            "line 2 of what was tried with other assumptions cannot be read: unknown variant",
        ),
        (vec![line("a", "holds", "\\u001b[2J")], "control characters"),
        (vec![line("\\u202ea", "holds", "")], "control characters"),
        (
            vec![line("a", "holds", ""), line("a", "holds", "")],
            "line 3 of what was tried with other assumptions cannot be read: a is there twice",
        ),
    ] {
        let error = parse(&lines).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("lab sensitivity"), "{error}");
    }
}

/// A claim whose check has changed was not tried: what is known is of another question.
#[test]
fn what_was_tried_with_another_check_says_nothing() {
    let (_, claims) = data();
    let claim = claims.all().next().unwrap();
    let tried = Tried {
        claim: claim.id.clone(),
        check: claim.check.clone(),
        verdict: Answer::Holds,
        closest: String::new(),
        repetitions: 5,
        alternatives: 1,
        turns: Vec::new(),
        undecided: Vec::new(),
        unmeasured: Vec::new(),
    };
    assert!(Committed::new(vec![tried.clone()]).of(claim).is_some());
    let other = Tried { check: format!("{} and 1 < 2", claim.check), ..tried };
    assert!(Committed::new(vec![other]).of(claim).is_none());
}

/// Whoever tries one experiment keeps what is known of the others.
#[test]
fn what_was_not_tried_now_is_as_it_was_unless_it_is_stale() {
    let one = |claim: &str, verdict: Answer| Tried {
        claim: claim.to_owned(),
        check: String::new(),
        verdict,
        closest: String::new(),
        repetitions: 5,
        alternatives: 1,
        turns: Vec::new(),
        undecided: Vec::new(),
        unmeasured: Vec::new(),
    };
    let before = Committed::new(vec![one("a", Answer::Holds), one("b", Answer::Holds)]);
    let both = Committed::new(vec![one("b", Answer::DoesNotHold)]).and_before(before);
    let verdicts: Vec<_> = both.all().map(|tried| (tried.claim.as_str(), tried.verdict)).collect();
    assert_eq!(verdicts, [("a", Answer::Holds), ("b", Answer::DoesNotHold)]);
    let stale = Committed::parse("{\"fingerprint\":\"x\"}\n").unwrap();
    assert_eq!(Committed::new(vec![one("b", Answer::Holds)]).and_before(stale).all().count(), 1);
}

#[test]
fn a_directory_of_results_has_what_was_tried_there() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Committed::find(dir.path()).unwrap(), Committed::load().unwrap());
    let own = Committed::new(Vec::new());
    store::write_to(&dir.path().join(FILE), own.written().as_bytes()).unwrap();
    assert_eq!(Committed::find(dir.path()).unwrap(), own);
    store::write_to(&dir.path().join(FILE), b"nonsense").unwrap();
    assert!(Committed::find(dir.path()).unwrap_err().to_string().contains(FILE));
}

/// A pipe never ends, and `/dev/zero` has no end.
#[test]
fn what_is_no_file_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(FILE)).unwrap();
    assert!(Committed::find(dir.path()).unwrap_err().to_string().contains("no regular file"));
}

/// `b08-fig7-rt-cbr45`, whose latency has to be below 0.3 s, tried with invented latencies in seconds: by what is changed, and the repetition.
fn tried_with(latency: impl Fn(&str, u64) -> Option<f64>) -> Tried {
    let (papers, claims) = data();
    let altered = altered("b08_fig07");
    let mut rows = Vec::new();
    for label in altered.alternatives().chain([AS_ASSUMED]) {
        for (pmr, repetition) in (0..2).flat_map(|pmr| (0..5).map(move |repetition| (pmr, repetition))) {
            let places =
                [("assumption", label.into()), ("pair", "wlan-umts".into()), ("src", "cbr45".into())];
            let numbers = [("qs", 10.into()), ("pmr", crate::Value::Integer(pmr))];
            let metrics = latency(label, repetition).map(|latency| ("failover_latency".into(), latency));
            rows.push(Row {
                series: crate::PAPER.into(),
                axes: places.into_iter().chain(numbers).map(|(axis, value)| (axis.into(), value)).collect(),
                repetition,
                seed: repetition,
                metrics: metrics.into_iter().collect(),
            });
        }
    }
    let tried = tried(&papers, &claims, &[(altered, rows)]).unwrap();
    tried.into_iter().find(|one| one.claim == "b08-fig7-rt-cbr45").unwrap()
}

/// Below the limit, and above it.
fn latency(is_short: bool, at: u64) -> Option<f64> {
    Some(if is_short { 0.2 } else { 0.5 } + 0.001 * at as f64)
}

/// One alternative turns it in all draws, one does in some, one leaves nothing to measure.
#[test]
fn a_turn_is_one_in_other_draws_too() {
    let labels: Vec<String> = altered("b08_fig07").alternatives().take(3).map(str::to_owned).collect();
    let one = tried_with(|label, at| match labels.iter().position(|known| known == label) {
        None => latency(true, at),
        Some(0) => latency(false, at),
        Some(1) => {
            if at == 0 {
                Some(0.75)
            } else {
                latency(true, at)
            }
        }
        Some(_) => None,
    });
    assert_eq!((one.verdict, one.repetitions), (Answer::Holds, 5));
    assert_eq!(one.turns.iter().map(|turn| &turn.assumption).collect::<Vec<_>>(), [&labels[0]]);
    assert_eq!(one.undecided, labels[1..2]);
    assert!(one.unmeasured.contains(&labels[2]), "{:?}", one.unmeasured);
}

#[test]
fn a_number_that_turns_a_verdict_is_told_with_the_nearest_that_does_not() {
    let windows = |turning: &[&str]| {
        let turns =
            |label: &str| turning.iter().any(|window| label.ends_with(&format!("rwnd: 65536 → {window}")));
        let between = |turn: &Turn| turn.between.as_ref().map(|[from, to]| format!("{from} {to}"));
        let one = tried_with(|label, at| latency(!turns(label), at));
        one.turns.iter().map(between).collect::<Vec<_>>()
    };
    let between = |text: &str| Some(text.to_owned());
    assert_eq!(windows(&["131072"]), [between("98304 131072")]);
    assert_eq!(windows(&["98304", "131072"]), [between("65536 98304"), None]);
    assert_eq!(windows(&["32768", "131072"]), [between("49152 32768"), between("98304 131072")]);
}
