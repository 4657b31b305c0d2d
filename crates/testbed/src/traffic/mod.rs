//! What users send. One kind of traffic per file.

mod constant_rate;
mod file;
mod greedy;
mod schedule;

pub use constant_rate::ConstantRate;
pub use file::File;
pub use greedy::Greedy;
pub use schedule::Schedule;

use whimbrel_machine::Instant;

/// A source of messages.
pub trait Traffic: Send {
    /// Asked when the association is up, when a time it named has come, and when the peer has acknowledged data. Calls
    /// `send` with the size in bytes of each message to hand over now, and says when it wants to be asked next.
    fn offer(&mut self, now: Instant, acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant>;
}
