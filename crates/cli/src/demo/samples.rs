//! From the packets that were seen to what the pictures show.

use super::capture::Sighting;

/// Width of a step in the picture of rates, seconds.
pub(super) const STEP: f64 = 0.1;
/// Points per network in the overview, at most.
const POINTS: usize = 3000;

/// A packet in a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    /// Seconds since the beginning.
    pub(super) at: f64,
    /// Megabytes that had been sent over both networks together.
    pub(super) sent: f64,
    /// It did not get through.
    pub(super) lost: bool,
}

/// What both networks carried from the client to the server.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Per network, in order of time.
    pub(super) points: [Vec<Point>; 2],
    /// Per network and step: Mbit/s of packets that got through.
    pub(super) rates: [Vec<f64>; 2],
    /// Bytes of packets per network that got through.
    pub(super) bytes: [u64; 2],
    /// Packets that did not.
    pub(super) lost: u64,
}

/// Sorts out what was seen on both networks. Times count from `begin`, nanoseconds since 1970.
pub(super) fn traffic(sightings: [&[Sighting]; 2], begin: u64) -> Traffic {
    let seconds = |at: u64| at.saturating_sub(begin) as f64 / 1e9;
    let of = |network: usize| sightings[network].iter().map(move |seen| (network, seen));
    let mut all: Vec<(usize, &Sighting)> = of(0).chain(of(1)).collect();
    all.sort_by_key(|(_, seen)| seen.at);
    let steps = all.last().map_or(0, |(_, seen)| (seconds(seen.at) / STEP) as usize + 1);
    let mut traffic = Traffic { rates: [vec![0.0; steps], vec![0.0; steps]], ..Traffic::default() };
    let mut sent = 0;
    for (network, seen) in all {
        let at = seconds(seen.at);
        sent += u64::from(seen.bytes);
        traffic.points[network].push(Point { at, sent: sent as f64 / 1e6, lost: seen.dropped });
        if seen.dropped {
            traffic.lost += 1;
            continue;
        }
        traffic.bytes[network] += u64::from(seen.bytes);
        traffic.rates[network][(at / STEP) as usize] += f64::from(seen.bytes) * 8.0 / 1e6 / STEP;
    }
    traffic
}

/// Every n-th point, so that a page stays small.
pub(super) fn thinned(points: &[Point]) -> Vec<Point> {
    points.iter().step_by(points.len().div_ceil(POINTS).max(1)).copied().collect()
}

/// The points between two moments.
pub(super) fn between(points: &[Point], from: f64, to: f64) -> Vec<Point> {
    points.iter().filter(|point| point.at >= from && point.at <= to).copied().collect()
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
