//! Rounds: every contestant takes its turn in each, so that whatever else the machine does hits all alike.

/// Plays `rounds` rounds; returns each contestant's results by round. A failure is told and costs the contestant the turn.
pub(crate) fn play<C, R>(
    rounds: usize,
    contestants: &[C],
    name: impl Fn(&C) -> String,
    mut turn: impl FnMut(&C) -> anyhow::Result<R>,
) -> Vec<Vec<Option<R>>> {
    let mut results: Vec<Vec<Option<R>>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (contestant, results) in contestants.iter().zip(&mut results) {
            let result = turn(contestant);
            if let Err(error) = &result {
                eprintln!("round {round}, {}: {error:#}", name(contestant));
            }
            results.push(result.ok());
        }
        eprintln!("round {round} of {rounds} done");
    }
    results
}

/// Smallest, median and largest of some values.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// `None` if there is no value.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<_> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Self { min, median, max })
    }
}
