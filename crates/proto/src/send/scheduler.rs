//! Which path carries the next new DATA: the trait, the rule of RFC 9260, and those that use several paths at once. One rule per file.

mod earliest_completion;
mod fastest_path_first;
mod lowest_round_trip;
mod primary_path;
mod round_robin;

use core::fmt::Debug;
use core::time::Duration;

pub(super) use self::earliest_completion::{EarliestCompletion, LITTLE};
pub(super) use self::fastest_path_first::FastestPathFirst;
pub(super) use self::lowest_round_trip::LowestRoundTrip;
pub(super) use self::primary_path::PrimaryPath;
pub(super) use self::round_robin::RoundRobin;
use super::flow::Flow;
use super::outstanding::Outstanding;
use super::streams::OutboundStreams;
use crate::config::PathScheduler;
use crate::interface::PathId;
use crate::path::{PathIds, Paths, data_paths};

/// Distributes new DATA over the paths. A scheduler may keep state, such as whose turn it is.
pub(super) trait Scheduler: Debug + Send {
    /// The paths that new data uses at present, whichever of them has its turn; none only when no path is usable.
    fn in_use(&self, paths: &Paths) -> PathIds {
        data_paths(paths)
    }

    /// Whether new data may take `path` now, if its windows have room; false for all only when no path is usable.
    fn takes(&self, offer: &Offer<'_>, path: PathId) -> bool {
        self.in_use(offer.paths).contains(&path)
    }

    /// The path of the next packet: one that [`takes`](Self::takes) it and has room, if there is such a path. It is sent if the window of that path has room, else
    /// nothing is for now.
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId>;
}

/// The scheduler that is asked for.
pub(super) fn scheduler(asked: PathScheduler) -> Box<dyn Scheduler> {
    match asked {
        PathScheduler::PrimaryPath => Box::new(PrimaryPath),
        PathScheduler::RoundRobin => Box::<RoundRobin>::default(),
        PathScheduler::LowestRoundTrip => Box::new(LowestRoundTrip),
        PathScheduler::FastestPathFirst => Box::new(FastestPathFirst),
        PathScheduler::EarliestCompletion | PathScheduler::Redundant => Box::new(EarliestCompletion),
    }
}

/// What paths and streams could carry, for rules that choose between paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<'a> {
    pub(super) paths: &'a Paths,
    pub(super) flows: &'a [Flow],
    pub(super) outstanding: &'a Outstanding,
    pub(super) streams: &'a OutboundStreams,
    /// Bytes of user data that may leave before something is acknowledged for good: what the peer's window has room for, and our own buffer if the
    /// user fills it again.
    pub(super) room: usize,
    /// Bytes of user data that may have been sent and not been acknowledged for good, at most: the smaller one of the buffers of both ends.
    pub(super) buffers: usize,
    /// Bytes of user data that one path may have outstanding, and in flight.
    pub(super) share: Share,
}

/// What one path may fill of the buffers of both ends, in bytes of user data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share {
    /// Outstanding, of the send buffer.
    pub(super) outstanding: usize,
    /// In flight, of the peer's window.
    pub(super) in_flight: usize,
}

impl Share {
    /// All of both.
    pub(super) const WHOLE: Self = Self { outstanding: usize::MAX, in_flight: usize::MAX };
}

impl Offer<'_> {
    pub(super) fn flow(&self, path: PathId) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.path == path)
    }

    /// Whether the windows of a path let a packet of new data out.
    pub(super) fn has_room(&self, path: PathId) -> bool {
        let way = self.outstanding.on_the_way(path);
        self.flow(path).is_some_and(|flow| flow.may_send(way)) && self.has_share(path)
    }

    /// Whether the windows of a path let out what is lost.
    pub(super) fn lets_out(&self, path: PathId) -> bool {
        let way = self.outstanding.on_the_way(path);
        self.flow(path).is_some_and(|flow| flow.forced || flow.may_send(way))
    }

    /// Whether a path has less than its share of the buffers.
    pub(super) fn has_share(&self, path: PathId) -> bool {
        let Share { outstanding, in_flight } = self.share;
        in_flight == usize::MAX && outstanding == usize::MAX
            || self.outstanding.flight_size(path) < in_flight && self.outstanding.held_on(path) < outstanding
    }

    /// A round trip by the path, the queue in front of it included. Where none has been measured it is taken to be as long as the longest one.
    pub(super) fn round_trip(&self, path: PathId) -> Duration {
        let known = self.paths.get(path).and_then(|path| path.rto.srtt());
        let longest = || self.paths.iter().filter_map(|path| path.rto.srtt()).max();
        known.or_else(longest).unwrap_or(Duration::ZERO)
    }

    /// What hardly any round trip by the path exceeds.
    pub(super) fn longest_round_trip(&self, path: PathId) -> Duration {
        let known = self.paths.get(path).and_then(|path| path.rto.long_round_trip());
        known.unwrap_or_else(|| self.round_trip(path))
    }

    /// What a path delivers, in bytes a second: as its controller has measured it, or a window in each round trip. 0 if nothing is known.
    pub(super) fn capacity(&self, path: PathId) -> u64 {
        let Some(flow) = self.flow(path) else { return 0 };
        flow.congestion.bandwidth().unwrap_or_else(|| {
            let round_trip = self.round_trip(path).as_nanos().max(1);
            let rate = flow.congestion.cwnd() as u128 * NANOS / round_trip;
            u64::try_from(rate).unwrap_or(u64::MAX)
        })
    }

    /// When so many bytes have arrived by the path if they leave now, counted like a round trip.
    pub(super) fn arrival(&self, path: PathId, bytes: usize) -> Duration {
        let nanos = bytes as u128 * NANOS / u128::from(self.capacity(path).max(1));
        self.round_trip(path).saturating_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Of these paths the one with room for which `cost` is least, or the first one if none has room.
    pub(super) fn cheapest<C: Ord>(&self, paths: &[PathId], cost: impl Fn(PathId) -> C) -> Option<PathId> {
        let with_room = paths.iter().copied().filter(|&path| self.has_room(path));
        with_room.min_by_key(|&path| cost(path)).or(paths.first().copied())
    }
}

pub(super) const NANOS: u128 = 1_000_000_000;

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
