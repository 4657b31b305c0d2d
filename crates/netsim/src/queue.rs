//! What waits in front of a bottleneck, and which packet is sent next. One discipline per file.

mod drop_tail;
mod per_flow;

use core::fmt::Debug;

use whimbrel_machine::{Instant, Route};

use crate::bottleneck::Bottleneck;
use crate::{LinkConfig, QueueLimit, Queueing};

pub(crate) use self::drop_tail::DropTail;
pub(crate) use self::per_flow::PerFlow;

/// A packet that comes to a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comer<'a> {
    /// As on the link.
    pub(crate) bytes: u64,
    /// Which flow it belongs to.
    pub(crate) flow: &'a Route,
    /// What its owner calls it.
    pub(crate) ticket: u32,
}

/// What becomes of a packet that comes to a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Admission {
    /// There is no room.
    Full,
    /// Its last bit leaves the bottleneck then, whatever comes after it.
    Departs(Instant),
    /// When it is sent depends on what comes: [`Queue::serve`] says so when it begins.
    Waits,
}

/// A queueing discipline.
pub(crate) trait Queue: Debug + Send {
    /// A packet comes.
    fn admit(
        &mut self,
        now: Instant,
        comer: &Comer<'_>,
        limit: QueueLimit,
        bottleneck: &mut Bottleneck,
    ) -> Admission;

    /// Gives a bottleneck that is free one of the packets that wait, of those that were told to. Returns its ticket and when
    /// its last bit leaves.
    fn serve(&mut self, now: Instant, bottleneck: &mut Bottleneck) -> Option<(u32, Instant)>;

    /// Whether there is something to serve.
    fn is_waiting(&self) -> bool;

    /// Packets and bytes that wait at `now`, without the packet being sent.
    fn waiting(&mut self, now: Instant) -> (usize, u64);

    /// The bottleneck's rate has changed: what would have left at a time leaves when `stretch` says. Without a rate nothing
    /// is left of what had a time.
    fn retime(&mut self, stretch: &dyn Fn(Instant) -> Instant, bottleneck: &Bottleneck);

    /// All that waits is lost.
    fn clear(&mut self);

    /// Checks what must hold between calls; for tests.
    fn invariants(&self, bottleneck: &Bottleneck);
}

/// The empty queue of a direction.
pub(crate) fn new(config: &LinkConfig) -> Box<dyn Queue> {
    match config.queueing {
        Queueing::DropTail => Box::new(DropTail::default()),
        Queueing::PerFlow => Box::new(PerFlow::new(u64::from(config.mtu) + u64::from(config.frame_overhead))),
    }
}
