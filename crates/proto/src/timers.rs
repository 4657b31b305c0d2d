//! The timers of one association.

use smallvec::SmallVec;
use whimbrel_machine::Instant;

use crate::PathId;

/// Names a timer. Timers that expire at the same instant go off in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum TimerId {
    /// T1-init: INIT was not answered (RFC 9260 §5.1 A).
    T1Init,
    /// T1-cookie: COOKIE ECHO was not answered (RFC 9260 §5.1 C).
    T1Cookie,
    /// T3-rtx of a path (RFC 9260 §6.3).
    T3Retransmit(PathId),
    /// What was sent last on a path has not been acknowledged for two round trips (RFC 8985 §7.2).
    TailProbe(PathId),
    /// Something in flight on a path has had time to be out of order (RFC 8985 §6.2).
    Reordering(PathId),
    /// T2-shutdown: SHUTDOWN or SHUTDOWN ACK was not answered (RFC 9260 §9.2).
    T2Shutdown,
    /// T5-shutdown-guard: the whole shutdown takes too long (RFC 9260 §9.2).
    T5ShutdownGuard,
    /// T4-rto: ASCONF was not acknowledged (RFC 5061 §5.1).
    T4Asconf,
    /// A SACK has been delayed long enough (RFC 9260 §6.2).
    SackDelay,
    /// DATA that came steadily may have stopped.
    StreamStopped,
    /// The peer's window is closed: see whether it has opened (RFC 9260 §6.1 A).
    ZeroWindowProbe,
    /// A HEARTBEAT was not answered (RFC 9260 §8.3).
    HeartbeatTimeout(PathId),
    /// A HEARTBEAT is due (RFC 9260 §8.3).
    Heartbeat(PathId),
    /// A probe for the path MTU is due or lost (RFC 8899 §5.1.1).
    PmtuProbe(PathId),
    /// The next train of DATA may leave.
    Pacing,
    /// Keys have not been agreed on in time.
    KeyExchange,
    /// The peer may have fallen silent before there are keys.
    SilentKeyExchange,
    /// Keys have been in use for long enough (key draft §3.4).
    KeysAge,
    /// What was sealed with the keys before has had time to arrive (key draft §6.2.3).
    KeysDrain,
}

impl TimerId {
    /// Those of a path.
    pub(crate) const fn of_path(id: PathId) -> [Self; 6] {
        [
            Self::T3Retransmit(id),
            Self::TailProbe(id),
            Self::Reordering(id),
            Self::HeartbeatTimeout(id),
            Self::Heartbeat(id),
            Self::PmtuProbe(id),
        ]
    }
}

/// Which timers run and when the next one expires.
///
/// An association has a handful of timers and restarts them with every SACK, so this is a short unsorted array with
/// the position of the earliest entry kept beside it. Backoff is not its business: whoever owns a timer knows when
/// it should expire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    running: SmallVec<[(Instant, TimerId); 8]>,
    /// Index of the least entry of `running`; 0 if that is empty.
    earliest: usize,
}

impl Timers {
    /// Starts or restarts a timer.
    pub(crate) fn set(&mut self, id: TimerId, at: Instant) {
        let Some(index) = self.position(id) else {
            self.running.push((at, id));
            if (at, id) < self.running[self.earliest] {
                self.earliest = self.running.len() - 1;
            }
            return;
        };
        let before = core::mem::replace(&mut self.running[index].0, at);
        if index == self.earliest {
            if at > before {
                self.find_earliest();
            }
        } else if (at, id) < self.running[self.earliest] {
            self.earliest = index;
        }
    }

    /// Stops a timer; nothing happens if it does not run.
    pub(crate) fn clear(&mut self, id: TimerId) {
        if let Some(index) = self.position(id) {
            self.remove(index);
        }
    }

    /// Starts or restarts a timer, or stops it where there is no time for it.
    pub(crate) fn follow(&mut self, id: TimerId, at: Option<Instant>) {
        match at {
            Some(at) => self.set(id, at),
            None => self.clear(id),
        }
    }

    /// When the timer expires, if it runs.
    pub(crate) fn deadline(&self, id: TimerId) -> Option<Instant> {
        self.position(id).map(|index| self.running[index].0)
    }

    /// Whether the timer runs.
    pub(crate) fn is_set(&self, id: TimerId) -> bool {
        self.position(id).is_some()
    }

    /// The next timer to expire.
    pub(crate) fn next(&self) -> Option<(Instant, TimerId)> {
        self.running.get(self.earliest).copied()
    }

    /// Stops and names a timer that has expired, earliest first; to be called until there is none.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<TimerId> {
        let (_, id) = self.next().filter(|&(at, _)| at <= now)?;
        self.remove(self.earliest);
        Some(id)
    }

    fn position(&self, id: TimerId) -> Option<usize> {
        self.running.iter().position(|&(_, running)| running == id)
    }

    fn remove(&mut self, index: usize) {
        self.running.swap_remove(index);
        if index == self.earliest {
            self.find_earliest();
        } else if self.earliest == self.running.len() {
            // The earliest was the last entry and has moved into the gap.
            self.earliest = index;
        }
    }

    fn find_earliest(&mut self) {
        let mut earliest = 0;
        for index in 1..self.running.len() {
            if self.running[index] < self.running[earliest] {
                earliest = index;
            }
        }
        self.earliest = earliest;
    }
}

#[cfg(test)]
#[path = "timers_tests.rs"]
mod tests;
