//! Which path carries the next new DATA: the trait, and the rule of RFC 9260. One rule per file.

mod primary_path;

use core::fmt::Debug;

pub(super) use self::primary_path::PrimaryPath;
use super::flow::Flow;
use super::outstanding::Outstanding;
use super::streams::OutboundStreams;
use crate::interface::PathId;
use crate::path::Paths;

/// Distributes new DATA over the paths. A scheduler may keep state, such as whose turn it is.
pub(super) trait Scheduler: Debug + Send {
    /// Whether new data may take `path` now, if its windows have room; false for all only when no path is usable.
    fn takes(&self, offer: &Offer<'_>, path: PathId) -> bool;

    /// The path of the next packet. It is sent if the window of that path has room, else nothing is for now.
    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId>;
}

/// What paths and streams could carry, for rules that choose between paths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer<'a> {
    pub(super) paths: &'a Paths,
    pub(super) flows: &'a [Flow],
    pub(super) outstanding: &'a Outstanding,
    pub(super) streams: &'a OutboundStreams,
}
