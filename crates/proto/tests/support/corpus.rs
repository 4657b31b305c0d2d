//! The stored inputs of a fuzz target, and pseudo-random ones: what `cargo test` runs in place of the fuzzer.

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
    let seed = Seed::from_u64(9260);
    for index in 0..count {
        let mut rng = seed.stream(target, index);
        let mut bytes = vec![0; 16 + rng.below(longest) as usize];
        rng.fill(&mut bytes);
        body(&bytes);
    }
}
