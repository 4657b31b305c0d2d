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

fn all(jobs: usize) -> Vec<Row> {
    let made = Made(Papers::load().unwrap().scenario("b08-fig7").unwrap());
    let sweep = Sweep { repetitions: 7, ..Sweep::whole(&made, jobs) };
    let mut cells = BTreeMap::new();
    run(&made, &sweep, |progress| {
        if let Progress::Cell(number, rows) = progress {
            assert!(cells.insert(number, rows).is_none());
        }
        true
    });
    cells.into_values().flatten().collect()
}

#[test]
fn results_are_the_same_whatever_the_number_of_threads() {
    let one = all(1);
    assert_eq!(one.len(), 5 * 7 * 2);
    assert_eq!(one, all(2));
    assert_eq!(one, all(8));
    assert_eq!((one[0].seed, one[2].seed), (1_000_000, 1_000_001));
}

#[test]
fn a_sweep_stops_when_told() {
    let made = Made(Papers::load().unwrap().scenario("b08-fig7").unwrap());
    let mut told = 0;
    run(&made, &Sweep::whole(&made, 2), |_| {
        told += 1;
        told < 3
    });
    assert_eq!(told, 3);
}

#[test]
fn more_repetitions_than_memory_has_room_for() {
    let made = Made(Papers::load().unwrap().scenario("b08-fig7").unwrap());
    let sweep = Sweep { repetitions: 1 << 40, ..Sweep::whole(&made, 1) };
    let mut runs = 0;
    run(&made, &sweep, |_| {
        runs += 1;
        runs < 3
    });
    assert_eq!(runs, 3);
}
