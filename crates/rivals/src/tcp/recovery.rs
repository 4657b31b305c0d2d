//! How losses are found and repaired without waiting for the retransmission timer.

mod new_reno;
mod sack;

use core::fmt;

pub use self::new_reno::NewReno;
pub use self::sack::Sack;
use super::scoreboard::{Acknowledged, Scoreboard};

/// Makes the recovery of a new connection from its MSS in bytes and its duplicate threshold.
pub type NewRecovery = fn(mss: u64, duplicate_threshold: u32) -> Recovery;

/// A scheme of loss recovery. The scoreboard belongs to the connection; a scheme marks losses there.
pub(crate) trait LossRecovery: fmt::Debug + Send {
    /// Whether the peer may be asked for SACK blocks.
    fn wants_sack(&self) -> bool;
    /// An acknowledgement has come and the scoreboard has taken it in.
    fn on_acknowledged(&mut self, board: &mut Scoreboard, acknowledged: &Acknowledged) -> Reaction;
    /// The retransmission timer has expired; the scoreboard takes everything for lost.
    fn on_timeout(&mut self, board: &Scoreboard);
    /// Bytes in the network, as far as the scheme can tell.
    fn in_flight(&self, board: &Scoreboard) -> u64;
}

/// A scheme of loss recovery: made by [`NewReno::boxed`] or [`Sack::boxed`].
#[derive(Debug)]
pub struct Recovery(pub(crate) Box<dyn LossRecovery>);

/// What an acknowledgement means for the window and the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reaction {
    /// All is well: the window may grow by what was acknowledged.
    Grow,
    /// A recovery begins: the first lost segment goes out at once.
    Enter,
    /// A recovery goes on.
    Recovering {
        /// The first lost segment goes out at once.
        send_first: bool,
        /// The retransmission timer starts anew.
        restart_timer: bool,
    },
    /// A recovery is over.
    Leave {
        /// The flight size may be far below the window, which would let out a burst (RFC 6582 §3.2 step 3).
        deflate: bool,
    },
}
