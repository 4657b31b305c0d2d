//! Where a mobile host is at what time. A trajectory is made before the run, since motion depends on nothing that is sent.
//!
//! Only operations that IEEE 754 defines to the last bit are used, so positions are the same on every machine.

use core::time::Duration;

use whimbrel_machine::{Instant, Rng};

/// A place in the plane.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// Metres to the east.
    pub x_m: f64,
    /// Metres to the north.
    pub y_m: f64,
}

impl Position {
    /// A place by its coordinates in metres.
    pub const fn new(x_m: f64, y_m: f64) -> Self {
        Self { x_m, y_m }
    }

    /// The distance in metres.
    pub fn distance_m(self, other: Self) -> f64 {
        let (dx, dy) = (self.x_m - other.x_m, self.y_m - other.y_m);
        (dx * dx + dy * dy).sqrt()
    }

    /// The place a share of the way towards `other`.
    fn towards(self, other: Self, share: f64) -> Self {
        Self {
            x_m: self.x_m + (other.x_m - self.x_m) * share,
            y_m: self.y_m + (other.y_m - self.y_m) * share,
        }
    }
}

/// Where waypoints are drawn from, uniformly.
#[derive(Clone, PartialEq, Debug)]
pub enum Area {
    /// A rectangle between two opposite corners.
    Rectangle(Position, Position),
    /// All that lies in one of some discs, each given by its centre and its radius in metres.
    Discs(Vec<(Position, f64)>),
}

impl Area {
    /// Whether a place lies in the area, its border included.
    pub fn contains(&self, at: Position) -> bool {
        match self {
            Self::Rectangle(a, b) => {
                let between = |value: f64, a: f64, b: f64| a.min(b) <= value && value <= a.max(b);
                between(at.x_m, a.x_m, b.x_m) && between(at.y_m, a.y_m, b.y_m)
            }
            Self::Discs(discs) => discs.iter().any(|&(centre, radius_m)| centre.distance_m(at) <= radius_m),
        }
    }

    /// A place in the area, uniformly. Of an area without extent it is the first corner or centre.
    pub fn draw(&self, rng: &mut Rng) -> Position {
        let (low, high) = self.bounds();
        // The bounds of discs are at most some 1/π empty for each disc; a thousand misses mean that there is no area.
        for _ in 0..1000 {
            let x_m = low.x_m + (high.x_m - low.x_m) * rng.unit();
            let at = Position::new(x_m, low.y_m + (high.y_m - low.y_m) * rng.unit());
            if self.contains(at) {
                return at;
            }
        }
        low
    }

    fn bounds(&self) -> (Position, Position) {
        match self {
            Self::Rectangle(a, b) => (
                Position::new(a.x_m.min(b.x_m), a.y_m.min(b.y_m)),
                Position::new(a.x_m.max(b.x_m), a.y_m.max(b.y_m)),
            ),
            Self::Discs(discs) => {
                let edge = |sign: f64, side: fn(f64, f64) -> f64| {
                    let edges = discs
                        .iter()
                        .map(|&(centre, r)| Position::new(centre.x_m + sign * r, centre.y_m + sign * r));
                    edges
                        .reduce(|a, b| Position::new(side(a.x_m, b.x_m), side(a.y_m, b.y_m)))
                        .unwrap_or_default()
                };
                (edge(-1.0, f64::min), edge(1.0, f64::max))
            }
        }
    }
}

/// A way in straight legs at constant speed.
#[derive(Clone, PartialEq, Debug)]
pub struct Trajectory {
    /// Each with the time of leaving its beginning; sorted.
    legs: Vec<Leg>,
    end: Position,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Leg {
    from: Position,
    to: Position,
    leaves: Instant,
    arrives: Instant,
}

impl Trajectory {
    /// Stays where it is.
    pub const fn standing(at: Position) -> Self {
        Self { legs: Vec::new(), end: at }
    }

    /// In straight lines from place to place, beginning at time zero, and stays at the last. A speed that is not above zero
    /// moves nothing.
    pub fn through(places: impl IntoIterator<Item = Position>, speed_m_s: f64) -> Self {
        let mut places = places.into_iter();
        let mut way = Self::standing(places.next().unwrap_or_default());
        for place in places {
            way.go(place, speed_m_s);
        }
        way
    }

    /// Back and forth between two places, beginning at the first, at least until `until`.
    pub fn oscillating(a: Position, b: Position, speed_m_s: f64, until: Instant) -> Self {
        let mut way = Self::standing(a);
        let mut next = [b, a].into_iter().cycle();
        while way.arrival() < until && next.next().is_some_and(|place| way.go(place, speed_m_s)) {}
        way
    }

    /// Random waypoint: from `start` to a place drawn uniformly from `area`, from there to the next without a pause, always
    /// at the same speed, at least until `until`.
    pub fn random_waypoint(
        area: &Area,
        start: Position,
        speed_m_s: f64,
        until: Instant,
        rng: &mut Rng,
    ) -> Self {
        let mut way = Self::standing(start);
        while way.arrival() < until && way.go(area.draw(rng), speed_m_s) {}
        way
    }

    /// Random waypoint with speeds and pauses: from `start` to a place drawn uniformly from `area`, at a speed drawn uniformly
    /// between two, a pause there, from there to the next, at least until `until`.
    pub fn wandering(
        area: &Area,
        start: Position,
        (slowest_m_s, fastest_m_s): (f64, f64),
        pause: Duration,
        until: Instant,
        rng: &mut Rng,
    ) -> Self {
        let mut way = Self::standing(start);
        while way.arrival() < until {
            let to = area.draw(rng);
            if !way.go(to, slowest_m_s + (fastest_m_s - slowest_m_s) * rng.unit()) {
                break;
            }
            way.rest(pause);
        }
        way
    }

    /// Where the host is at `time`.
    pub fn position(&self, time: Instant) -> Position {
        let index = self.legs.partition_point(|leg| leg.arrives <= time);
        let Some(leg) = self.legs.get(index) else { return self.end };
        let share = (time - leg.leaves).as_nanos() as f64 / (leg.arrives - leg.leaves).as_nanos() as f64;
        leg.from.towards(leg.to, share)
    }

    /// When the last place is reached.
    pub fn arrival(&self) -> Instant {
        self.legs.last().map_or(Instant::ZERO, |leg| leg.arrives)
    }

    /// The places where the direction changes, the first and the last included.
    pub fn places(&self) -> impl Iterator<Item = Position> {
        self.legs.iter().map(|leg| leg.from).chain([self.end])
    }

    /// Stays at the last place for a while.
    fn rest(&mut self, pause: Duration) {
        if !pause.is_zero() {
            let (at, leaves) = (self.end, self.arrival());
            self.legs.push(Leg { from: at, to: at, leaves, arrives: leaves + pause });
        }
    }

    /// Adds a leg; false if it takes no time or for ever.
    fn go(&mut self, to: Position, speed_m_s: f64) -> bool {
        let from = self.end;
        let nanos = (from.distance_m(to) / speed_m_s * 1e9).round();
        if !(1.0..1e18).contains(&nanos) {
            return false;
        }
        let leaves = self.arrival();
        self.legs.push(Leg { from, to, leaves, arrives: leaves + Duration::from_nanos(nanos as u64) });
        self.end = to;
        true
    }
}

#[cfg(test)]
#[path = "motion_tests.rs"]
mod tests;
