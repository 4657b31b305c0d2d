use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_netsim::{CellEvent, Cells, Trajectory};

/// A longer silence ends a series of packets.
pub(super) const SERIES_GAP: Duration = Duration::from_millis(200);

/// Where the mobile node goes, and what its radio makes of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Way {
    /// Events of the radio, in the order of time.
    pub events: Vec<(Instant, usize, CellEvent)>,
    /// Crossings from where only one cell is heard to where only the other is.
    pub crossings: Vec<Crossing>,
    /// When the way ends.
    pub until: Instant,
}

/// A complete crossing; turning back inside the overlap is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crossing {
    /// The cell it leaves.
    pub from: usize,
    /// The other cell is heard from here on.
    pub enters: Instant,
    /// The cell it leaves is heard until here.
    pub leaves: Instant,
}

impl Way {
    /// Follows a trajectory through two cells until `until`.
    pub fn new(cells: &Cells, trajectory: &Trajectory, until: Instant) -> Self {
        let events = cells.events(trajectory, until);
        Self { events, crossings: crossings(cells, trajectory, until), until }
    }

    /// Handover latency at each crossing: from the last packet over the old cell to the first over the new, never negative.
    /// Crossings after which nothing came any more are left out.
    pub fn latencies(&self, arrivals: &[(Instant, usize)]) -> Vec<Duration> {
        let ends = self.crossings.iter().skip(1).map(|next| next.enters).chain([self.until]);
        let latency = |(crossing, end): (&Crossing, Instant)| {
            let within = |at: Instant| at >= crossing.enters && at < end;
            let over =
                |cell: usize| arrivals.iter().filter(move |(_, over)| *over == cell).map(|&(at, _)| at);
            let first = over(1 - crossing.from).find(|&at| within(at))?;
            let last = over(crossing.from).take_while(|&at| at < end).last()?;
            Some(first - last)
        };
        self.crossings.iter().zip(ends).filter_map(latency).collect()
    }
}

fn crossings(cells: &Cells, trajectory: &Trajectory, until: Instant) -> Vec<Crossing> {
    let mut found = Vec::new();
    // The cell that was last heard alone, and since when both have been heard.
    let (mut alone, mut both) = (None, None);
    let mut now = Instant::ZERO;
    while now <= until {
        let at = trajectory.position(now);
        let heard: Vec<bool> = cells.cells.iter().map(|cell| cell.is_heard(at)).collect();
        match heard[..] {
            [true, true, ..] => both = both.or(Some(now)),
            [first, second, ..] if first != second => {
                let cell = usize::from(second);
                if let (Some(from), Some(enters)) = (alone, both)
                    && from != cell
                {
                    found.push(Crossing { from, enters, leaves: now });
                }
                (alone, both) = (Some(cell), None);
            }
            _ => {}
        }
        now += cells.sampling.max(Duration::from_micros(100));
    }
    found
}

#[cfg(test)]
#[path = "way_tests.rs"]
mod tests;
