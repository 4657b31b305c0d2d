use super::*;
use crate::experiment::{Name, Sample, grid};
use crate::plot::Plot;
use crate::scenario::{Papers, Scenario};
use crate::value::Value;

struct Made(Scenario);

impl Experiment for Made {
    fn name(&self) -> &str {
        "made"
    }
    fn scenario(&self) -> &Scenario {
        &self.0
    }
    fn axes(&self) -> Vec<Name> {
        vec!["a".into(), "b".into()]
    }
    fn metrics(&self) -> Vec<Name> {
        vec!["m".into()]
    }
    fn cells(&self) -> Vec<Cell> {
        grid(&[("a", (0..5).map(Value::Integer).collect())]).into_iter().map(Cell::paper).collect()
    }
    fn run(&self, cell: &Cell, seed: u64, _watch: Watch) -> Outcome {
        // Some take longer than others, so that they are done in another order.
        let spins = (cell.count("a") as u64 * 7919 + seed) % 1000 * 100;
        let sum = (0..spins).fold(seed as f64, |sum, n| std::hint::black_box(sum + (n % 3) as f64));
        let sample =
            |b| Sample { axes: vec![("b".into(), Value::Integer(b))], metrics: vec![("m".into(), sum)] };
        Outcome { samples: vec![sample(1), sample(2)], fingerprint: 0 }
    }
    fn plots(&self) -> Vec<Plot> {
        Vec::new()
    }
}

fn made() -> Made {
    Made(Papers::load().unwrap().scenario("b08-fig7").unwrap())
}

fn sweep(jobs: usize, shard: Option<Shard>) -> Sweep {
    Sweep { repetitions: 7, shard, ..Sweep::whole(&made(), jobs) }
}

fn all(jobs: usize) -> Vec<Row> {
    run(&made(), &sweep(jobs, None), Done::new(), |_, _| true).into_values().flatten().collect()
}

#[test]
fn results_are_the_same_whatever_the_number_of_threads() {
    let one = all(1);
    assert_eq!(one.len(), 5 * 7 * 2);
    assert_eq!(one, all(2));
    assert_eq!(one, all(8));
    assert_eq!((one[0].seed, one[2].seed), (1_000_000, 1_000_001));
}

/// Also where there are more shards than runs.
#[test]
fn shards_are_all_of_it_together() {
    for of in [1, 2, 3, 7, 8, 40] {
        let mut together = Done::new();
        for number in 1..=of {
            let sweep = sweep(2, Some(Shard::new(number, of).unwrap()));
            let part = run(&made(), &sweep, Done::new(), |_, _| true);
            assert_eq!(part.keys().copied().collect::<BTreeSet<_>>(), sweep.runs().collect());
            assert_eq!(part.len() as u64, sweep.share());
            assert!((35 / of..=35 / of + 1).contains(&sweep.share()));
            for (run, rows) in part {
                assert!(together.insert(run, rows).is_none());
            }
        }
        assert_eq!(together.into_values().flatten().collect::<Vec<_>>(), all(1), "{of} shards");
    }
}

#[test]
fn what_is_done_is_not_run_again() {
    let mut runs = 0;
    let part = run(&made(), &sweep(2, None), Done::new(), |_, _| {
        runs += 1;
        runs < 10
    });
    assert_eq!((runs, part.len()), (10, 10));
    let whole = run(&made(), &sweep(2, None), part.clone(), |run, _| {
        runs += 1;
        !part.contains_key(&run)
    });
    assert_eq!(runs, 35);
    assert_eq!(whole.into_values().flatten().collect::<Vec<_>>(), all(1));
}

#[test]
fn more_repetitions_than_memory_has_room_for() {
    let sweep = Sweep { repetitions: 1 << 40, ..Sweep::whole(&made(), 1) };
    assert_eq!((sweep.size(), sweep.share()), (5 << 40, 5 << 40));
    assert_eq!(run(&made(), &sweep, Done::new(), |run, _| run.repetition < 2).len(), 3);
    let none = Sweep { repetitions: 0, ..sweep };
    assert!(run(&made(), &none, Done::new(), |_, _| true).is_empty());
}
