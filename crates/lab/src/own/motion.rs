//! `[motion]` and `[network.NAME.cell]`: where a host is at what time, and where a network is heard.

use core::time::Duration;

use serde::Deserialize;
use whimbrel_machine::{Instant, ReceivedPower, Rng, TwoRayGround};
use whimbrel_netsim::{Acquisition, Area, Cell, CellEvent, Cells, LayerTwo, Position, Trajectory};

use super::world::after;

/// A place in metres to the east and to the north.
pub(super) type Point = [f64; 2];

/// Antennas are so high, as c04 has them.
const HEIGHT_M: f64 = 1.5;
/// How often it is looked whether a cell is heard.
const SAMPLING: Duration = Duration::from_millis(20);
/// How often a radio card says how strong the signal is.
pub(super) const READING: Duration = Duration::from_millis(100);

/// How a host moves. It stands at its first place until the start.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub(super) enum Motion {
    Standing {
        at: Point,
    },
    /// Straight from one place to another, at `speed` m/s.
    Line {
        from: Point,
        to: Point,
        speed: f64,
    },
    /// From point to point.
    Path {
        points: Vec<Point>,
        speed: f64,
    },
    /// Random waypoint in a rectangle between two corners, at speeds between two, with a pause in seconds at each place.
    Waypoint {
        area: [Point; 2],
        start: Point,
        speed: [f64; 2],
        #[serde(default)]
        pause: f64,
    },
}

/// A cell: its antenna, how far it is heard, and how long it takes to be able to use it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellPlan {
    pub(super) at: Point,
    /// Metres to where it is no longer heard; the transmit power follows.
    pub(super) radius: Option<f64>,
    /// Transmit power in watts; the radius follows.
    pub(super) power: Option<f64>,
    /// With less, nothing is received; dBm.
    #[serde(default = "minus_ninety")]
    pub(super) threshold: f64,
    /// Seconds from when it is heard until packets pass.
    #[serde(default)]
    pub(super) layer2: f64,
    /// Seconds after that until the address is there.
    #[serde(default)]
    pub(super) address: f64,
    /// The radio that hears it; one of its own unless given.
    pub(super) radio: Option<String>,
}

const fn minus_ninety() -> f64 {
    -90.0
}

const fn place([x_m, y_m]: Point) -> Position {
    Position::new(x_m, y_m)
}

impl Motion {
    /// Where it begins.
    pub(super) fn start(&self) -> Point {
        match self {
            Self::Standing { at } => *at,
            Self::Line { from, .. } => *from,
            Self::Path { points, .. } => points.first().copied().unwrap_or_default(),
            Self::Waypoint { start, .. } => *start,
        }
    }

    /// The way for so long.
    pub(super) fn way(&self, lasts: Duration, rng: &mut Rng) -> Trajectory {
        match self {
            Self::Standing { at } => Trajectory::standing(place(*at)),
            Self::Line { from, to, speed } => Trajectory::through([place(*from), place(*to)], *speed),
            Self::Path { points, speed } => Trajectory::through(points.iter().map(|at| place(*at)), *speed),
            Self::Waypoint { area: [a, b], start, speed: [slowest, fastest], pause } => {
                let area = Area::Rectangle(place(*a), place(*b));
                let until = Instant::ZERO + lasts;
                Trajectory::wandering(&area, place(*start), (*slowest, *fastest), after(*pause), until, rng)
            }
        }
    }
}

impl CellPlan {
    fn threshold(&self) -> ReceivedPower {
        ReceivedPower::from_dbm(self.threshold)
    }

    fn cell(&self) -> Cell {
        // What is received grows with the power: so much of it makes the threshold just reach the radius.
        let needed = |radius: f64| {
            let square = radius * radius;
            self.threshold().watts() * square * square / (HEIGHT_M * HEIGHT_M * HEIGHT_M * HEIGHT_M)
        };
        let power = self.power.or(self.radius.map(needed)).unwrap_or_default();
        let radio = TwoRayGround::plain(power, HEIGHT_M);
        let acquisition = Acquisition { layer_two: after(self.layer2), address: after(self.address) };
        Cell { at: place(self.at), radio, reception: self.threshold(), acquisition }
    }

    /// Whether it is heard at a place.
    pub(super) fn is_heard(&self, at: Point) -> bool {
        self.cell().is_heard(place(at))
    }
}

/// What happens on a way to the links with cells that are heard by one radio, for each in the order of time: as [`Cells`] has it,
/// with a reading of the signal at even intervals while there is one.
pub(super) fn events(
    plans: &[&CellPlan],
    layer_two: LayerTwo,
    way: &Trajectory,
    lasts: Duration,
) -> Vec<Vec<(Instant, CellEvent)>> {
    let cells: Vec<Cell> = plans.iter().map(|plan| plan.cell()).collect();
    let radio = Cells { cells: cells.clone(), thresholds: Vec::new(), layer_two, sampling: SAMPLING };
    let until = Instant::ZERO + lasts;
    let all = radio.events(way, until);
    let of = |number: usize| {
        let own =
            all.iter().filter(|(_, cell, event)| *cell == number && !matches!(event, CellEvent::Signal(_)));
        with_readings(&cells[number], own.map(|&(at, _, event)| (at, event)), way, until)
    };
    (0..cells.len()).map(of).collect()
}

fn with_readings(
    cell: &Cell,
    of_links: impl Iterator<Item = (Instant, CellEvent)>,
    way: &Trajectory,
    until: Instant,
) -> Vec<(Instant, CellEvent)> {
    let mut events = Vec::new();
    let (mut attached, mut reading, mut last) = (false, Instant::ZERO, ReceivedPower::NONE);
    let mut read_until = |end: Instant, attached: bool, events: &mut Vec<(Instant, CellEvent)>| {
        while reading <= end {
            let power = cell.received(way.position(reading));
            if attached && power != last {
                last = power;
                events.push((reading, CellEvent::Signal(power)));
            }
            reading += READING;
        }
    };
    for (at, event) in of_links {
        read_until(at, attached, &mut events);
        match event {
            CellEvent::Attached => attached = true,
            CellEvent::Lost => attached = false,
            _ => {}
        }
        events.push((at, event));
    }
    read_until(until, attached, &mut events);
    events
}

#[cfg(test)]
#[path = "motion_tests.rs"]
mod tests;
