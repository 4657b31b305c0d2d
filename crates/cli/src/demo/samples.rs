//! From captured DATA chunks to what the pictures show.

use std::collections::BTreeMap;

use super::capture::Segment;

/// Width of a step in the goodput picture, seconds.
pub(super) const STEP: f64 = 0.1;
/// Points per network in the overview of TSNs, at most.
const POINTS: usize = 3000;

/// A DATA chunk in a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    /// Seconds since the beginning.
    pub(super) at: f64,
    /// TSN, counted from the first.
    pub(super) tsn: u32,
    /// It did not get through this time.
    pub(super) lost: bool,
}

/// What both networks carried.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    /// Per network, in order of time.
    pub(super) points: [Vec<Point>; 2],
    /// Per network and step: Mbit/s of user data that got through for good.
    pub(super) goodput: [Vec<f64>; 2],
    /// User data chunks sent more than once.
    pub(super) retransmitted: u64,
    /// User bytes per network that got through for good.
    pub(super) bytes: [u64; 2],
}

/// Sorts out the segments of both networks. Times count from `begin`, nanoseconds since 1970.
///
/// Of a TSN that was sent several times, the last transmission is the one that got through: a sender stops when it
/// is acknowledged.
pub(super) fn traffic(segments: &[Vec<Segment>; 2], begin: u64) -> Traffic {
    let first = segments.iter().flatten().min_by_key(|segment| segment.at);
    let Some(origin) = first.map(|segment| segment.tsn) else { return Traffic::default() };
    let seconds = |at: u64| at.saturating_sub(begin) as f64 / 1e9;
    let mut last: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
    let mut transmissions = 0;
    for (network, list) in segments.iter().enumerate() {
        for segment in list {
            transmissions += 1;
            let entry = last.entry(segment.tsn.wrapping_sub(origin)).or_insert((0, network));
            if !segment.dropped && segment.at >= entry.0 {
                *entry = (segment.at, network);
            }
        }
    }
    let mut traffic = Traffic { retransmitted: transmissions - last.len() as u64, ..Traffic::default() };
    let end = segments.iter().flatten().map(|segment| segment.at).max().unwrap_or(begin);
    let steps = (seconds(end) / STEP) as usize + 1;
    for (network, list) in segments.iter().enumerate() {
        traffic.goodput[network] = vec![0.0; steps];
        for segment in list {
            let tsn = segment.tsn.wrapping_sub(origin);
            let through = last.get(&tsn) == Some(&(segment.at, network)) && !segment.dropped;
            let at = seconds(segment.at);
            traffic.points[network].push(Point { at, tsn, lost: !through });
            if through {
                traffic.bytes[network] += u64::from(segment.bytes);
                traffic.goodput[network][(at / STEP) as usize] += f64::from(segment.bytes) * 8.0 / 1e6 / STEP;
            }
        }
        traffic.points[network].sort_by(|a, b| a.at.total_cmp(&b.at));
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
