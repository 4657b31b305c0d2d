//! Two evaluators that share no code say the same about every claim.

use std::path::Path;
use std::process::Command;

use whimbrel_lab::claims::{Claims, Draws, Results, Verdict};
use whimbrel_lab::sensitivity::Committed;
use whimbrel_lab::{PAPER, Papers, Row, figures};

/// Results for all that any check asks for: numbers that are no results of anything, drawn by `spread` around what may make
/// either verdict.
fn invented(papers: &Papers, claims: &Claims, mut state: u64, spread: f64) -> Results {
    let mut results = Results::default();
    loop {
        let missing: Vec<String> = claims
            .check(papers, &results)
            .unwrap()
            .into_iter()
            .filter_map(|(_, verdict)| match verdict {
                Verdict::CannotSay { missing } => Some(missing),
                _ => None,
            })
            .collect();
        if missing.is_empty() {
            return results;
        }
        for key in missing {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
            results.insert(key, 1.0 + spread * (unit - 0.5), 0.01);
        }
    }
}

/// Name, verdict, the share of draws in which the claim holds, empty if there is none, and the class.
fn second_opinion(results: &Results) -> Vec<[String; 4]> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("results.json");
    std::fs::write(&file, results.json().to_string()).unwrap();
    let script = root.join("interop/lab/evaluate_claims.py");
    let output = Command::new("python3").arg(script).arg(&file).output().expect("python3 is needed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let fields = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    fields.map(|fields| fields.try_into().unwrap_or_else(|fields| panic!("{fields:?}"))).collect()
}

/// Name and verdict.
fn verdicts(opinion: Vec<[String; 4]>) -> Vec<(String, String)> {
    opinion.into_iter().map(|[id, verdict, ..]| (id, verdict)).collect()
}

fn first_opinion(papers: &Papers, claims: &Claims, results: &Results) -> Vec<(String, String)> {
    let verdicts = claims.check(papers, results).unwrap().into_iter();
    verdicts.map(|(claim, verdict)| (claim.id.clone(), verdict.name().to_owned())).collect()
}

#[test]
fn both_agree_on_every_claim() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let mut seen = std::collections::BTreeSet::new();
    for (seed, spread) in [(1, 0.0), (2, 0.01), (3, 0.2), (4, 1.9)] {
        let results = invented(&papers, &claims, seed, spread);
        let ours = first_opinion(&papers, &claims, &results);
        assert_eq!(ours, verdicts(second_opinion(&results)), "seed {seed}");
        seen.extend(ours.into_iter().map(|(_, verdict)| verdict));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["does not hold", "holds"]);
}

#[test]
fn both_say_so_when_something_is_missing() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let nothing = Results::default();
    let ours = first_opinion(&papers, &claims, &nothing);
    assert_eq!(ours, verdicts(second_opinion(&nothing)));
    assert!(ours.iter().any(|(_, verdict)| verdict == "cannot say"));
}

/// Rows of a few experiments: numbers that are no results of anything, different in each repetition.
fn invented_rows(papers: &Papers, repetitions: u64) -> Results {
    let mut results = Results::default();
    let mut state = 7_u64;
    for name in ["b08_fig12", "c04_fig06"] {
        let experiment = figures::named(papers, &[name.to_owned()]).unwrap().remove(0);
        let mut rows = Vec::new();
        for cell in experiment.cells().into_iter().filter(|cell| cell.series == PAPER) {
            for repetition in 0..repetitions {
                let mut value = || {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    0.2 + 0.2 * (state >> 11) as f64 / (1_u64 << 53) as f64
                };
                let metrics = experiment.metrics().into_iter().map(|metric| (metric, value())).collect();
                let (series, axes, seed) = (cell.series.clone(), cell.axes.clone(), repetition);
                rows.push(Row { series, axes, repetition, seed, metrics });
            }
        }
        results.add(&*experiment, &rows);
    }
    results
}

/// Both draw for themselves, so that shares are alike and not equal.
#[test]
fn both_say_alike_how_sure_a_verdict_is() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let results = invented_rows(&papers, 12);
    let judged = claims.judge(&papers, &results, &Committed::load().unwrap()).unwrap();
    let mut unsure = 0;
    let mut classes = std::collections::BTreeSet::new();
    for (ours, [id, verdict, share, class]) in judged.iter().zip(second_opinion(&results)) {
        assert_eq!((ours.claim.id.as_str(), ours.verdict.name()), (id.as_str(), verdict.as_str()));
        let is_on_the_edge = |share: &f64| [0.05, 0.95].iter().any(|edge| (share - edge).abs() < 0.06);
        if !share.parse().as_ref().is_ok_and(is_on_the_edge) {
            assert_eq!(ours.class().name(), class, "{id}");
            classes.insert(class);
        }
        let theirs = share.parse::<f64>().ok();
        let ours = match ours.draws {
            Draws::Made(share) => Some(share.held as f64 / share.of as f64),
            Draws::Alike | Draws::TooFew => None,
        };
        assert_eq!(ours.is_some(), theirs.is_some(), "{id}: {ours:?}, {theirs:?}");
        let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
        assert!((ours - theirs).abs() < 0.12, "{id}: {ours} and {theirs}");
        unsure += u32::from(ours > 0.02 && ours < 0.98);
    }
    assert!(unsure > 3, "{unsure} of the verdicts are unsure");
    assert!(classes.len() > 3, "{classes:?}");
}

/// Of one repetition nothing is sure where the paper has more, however much alike they may be.
#[test]
fn both_are_unsure_of_few_repetitions() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let results = invented_rows(&papers, 1);
    let judged = claims.judge(&papers, &results, &Committed::load().unwrap()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for (ours, [id, verdict, share, class]) in judged.iter().zip(second_opinion(&results)) {
        assert_eq!((ours.verdict.name(), ours.class().name()), (&*verdict, &*class), "{id}");
        assert_eq!(share, "", "{id}");
        if matches!(ours.draws, Draws::TooFew) {
            seen.insert(class);
        }
    }
    assert!(seen.contains("holds narrowly") && seen.contains("cannot say"), "{seen:?}");
}
