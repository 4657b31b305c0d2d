//! Radio cells that a mobile host moves through: when it hears which, is attached to which, and has an address where.
//!
//! All this depends on motion alone, so [`Cells::events`] tells it before the run, and whoever builds the world turns it into
//! changes of links and facts for the host.

use core::time::Duration;

use whimbrel_machine::{Instant, ReceivedPower, TwoRayGround};

use crate::{Position, Trajectory};

mod layer_two;

use layer_two::Link;

/// A cell: one access point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// Where its antenna is.
    pub at: Position,
    /// How its signal fades.
    pub radio: TwoRayGround,
    /// Reception threshold: with less, nothing is received (c04: L2-TH).
    pub reception: ReceivedPower,
    /// How long it takes to use it.
    pub acquisition: Acquisition,
}

impl Cell {
    /// What is received from it at a place.
    pub fn received(&self, at: Position) -> ReceivedPower {
        self.radio.received(self.at.distance_m(at))
    }

    /// Whether anything is received from it at a place.
    pub fn is_heard(&self, at: Position) -> bool {
        self.received(at) >= self.reception
    }
}

/// How long it takes to be able to use a cell, from the moment it is heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acquisition {
    /// The layer-2 handover: scanning, authentication, association.
    pub layer_two: Duration,
    /// After that, the address: DHCP or autoconfiguration, with duplicate address detection.
    pub address: Duration,
}

/// What the radio can do at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayerTwo {
    /// It is attached to each cell it hears.
    Soft,
    /// It is attached to one cell: when the handover to another is complete, it hears the former no more.
    Hard,
}

/// Something that happens to the host's link with a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellEvent {
    /// Its signal has crossed one of the thresholds, or which signal is the strongest has changed. The value is as strong as
    /// it was when sampled; 0 if the radio hears the cell no more.
    Signal(ReceivedPower),
    /// The layer-2 handover is complete: packets pass from now on.
    Attached,
    /// The host has its address there.
    Addressed,
    /// Packets no longer pass.
    Lost,
}

/// The radio side of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Cells {
    /// The cells, by number.
    pub cells: Vec<Cell>,
    /// Further thresholds whose crossing is told (c04: Primary-TH).
    pub thresholds: Vec<ReceivedPower>,
    /// What the radio can do at a time.
    pub layer_two: LayerTwo,
    /// How often signals are measured.
    pub sampling: Duration,
}

impl Cells {
    /// What happens to a host on this way until `until`, in the order of time, with the number of the cell. At the start the
    /// host has long been attached, with an address: under [`LayerTwo::Hard`] to the strongest cell, otherwise to all it hears.
    pub fn events(&self, way: &Trajectory, until: Instant) -> Vec<(Instant, usize, CellEvent)> {
        let mut scan = Scan::new(self);
        let sampling = self.sampling.max(Duration::from_nanos(1));
        let mut now = Instant::ZERO;
        while now <= until {
            scan.sample(now, way.position(now));
            now += sampling;
        }
        scan.events.sort_by_key(|&(at, ..)| at);
        scan.events
    }
}

/// The state of a run through all samples.
struct Scan<'a> {
    plan: &'a Cells,
    links: Vec<Link>,
    levels: Vec<usize>,
    strongest: Option<usize>,
    events: Vec<(Instant, usize, CellEvent)>,
}

impl<'a> Scan<'a> {
    fn new(plan: &'a Cells) -> Self {
        let count = plan.cells.len();
        Self {
            plan,
            links: vec![Link::Idle; count],
            levels: vec![0; count],
            strongest: None,
            events: Vec::new(),
        }
    }

    fn sample(&mut self, now: Instant, at: Position) {
        let received: Vec<ReceivedPower> = self.plan.cells.iter().map(|cell| cell.received(at)).collect();
        let heard: Vec<bool> = self.plan.cells.iter().map(|cell| cell.is_heard(at)).collect();
        if now == Instant::ZERO {
            self.begin(&received, &heard);
        }
        self.plan.layer_two.advance(now, &self.plan.cells, &heard, &mut self.links, &mut self.events);
        self.tell_signals(now, &received);
    }

    fn begin(&mut self, received: &[ReceivedPower], heard: &[bool]) {
        let strongest = (0..heard.len()).filter(|&cell| heard[cell]).max_by_key(|&cell| received[cell]);
        for (cell, &heard) in heard.iter().enumerate() {
            if heard && (self.plan.layer_two == LayerTwo::Soft || Some(cell) == strongest) {
                self.links[cell] = Link::Addressed;
                let now =
                    [CellEvent::Attached, CellEvent::Addressed].map(|event| (Instant::ZERO, cell, event));
                self.events.extend(now);
            }
        }
    }

    /// A radio measures what it is attached to or about to be.
    fn tell_signals(&mut self, now: Instant, received: &[ReceivedPower]) {
        let audible = |cell: usize| {
            if matches!(self.links[cell], Link::Idle | Link::Left) {
                ReceivedPower::NONE
            } else {
                received[cell]
            }
        };
        let powers: Vec<ReceivedPower> = (0..received.len()).map(audible).collect();
        let best = (0..powers.len()).filter(|&cell| powers[cell] > ReceivedPower::NONE);
        let strongest = best.max_by_key(|&cell| (powers[cell], core::cmp::Reverse(cell)));
        let all = core::mem::replace(&mut self.strongest, strongest) != strongest;
        for (cell, power) in powers.into_iter().enumerate() {
            let level = self.level(cell, power);
            let crossed = core::mem::replace(&mut self.levels[cell], level) != level;
            if crossed || (all && level > 0) {
                self.events.push((now, cell, CellEvent::Signal(power)));
            }
        }
    }

    /// How many thresholds a signal reaches.
    fn level(&self, cell: usize, power: ReceivedPower) -> usize {
        let thresholds =
            [self.plan.cells[cell].reception].into_iter().chain(self.plan.thresholds.iter().copied());
        thresholds.filter(|&threshold| power >= threshold).count()
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
