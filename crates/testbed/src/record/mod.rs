//! What a user keeps of what it is told. One kind of record per file.

mod log;
mod silence;
mod tally;
mod transfer_times;

pub use log::Log;
pub use silence::Silence;
pub use tally::{PathUse, Tally};
pub use transfer_times::TransferTimes;
use whimbrel_netsim::Context;
use whimbrel_proto::{Command, Event};

/// A record of what a user is told.
pub trait Record: Default {
    /// The user is told something, at the time of the context.
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>);
}

/// Nothing is kept.
impl Record for () {
    fn on_event(&mut self, _event: Event, _context: &mut Context<'_, Command>) {}
}
