//! How a SACK tells what is lost: the trait, and the rule of RFC 9260. One rule per file.

mod miss_indications;

use core::fmt::Debug;

pub(super) use self::miss_indications::MissIndications;
use super::outstanding::Outstanding;
use super::recovery::FastRecovery;
use super::report::Report;

/// Decides which chunks in flight are lost.
pub(super) trait LossDetection: Debug + Send {
    /// The gap ack blocks of a SACK have been applied to `outstanding`: what is lost now is marked there by
    /// [`Outstanding::lose`].
    fn on_sack(&mut self, sack: &SackNews<'_>, outstanding: &mut Outstanding, report: &mut Report);

    /// The receiver has dropped the chunk at `index`, which is in flight again (RFC 9260 §6.2.1 D iii).
    fn on_reneged(&mut self, index: usize, outstanding: &mut Outstanding, report: &mut Report);
}

/// What the gap ack blocks of a SACK have said. Chunks are named by their index, 0 for the lowest TSN outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct SackNews<'a> {
    /// One more than the highest index acknowledged.
    pub(super) end: usize,
    /// One more than the highest index newly acknowledged: the HTNA (RFC 9260 §7.2.4); 0 if there is none.
    pub(super) newly_end: usize,
    /// Fast Recovery as it was when the SACK came.
    pub(super) recovery: &'a dyn FastRecovery,
}
