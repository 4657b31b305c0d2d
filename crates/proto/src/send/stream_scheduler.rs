//! Which stream sends its next message: the trait, and two schedulers of RFC 8260 §3.

use core::fmt::Debug;

mod first_come;
mod round_robin;

pub use first_come::FirstComeFirstServed;
pub use round_robin::RoundRobin;

/// Picks the stream whose first queued message is sent next (RFC 8260 §3).
///
/// The scheduler sees only stream numbers, one [`enqueue`](Self::enqueue) per user message and one
/// [`next`](Self::next) per message that leaves its queue. The fragments of a message are never interleaved with
/// others, because DATA fragments need consecutive TSNs (RFC 9260 §6.9), so there is no call per chunk.
pub trait StreamScheduler: Debug + Send {
    /// A message was put at the end of the queue of `stream`.
    fn enqueue(&mut self, stream: u16);

    /// The stream whose first message goes now, which counts as taken from its queue; `None` if all are empty.
    fn next(&mut self) -> Option<u16>;
}

/// Makes the scheduler of a new association.
pub type NewStreamScheduler = fn() -> Box<dyn StreamScheduler>;

/// A queue that has grown longer than this gives its memory back when it is empty again, so that an idle association
/// costs nothing for the busy time it once had.
const KEPT_WHEN_EMPTY: usize = 64;

#[cfg(test)]
#[path = "stream_scheduler_tests.rs"]
mod tests;
