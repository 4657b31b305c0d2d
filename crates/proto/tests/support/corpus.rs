//! The stored inputs of a fuzz target, and pseudo-random ones: what `cargo test` runs in place of the fuzzer.
//!
//! `FUZZ_INPUTS=100000` runs so many pseudo-random inputs, and `FUZZ_SEED` other ones; `ci/test.sh long` does both.

use std::fs;
use std::path::Path;

use whimbrel_machine::Seed;

/// Runs `body` over the seeds and findings stored for `target`, and then over `count` pseudo-random inputs of at most
/// `longest` bytes.
pub(crate) fn run_all(target: &str, count: u64, longest: u64, body: impl Fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        fs::read_dir(directory).expect("the corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the corpus is not empty");
    for file in files {
        body(&fs::read(file).expect("a seed"));
    }
    let seed = number("FUZZ_SEED").unwrap_or(9260);
    let first = number("FUZZ_FIRST").unwrap_or(0);
    for index in first..first + number("FUZZ_INPUTS").unwrap_or(count) {
        let _replay = Replay { target, seed, index };
        let mut rng = Seed::from_u64(seed).stream(target, index);
        let mut bytes = vec![0; 16 + rng.below(longest) as usize];
        rng.fill(&mut bytes);
        body(&bytes);
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text}")))
}

/// Says how to run an input again that fails.
struct Replay<'a> {
    target: &'a str,
    seed: u64,
    index: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { target, seed, index } = self;
            let variables = format!("FUZZ_SEED={seed} FUZZ_FIRST={index} FUZZ_INPUTS=1");
            eprintln!("replay of {target}: {variables} cargo test -p {}", env!("CARGO_PKG_NAME"));
        }
    }
}
