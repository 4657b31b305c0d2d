//! Two evaluators that share no code say the same about every claim.

use std::path::Path;
use std::process::Command;

use whimbrel_lab::Papers;
use whimbrel_lab::claims::{Claims, Results, Verdict};

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

fn second_opinion(results: &Results) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("results.json");
    std::fs::write(&file, results.json().to_string()).unwrap();
    let script = root.join("interop/lab/evaluate_claims.py");
    let output = Command::new("python3").arg(script).arg(&file).output().expect("python3 is needed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(id, v)| (id.to_owned(), v.to_owned()))
        .collect()
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
        assert_eq!(ours, second_opinion(&results), "seed {seed}");
        seen.extend(ours.into_iter().map(|(_, verdict)| verdict));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["does not hold", "holds"]);
}

#[test]
fn both_say_so_when_something_is_missing() {
    let (papers, claims) = (Papers::load().unwrap(), Claims::load().unwrap());
    let nothing = Results::default();
    let ours = first_opinion(&papers, &claims, &nothing);
    assert_eq!(ours, second_opinion(&nothing));
    assert!(ours.iter().any(|(_, verdict)| verdict == "cannot say"));
}
