use std::collections::BTreeMap;

use super::environment::{Environment, Failure, Item};
use super::lexer::tokens;
use super::parser::parse;
use super::*;
use crate::experiment::Row;
use crate::scenario::Papers;
use crate::sensitivity::Committed;
use crate::value::Value;

fn evaluate(check: &str) -> Result<Item, Failure> {
    let (papers, results, constants) = (Papers::load().unwrap(), Results::default(), BTreeMap::new());
    let expression = parse(&tokens(check).unwrap()).map_err(Failure::Wrong)?;
    Environment::new(&papers, &results, &constants).evaluate(&expression)
}

fn number(check: &str) -> f64 {
    match evaluate(check) {
        Ok(Item::Number(number)) => number,
        other => panic!("{check}: {other:?}"),
    }
}

#[test]
fn arithmetic_is_pythons() {
    let cases = [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("-2 ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("2 ** 3 ** 2", 512.0),
        ("7 // 2 - -7 // 2", 7.0),
        ("-7 % 3", 2.0),
        ("1.5e3 + 2e-1", 1500.2),
        ("round(2.5) + round(0.125, 2)", 2.12),
        ("sum(x * y for x in (1, 2, 3) for y in range(x) if y != 1)", 6.0),
        ("len([a + b for a, b in zip([1, 2], [3, 4])])", 2.0),
        ("max(3, 1, 2) - min([3, 1, 2])", 2.0),
        ("sum(3 > 2 for n in range(4))", 4.0),
        ("t_fail(1.0, 6) - t_fail_closed(1.0, 5)", 60.0),
        ("cross([0, 1, 2], [0, 1, 2], [1.5, 1.5, 1.5])", 1.5),
    ];
    for (check, expected) in cases {
        assert!((number(check) - expected).abs() < 1e-9, "{check}: {}", number(check));
    }
}

#[test]
fn truth_is_pythons() {
    let cases = [
        ("1 < 2 <= 2 and not 3 < 3", true),
        ("1 < 2 > 5", false),
        ("all(x > 0 for x in (1, -1))", false),
        ("any(x > 0 for x in (1, -1))", true),
        ("\"a\" == 'a' and \"a\" != \"b\"", true),
        ("mono([1, 0.99, 2], 0.02) and not mono([1, 0.97, 2], 0.02)", true),
        ("monod([3, 3, 1]) and not monod([1, 2])", true),
        // What is not reached is not looked at.
        ("True or v(\"b08-fig7.failover_latency\", pmr=0)", true),
        ("all(x < 1 and v(\"b08-fig7.failover_latency\", pmr=0) > 0 for x in (1, 0))", false),
    ];
    for (check, expected) in cases {
        assert_eq!(evaluate(check).map(|item| item.is_true()), Ok(expected), "{check}");
    }
}

#[test]
fn what_has_not_been_measured_is_missing_and_nonsense_is_wrong() {
    let missing = evaluate("v(\"b08-fig7.failover_latency\", pmr=0, pair=\"wlan-umts\") < 1");
    let key = "b08-fig7.failover_latency|{\"pair\": \"wlan-umts\", \"pmr\": 0}";
    assert_eq!(missing, Err(Failure::Missing(key.to_owned())));
    let nonsense = [
        "v(\"b08-fig7.failover_latency\", pmr=17)",
        "v(\"b08-fig99.x\")",
        "f(1)",
        "1 / 0",
        "x",
        "1 + \"a\"",
        "min([])",
    ];
    for check in nonsense {
        assert!(matches!(evaluate(check), Err(Failure::Wrong(_))), "{check}");
    }
    for check in ["1 +", "(1", "all(x for x)", "1 2", "#"] {
        let read = tokens(check).and_then(|tokens| parse(&tokens));
        assert!(read.is_err(), "{check}");
    }
    let deep = "(".repeat(100_000);
    assert!(parse(&tokens(&deep).unwrap()).is_err());
}

/// Numbers that are alike in four digits have as many as it takes.
#[test]
fn a_comparison_shows_which_number_is_larger() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    for (claim, verdict) in claims.check(&papers, &Results::default()).unwrap() {
        for mark in [" > ", " < "] {
            if let Some((left, right)) = verdict.detail().split_once(mark) {
                let right = right.split(" (").next();
                assert_ne!(
                    Some(left.trim_start_matches("not ")),
                    right,
                    "{}: {}",
                    claim.id,
                    verdict.detail()
                );
            }
        }
        if claim.id == "c04-eq-order" {
            let left = verdict.detail().strip_suffix(" > 1").unwrap();
            assert!(left.starts_with("1.00"), "{left}");
        }
    }
}

#[test]
fn a_verdict_names_the_comparison_that_decides() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let mut results = Results::default();
    for (pmr, latency) in [(0, 0.05), (1, 0.29)] {
        let key = format!(
            "b08-fig7.failover_latency|{{\"pair\": \"wlan-umts\", \"pmr\": {pmr}, \"qs\": 10, \"src\": \"cbr45\"}}"
        );
        results.insert(key, latency, 0.0);
    }
    let verdict = |results: &Results| {
        let all = claims.check(&papers, results).unwrap();
        all.into_iter().find(|(claim, _)| claim.id == "b08-fig7-rt-cbr45").unwrap().1
    };
    let decisive = |text: &str| Some(text.to_owned());
    assert_eq!(
        verdict(&results),
        Verdict::Holds { decisive: decisive("0.29 < 0.3 (p = 1)"), few: None, part: None }
    );
    let key =
        "b08-fig7.failover_latency|{\"pair\": \"wlan-umts\", \"pmr\": 1, \"qs\": 10, \"src\": \"cbr45\"}";
    results.insert(key.to_owned(), 0.31, 0.0);
    assert_eq!(
        verdict(&results),
        Verdict::DoesNotHold { decisive: decisive("not 0.31 < 0.3 (p = 1)"), few: None, part: None }
    );
}

#[test]
fn a_verdict_from_few_runs_says_so() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let experiment = crate::figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let cautions = |runs: [u64; 2], measured: u64| {
        let mut results = Results::default();
        let mut rows = Vec::new();
        for (pmr, done) in [(0, runs[0]), (1, runs[1])] {
            for repetition in 0..done {
                let places = [("pair", "wlan-umts".into()), ("src", "cbr45".into()), ("qs", 10.into())];
                let axes = places.into_iter().chain([("pmr", Value::Integer(pmr))]);
                let latency = (repetition < measured).then_some(("failover_latency".into(), 0.1));
                rows.push(Row {
                    series: crate::PAPER.into(),
                    axes: axes.map(|(name, value)| (name.into(), value)).collect(),
                    repetition,
                    seed: repetition,
                    metrics: latency.into_iter().collect(),
                });
            }
        }
        results.add(&*experiment, &rows);
        let all = claims.check(&papers, &results).unwrap();
        let (_, verdict) = all.into_iter().find(|(claim, _)| claim.id == "b08-fig7-rt-cbr45").unwrap();
        assert_eq!(verdict.name(), "holds");
        (verdict.caution(), verdict.left_out())
    };
    let caution = |runs| {
        let (caution, left_out) = cautions(runs, u64::MAX);
        assert_eq!(left_out, "", "all of them were measured");
        caution
    };
    assert_eq!(caution([30, 30]), "");
    assert_eq!(caution([40, 30]), "", "more than usual");
    assert_eq!(caution([30, 2]), "with 2 of 30 repetitions");
    assert_eq!(caution([1, 2]), "with 1 of 30 repetitions", "the fewest count");
    let both = |few: &str, part: &str| (few.to_owned(), part.to_owned());
    assert_eq!(cautions([30, 30], 20), both("", "a mean of 20 of 30 runs"));
    assert_eq!(cautions([30, 30], 30), both("", ""));
    assert_eq!(
        cautions([2, 30], 1),
        both("with 2 of 30 repetitions", "a mean of 1 of 30 runs"),
        "the worst of each"
    );
}

/// With all repetitions these do not hold; whoever sees one fail reads why.
#[test]
fn what_does_not_hold_is_explained() {
    let claims = Claims::load().unwrap();
    let explained = claims.all().filter(|claim| claim.found.len() > 40).map(|claim| claim.id.as_str());
    let known = [
        "b08-fig7-alternate-heavy",
        "b08-fig8-umts-early",
        "b08-fig12-failover",
        "b08-fig12-same",
        "b08-fig12-order",
        "b08-fig12-bound",
        "b08-cmt-cuc",
        "d10-delay-wait",
        "d10-fig4-plus-range",
        "d10-fig4-ufa-range",
        "d10-fig5-plus-range",
        "d10-fig5-plusplus-range",
        "d10-fig5-grows",
        "b09-fig5-grows",
        "b09-fig6-long4",
        "b09-fig6-rtt",
        "b09-pf-independent",
        "b09-cc-dac",
        "b09-cc-rtt",
        "e13-fig4-backoff",
        "e13-fig6-floor",
        "e13-hc-ten",
        "c04-fig5-flat",
        "c04-fig10-amm",
        "c04-noprobe-open",
    ];
    assert_eq!(explained.collect::<Vec<_>>(), known);
}

/// A check that changes keeps what it was, so that nobody has to take the change on trust.
#[test]
fn what_a_claim_was_before_is_a_check_and_a_verdict() {
    let claims = Claims::load().unwrap();
    let changed: Vec<_> = claims.all().filter_map(|claim| Some((claim, claim.was.as_ref()?))).collect();
    assert!(!changed.is_empty());
    for (claim, was) in changed {
        assert!(was.why.len() > 40 && was.told().contains(&was.why), "{}", claim.id);
        assert_ne!(was.check, claim.check, "{}", claim.id);
        assert!(was.check.is_empty() || parse(&tokens(&was.check).unwrap()).is_ok(), "{}", claim.id);
    }
}

/// Latencies of the two places that `b08-fig7-rt-cbr45` looks at, and how it is judged.
fn judged(latencies: impl Fn(u64) -> f64, repetitions: u64) -> (Class, Draws, Vec<String>) {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let experiment = crate::figures::named(&papers, &["b08_fig07".to_owned()]).unwrap().remove(0);
    let mut rows = Vec::new();
    for pmr in [0, 1] {
        for repetition in 0..repetitions {
            let places = [("pair", "wlan-umts".into()), ("src", "cbr45".into()), ("qs", 10.into())];
            let axes = places.into_iter().chain([("pmr", Value::Integer(pmr))]);
            rows.push(Row {
                series: crate::PAPER.into(),
                axes: axes.map(|(name, value)| (name.into(), value)).collect(),
                repetition,
                seed: repetition,
                metrics: vec![("failover_latency".into(), latencies(repetition))],
            });
        }
    }
    let mut results = Results::default();
    results.add(&*experiment, &rows);
    let nothing = Committed::new(Vec::new());
    let all = claims.judge(&papers, &results, &nothing).unwrap();
    let one = all.iter().find(|one| one.claim.id == "b08-fig7-rt-cbr45").unwrap();
    assert_eq!(one.standing.name(), "fitted", "the wired delay was chosen for it");
    (one.class(), one.draws, one.reasons())
}

/// The mean has to be below 0.3 s.
#[test]
fn another_draw_of_the_seeds_is_asked_what_it_would_say() {
    let sure = judged(|at| 0.2 + 0.001 * at as f64, 30);
    assert_eq!((sure.0, sure.1), (Class::Holds, Draws::Made(Share { held: 400, failed: 0, of: 400 })));
    // One run of 30 in seven holds the mean up: without it, or with it twice, the verdict is another.
    let edge = judged(|at| if at % 7 == 0 { 0.7 } else { 0.2 }, 30);
    assert_eq!(edge.0, Class::HoldsNarrowly, "{edge:?}");
    assert!(
        matches!(edge.1, Draws::Made(share) if share.held > 200)
            && edge.2.len() == 1
            && edge.2[0].contains("other draws"),
        "{edge:?}"
    );
    let beyond = judged(|at| if at % 5 == 0 { 0.72 } else { 0.2 }, 30);
    assert_eq!(beyond.0, Class::CannotSay, "{beyond:?}");
    let far = judged(|at| 0.5 + 0.001 * at as f64, 30);
    assert_eq!((far.0, far.1), (Class::DoesNotHold, Draws::Made(Share { held: 0, failed: 400, of: 400 })));
    let three = judged(|at| 0.2 + 0.001 * at as f64, 3);
    assert_eq!((three.0, three.1), (Class::HoldsNarrowly, Draws::TooFew), "of three there is little to draw");
    assert!(three.2[0].contains("too few repetitions"), "{three:?}");
    assert_eq!(judged(|at| 0.5 + 0.001 * at as f64, 3).0, Class::CannotSay);
    assert_eq!(judged(|_| 0.2, 30).1, Draws::Alike);
    let once = judged(|_| 0.2, 1);
    assert_eq!((once.0, once.1), (Class::HoldsNarrowly, Draws::TooFew), "29 others could differ");
}

#[test]
fn claims_are_told_apart_by_what_agreement_is_worth() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let judged = claims.judge(&papers, &Results::default(), &Committed::new(Vec::new())).unwrap();
    let standing = |id: &str| judged.iter().find(|one| one.claim.id == id).unwrap().standing.name();
    assert_eq!(standing("b08-eq3-closed"), "arithmetic");
    assert_eq!(standing("b08-fig7-rt-cbr45"), "fitted");
    assert_eq!(standing("e13-hc-ten"), "unfitted");
    for name in Standing::NAMES {
        assert!(judged.iter().filter(|one| one.standing.name() == name).count() > 15, "{name}");
    }
}
