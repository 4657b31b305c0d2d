//! The trace hash of each seed, one per line, so that two versions can be compared with `diff`, and on standard error what is wrong.
//!
//! `cargo run --release -p whimbrel-soak --example hashes -- mixed 1 20000 > hashes`: the worlds, the first seed, how many.

use std::io::Write;

use whimbrel_soak::{Watch, Worlds};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let worlds = match arguments.next().as_deref() {
        Some("standing") => Worlds::Standing,
        Some("moving") => Worlds::Moving,
        Some("attacked") => Worlds::Attacked,
        Some("behind-nat") => Worlds::BehindNat,
        Some("rough") => Worlds::Rough,
        Some("controllers") => Worlds::Controllers,
        Some("multipath") => Worlds::Multipath,
        Some("protected") => Worlds::Protected,
        _ => Worlds::Mixed,
    };
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number().unwrap_or(1), number().unwrap_or(20_000));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for seed in first..first + count {
        let line = match whimbrel_soak::run(seed, worlds, Watch::default()) {
            Ok(report) => format!("{seed} {:016x} {} {}", report.hash, report.packets, report.messages),
            Err(failure) => {
                eprintln!("{seed}: {}", failure.wrong.join("; "));
                format!("{seed} failed {:016x}", failure.report.hash)
            }
        };
        if writeln!(out, "{line}").is_err() {
            return;
        }
    }
}
