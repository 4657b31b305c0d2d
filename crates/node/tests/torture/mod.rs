//! The torture table in virtual time: what networks do to an association of a mobile host, in both directions.
//!
//! `interop/netns/torture.sh` has the same rows with real processes and beside other transports. Here a row takes milliseconds, so that
//! each has a thousand seeds: `cargo test --release -p whimbrel-node --test node -- --ignored --nocapture torture::table`. `ROWS=TEXT`
//! takes those whose name contains it, `SEEDS=N` that many, from `SEED` on.

mod rows;
mod world;

use whimbrel_proto::{Config, TailLoss};

use self::rows::Row;
use self::world::{Outcome, Torture};

fn play(row: &Row, config: &Config, seed: u64) -> Outcome {
    let mut hosts = Torture::new(seed, config, row.start);
    (row.happen)(&mut hosts);
    hosts.run(row.lasts)
}

/// Median and greatest of something, in seconds.
fn middle_and_most(outcomes: &[Outcome], of: fn(&Outcome) -> f64) -> [f64; 2] {
    let mut all: Vec<f64> = outcomes.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    [all[all.len() / 2], all[all.len() - 1]]
}

fn environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |value| value.parse().expect(name))
}

#[test]
#[ignore = "a thousand seeds for each row"]
fn table() {
    let (first, seeds) = (environment("SEED", 1), environment("SEEDS", 1000));
    let wanted = std::env::var("ROWS").unwrap_or_default();
    let mut config = Config::mobile();
    if std::env::var("TAIL").is_ok() {
        config.retransmission.tail = TailLoss::Probe;
    }
    let mut lost = 0;
    println!("{:36} {:>8} {:>15} {:>15} {:>15} {:>9}", "row", "survived", "gap s", "behind s", "recovery s", "moves");
    for row in rows::all().iter().filter(|row| row.name.contains(&wanted)) {
        let outcomes: Vec<Outcome> = (first..first + seeds).map(|seed| play(row, &config, seed)).collect();
        let survived = outcomes.iter().filter(|outcome| outcome.survived).count();
        lost += outcomes.len() - survived;
        let [gap, behind, recovery] = [
            |outcome: &Outcome| outcome.gap.as_secs_f64(),
            |outcome: &Outcome| outcome.behind.as_secs_f64(),
            |outcome: &Outcome| outcome.recovery.as_secs_f64(),
        ]
        .map(|of| middle_and_most(&outcomes, of));
        let moves = middle_and_most(&outcomes, |outcome| outcome.moves as f64);
        println!(
            "{:36} {survived:>8} {:>7.3} {:>7.3} {:>7.3} {:>7.3} {:>7.3} {:>7.3} {:>4} {:>4}",
            row.name, gap[0], gap[1], behind[0], behind[1], recovery[0], recovery[1], moves[0], moves[1]
        );
    }
    assert_eq!(lost, 0, "associations ended, or records are missing");
}
