//! What a user keeps of what it is told. One kind of record per file.

mod log;
mod silence;
mod tally;
mod transfer_times;

pub use log::Log;
pub use silence::Silence;
pub use tally::{PathUse, Tally};
pub use transfer_times::TransferTimes;
use whimbrel_machine::Instant;
use whimbrel_netsim::Context;
use whimbrel_proto::{Command, Event};

/// A record of what a user is told, be it of SCTP or of something else.
pub trait Record<E = Event, C = Command>: Default {
    /// The user is told something, at the time of the context.
    fn on_event(&mut self, event: E, context: &mut Context<'_, C>);
}

/// Nothing is kept.
impl<E, C> Record<E, C> for () {
    fn on_event(&mut self, _event: E, _context: &mut Context<'_, C>) {}
}

/// Everything is kept.
impl<E, C> Record<E, C> for Vec<(Instant, E)> {
    fn on_event(&mut self, event: E, context: &mut Context<'_, C>) {
        self.push((context.now(), event));
    }
}
