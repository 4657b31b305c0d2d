//! How a SACK tells what is lost: the trait, the rule of RFC 9260, the same for each path, and RACK. One rule per file.

mod miss_indications;
mod rack;
mod split;

use core::fmt::Debug;
use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

pub(super) use self::miss_indications::MissIndications;
pub(super) use self::rack::Rack;
pub(super) use self::split::Split;
use super::flow::Flow;
use super::outstanding::Outstanding;
use super::recovery::FastRecovery;
use super::report::Report;
use crate::config::OvertakenSacks;
use crate::interface::PathId;

/// Decides which chunks in flight are lost.
pub(super) trait LossDetection: Debug + Send {
    /// The gap ack blocks of a SACK have been applied to `outstanding`: what is lost now is marked there by
    /// [`Outstanding::lose`].
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report);

    /// The receiver has dropped the chunk at `index`, which is in flight again (RFC 9260 §6.2.1 D iii).
    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report);

    /// A lost chunk has been sent again. `had_copy`: it had gone out by several paths, so that a duplicate of it will say nothing.
    fn on_sent_again(&mut self, _tsn: Tsn, _had_copy: bool, _outstanding: &mut Outstanding) {}

    /// The receiver has got the chunk `tsn` twice, says a SACK. All up to `acknowledged` is acknowledged, and `next` is sent next.
    fn on_duplicate(&mut self, _tsn: Tsn, _acknowledged: Tsn, _next: Tsn) {}

    /// A chunk that had been called lost on `path` has arrived by its first transmission, within `took` after that: SACKs that told of it may have
    /// been lost.
    fn on_late(&mut self, _now: Instant, _path: PathId, _took: Duration) {}

    /// It is [`due`](Self::due): what is lost now is marked in `outstanding`.
    fn on_time(&mut self, _met: Circumstances<'_>, _outstanding: &mut Outstanding, _report: &mut Report) {}

    /// When something in flight on `path` is lost unless a SACK tells otherwise.
    fn due(&self, _path: PathId) -> Option<Instant> {
        None
    }

    /// Whether there is such a path. Then SACKs are looked at that have no gap ack blocks, too.
    fn is_waiting(&self) -> bool {
        false
    }

    /// What had been called lost on `path` was late, and what has not been sent again is in flight.
    fn on_restored(&mut self, _path: PathId) {}

    /// `path` is no more.
    fn remove_path(&mut self, _path: PathId) {}
}

/// What a SACK meets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    /// When it came.
    pub(super) now: Instant,
    /// Fast Recovery as it was when the SACK came.
    pub(super) recovery: &'a dyn FastRecovery,
    pub(super) flows: &'a [Flow],
    pub(super) overtaken: OvertakenSacks,
    /// How many packets the receiver has got since its last SACK, if it says so (DAC); else 1.
    pub(super) packets: u32,
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
