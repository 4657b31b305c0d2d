//! How losses are found and repaired without waiting for the retransmission timer.

mod new_reno;
mod rack;
mod rate_reduction;
mod reordering;
mod sack;
mod tail_probe;
mod undo;

use core::fmt;
use core::time::Duration;

use whimbrel_machine::Instant;

pub use self::new_reno::NewReno;
pub use self::rack::Rack;
pub use self::sack::Sack;
use super::scoreboard::{Acknowledged, Scoreboard, Sent};

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

    /// Whether the peer's data that comes twice is reported to it (DSACK, RFC 2883), for its scheme to learn from.
    fn reports_duplicates(&self) -> bool {
        false
    }

    /// When the segment was sent that an acknowledgement measures the round trip with.
    fn measures(&self, acknowledged: &Acknowledged) -> Option<Instant> {
        acknowledged.sent_at
    }

    /// Takes for lost what the expiration of the retransmission timer means is lost.
    fn lose_at_timeout(&mut self, _now: Instant, board: &mut Scoreboard) {
        board.lose_all();
    }

    /// FlightSize, which a reduction begins from, where the controller's window is `cwnd`.
    fn flight(&self, board: &Scoreboard, _cwnd: u64) -> u64 {
        board.flight()
    }

    /// The window that holds, where the controller says `cwnd`.
    fn window(&self, cwnd: u64) -> u64 {
        cwnd
    }

    /// The controller has reacted to an acknowledgement, or to what [`on_time`](Self::on_time) said.
    fn on_reaction(&mut self, _board: &Scoreboard, _state: &SenderState) {}

    /// A segment was sent; says whether the retransmission timer starts anew.
    fn on_sent(&mut self, _board: &Scoreboard, _sent: &Sent, _state: &SenderState) -> bool {
        false
    }

    /// When the scheme has something to do, whatever comes or does not.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// It is time.
    fn on_time(&mut self, _now: Instant, _srtt: Option<Duration>, _board: &mut Scoreboard) -> Due {
        Due::Nothing
    }
}

/// What a scheme may want to know of the sender beside the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    pub(crate) now: Instant,
    pub(crate) srtt: Option<Duration>,
    /// When the retransmission timer expires.
    pub(crate) timer: Option<Instant>,
    /// The controller's window.
    pub(crate) cwnd: u64,
}

/// What is to be done as a scheme's deadline has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Nothing,
    /// Something is taken for lost.
    Lost(Reaction),
    /// One segment is sent whatever the window says, a new one if there is one and else the last, and the retransmission timer starts anew
    /// (RFC 8985 §7.3).
    Probe,
}

/// A scheme of loss recovery: made by [`NewReno::boxed`], [`Sack::boxed`] or [`Rack::boxed`].
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
    /// A loss is repaired already, when `flight` bytes had been outstanding: the window is reduced as at the beginning of a recovery (RFC 8985 §7.4.2).
    Repaired { flight: u64 },
    /// Nothing was lost: the last reduction of the window is taken back.
    Undo,
    /// A recovery is over.
    Leave {
        /// The flight size may be far below the window, which would let out a burst (RFC 6582 §3.2 step 3).
        deflate: bool,
    },
}
