//! What the fuzz target `sip` does, over pseudo-random inputs: `FUZZ_INPUTS=100000 FUZZ_SEED=7 cargo test --release -p whimbrel-ufa --test hostile`.

mod support;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use whimbrel_machine::Seed;

use self::support::hostile_sip::hostile_sip;

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(otherwise, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}"))
    })
}

/// Histories that begin with a handover, and findings.
#[test]
fn the_corpus_holds() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sip");
    let files =
        std::fs::read_dir(directory).expect("the corpus").map(|entry| entry.expect("an entry").path());
    let count = files.map(|file| hostile_sip(&std::fs::read(file).expect("a seed"))).count();
    assert!(count >= 17, "the seeds are there");
}

#[test]
fn nothing_that_comes_does_harm() {
    let seed = number("FUZZ_SEED", 3261);
    let (first, count) = (number("FUZZ_FIRST", 0), number("FUZZ_INPUTS", 300));
    let mut failures: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for index in first..first + count {
        let mut rng = Seed::from_u64(seed).stream("sip", index);
        let mut bytes = vec![0; 16 + rng.below(400) as usize];
        rng.fill(&mut bytes);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| hostile_sip(&bytes))) {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            failures.entry(text.unwrap_or_default()).or_default().push(index);
        }
    }
    for (text, indices) in &failures {
        eprintln!(
            "{text}: {} inputs; replay: FUZZ_SEED={seed} FUZZ_FIRST={} FUZZ_INPUTS=1",
            indices.len(),
            indices[0]
        );
    }
    assert!(failures.is_empty());
}
