//! When heartbeats are due (RFC 9260 §5.4, §8.3).
//!
//! Times are rounded to a grid far finer than the jitter that the RFC asks for. The heartbeats of an endpoint with many
//! associations then fall due many at a time, leave in trains, and are answered in trains; one by one they would cost
//! two system calls each, at both ends.

use core::time::Duration;

use whimbrel_machine::{Instant, Rng};
use whimbrel_path::Rto;

/// Heartbeats fall due at multiples of this.
const GRID: Duration = Duration::from_millis(10);

/// When an idle path gets its next heartbeat: RTO + HB.interval after `since`, ± 50 % of the RTO at random
/// (RFC 9260 §8.3).
pub(super) fn next(since: Instant, interval: Duration, rto: Duration, rng: &mut Rng) -> Instant {
    let earliest = earliest(since, interval, rto);
    round_down(earliest + rng.duration_below(rto)).max(earliest)
}

/// The beginning of the span in which [`next`] chooses.
pub(super) fn earliest(since: Instant, interval: Duration, rto: Duration) -> Instant {
    since + interval + rto / 2
}

/// When a path of an association that has just been set up is first probed (RFC 9260 §5.4: from ESTABLISHED on, once
/// per RTO).
///
/// Whoever began the handshake probes at the next point of the grid. The other end leaves it time to, because its own
/// probe then goes with its answer; without a probe from there it begins on its own, still within the first RTO.
pub(super) fn first_probe(now: Instant, initiator: bool, rto: &Rto) -> Instant {
    if initiator { round_up(now) } else { round_up(now + rto.current() / 4) }
}

fn round_down(at: Instant) -> Instant {
    let grid = GRID.as_nanos() as u64;
    Instant::from_nanos(at.as_nanos() / grid * grid)
}

fn round_up(at: Instant) -> Instant {
    round_down(at + (GRID - Duration::from_nanos(1)))
}

#[cfg(test)]
#[path = "heartbeat_time_tests.rs"]
mod tests;
