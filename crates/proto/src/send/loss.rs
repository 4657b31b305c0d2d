//! How a SACK tells what is lost: the trait, the rule of RFC 9260, and one for large windows. One rule per file.

mod miss_indications;
mod send_order;

use core::fmt::Debug;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

pub(super) use self::miss_indications::MissIndications;
pub(super) use self::send_order::SendOrder;
use super::chunk::Chunk;
use super::flow::Flow;
use super::outstanding::Outstanding;
use super::recovery::FastRecovery;
use super::report::Report;
use crate::interface::PathId;

/// Decides which chunks in flight are lost.
pub(super) trait LossDetection: Debug + Send {
    /// The gap ack blocks of a SACK have been applied to `outstanding`: what is lost now is marked there by
    /// [`Outstanding::lose`].
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report);

    /// The receiver has dropped the chunk at `index`, which is in flight again (RFC 9260 §6.2.1 D iii).
    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report);

    /// A lost chunk has been sent again; `chunk` is as it is now.
    fn on_sent_again(&mut self, _tsn: Tsn, _chunk: &Chunk) {}
}

/// What a SACK meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    /// When it came.
    pub(super) now: Instant,
    /// Fast Recovery as it was when the SACK came.
    pub(super) recovery: &'a dyn FastRecovery,
    pub(super) flows: &'a [Flow],
}

impl Circumstances<'_> {
    /// The least round trip of a path that was ever measured.
    pub(super) fn least_round_trip(&self, path: PathId) -> Option<Duration> {
        self.flows.iter().find(|flow| flow.path == path)?.least_round_trip
    }
}

/// What the gap ack blocks of a SACK have said. Chunks are named by their index, 0 for the lowest TSN outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackNews<'a> {
    /// One more than the highest index acknowledged.
    pub(super) end: usize,
    /// One more than the highest index newly acknowledged: the HTNA (RFC 9260 §7.2.4); 0 if there is none.
    pub(super) newly_end: usize,
    /// How many gap ack blocks there are.
    pub(super) blocks: usize,
    pub(super) met: Circumstances<'a>,
}
