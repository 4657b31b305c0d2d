use super::{Offer, Scheduler};
use crate::interface::PathId;
use crate::path::{PathIds, Paths, control_path};

/// All new data goes to the primary path, or to the best alternative while the primary has failed (RFC 9260 §6.4.1,
/// RFC 7829 §3.2): just where control chunks go.
#[derive(Debug)]
pub(in crate::send) struct PrimaryPath;

impl Scheduler for PrimaryPath {
    fn in_use(&self, paths: &Paths) -> PathIds {
        control_path(paths).into_iter().collect()
    }

    fn takes(&self, offer: &Offer<'_>, path: PathId) -> bool {
        control_path(offer.paths) == Some(path)
    }

    fn next(&mut self, offer: &Offer<'_>) -> Option<PathId> {
        control_path(offer.paths)
    }
}
