//! Which path carries what (RFC 9260 §6.4, RFC 7829 §3.2). Each rule is a small trait, so that an idea is one file.

use core::fmt::Debug;

use super::{Path, Paths};
use crate::interface::{PathId, PathState};

/// Chooses the path for new data.
pub(crate) trait PathChoice: Debug + Send {
    /// `None` only when no path is usable.
    fn for_new_data(&self, paths: &Paths) -> Option<PathId>;
}

/// Chooses the path for a chunk that was lost by a timeout on another path.
pub(crate) trait RetransmissionChoice: Debug + Send {
    /// `lost_on` may no longer exist.
    fn for_retransmission(&self, paths: &Paths, lost_on: PathId) -> Option<PathId>;

    /// Where a chunk goes that was lost by miss indications: the same path again, while that is active and new data goes there,
    /// too. A path that new data has left is one that the user or the peer has given up: what it lost must not wait for its T3-rtx.
    fn for_fast_retransmission(&self, paths: &Paths, lost_on: PathId) -> Option<PathId> {
        let current = PrimaryPath.for_new_data(paths).filter(|&id| is_active(paths, id));
        match current {
            Some(current) if current != lost_on => Some(current),
            _ if is_active(paths, lost_on) => Some(lost_on),
            _ => self.for_retransmission(paths, lost_on),
        }
    }
}

/// New data goes to the primary path, or to the best alternative while the primary has failed
/// (RFC 9260 §6.4.1, RFC 7829 §3.2).
#[derive(Debug)]
pub(crate) struct PrimaryPath;

impl PathChoice for PrimaryPath {
    fn for_new_data(&self, paths: &Paths) -> Option<PathId> {
        let primary = paths.get(paths.primary());
        if let Some(primary) = primary.filter(|p| p.state == PathState::Active && p.is_usable()) {
            return Some(primary.id);
        }
        best(paths, primary, Path::is_usable)
    }
}

/// A timed-out chunk goes to an active path other than the one it was lost on (RFC 9260 §6.4): RTX by RFC.
#[derive(Debug)]
pub(crate) struct AlternatePath;

impl RetransmissionChoice for AlternatePath {
    fn for_retransmission(&self, paths: &Paths, lost_on: PathId) -> Option<PathId> {
        let from = paths.get(lost_on);
        let alternate = best(paths, from, |p| p.is_usable() && p.id != lost_on)
            .and_then(|id| paths.get(id))
            .filter(|p| p.state == PathState::Active);
        match (alternate, from) {
            (Some(alternate), _) => Some(alternate.id),
            (None, Some(same)) if same.state == PathState::Active && same.is_usable() => Some(same.id),
            _ => best(paths, from, Path::is_usable),
        }
    }
}

/// Retransmissions go where new data goes: alternates exist only while a mobile host changes networks (paper c04 section 2.2).
#[derive(Debug)]
pub(crate) struct PrimaryOnly;

impl RetransmissionChoice for PrimaryOnly {
    fn for_retransmission(&self, paths: &Paths, _lost_on: PathId) -> Option<PathId> {
        PrimaryPath.for_new_data(paths)
    }

    fn for_fast_retransmission(&self, paths: &Paths, lost_on: PathId) -> Option<PathId> {
        self.for_retransmission(paths, lost_on)
    }
}

fn is_active(paths: &Paths, id: PathId) -> bool {
    paths.get(id).is_some_and(|path| path.state == PathState::Active)
}

/// The best usable path: active before potentially failed before inactive, fewest errors, then the one most
/// divergent from `failed` (RFC 9260 §6.4.1), then the primary, then the oldest.
fn best(paths: &Paths, failed: Option<&Path>, usable: impl Fn(&Path) -> bool) -> Option<PathId> {
    let rank = |p: &Path| {
        let state = match p.state {
            PathState::Active => 0,
            PathState::PotentiallyFailed => 1,
            PathState::Inactive => 2,
            PathState::Unconfirmed => 3,
        };
        let shared = failed.map_or(0, |f| {
            u8::from(f.route.local.ip() == p.route.local.ip())
                + u8::from(f.route.remote.ip() == p.route.remote.ip())
        });
        // Among active paths a few errors do not matter more than taking a really different way.
        let errors = if state == 0 { 0 } else { p.error_count };
        (state, errors, shared, p.id != paths.primary(), p.id)
    };
    paths.iter().filter(|p| usable(p)).min_by_key(|p| rank(p)).map(|p| p.id)
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
