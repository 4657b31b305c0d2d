//! Which path control chunks take, and how paths are ranked (RFC 9260 §6.4, RFC 7829 §3.2).

use super::{Path, Paths};
use crate::interface::{PathId, PathState};

/// The path for control chunks: the primary path, or the best alternative while the primary has failed (RFC 9260 §6.4.1,
/// RFC 7829 §3.2). `None` only when no path is usable.
pub(crate) fn control_path(paths: &Paths) -> Option<PathId> {
    let primary = paths.get(paths.primary());
    if let Some(primary) =
        primary.filter(|p| p.state == PathState::Active && !p.doubt.is_any() && p.is_usable())
    {
        return Some(primary.id);
    }
    best(paths, primary, Path::is_usable)
}

/// The best of the paths that `allowed` names: active before doubted before potentially failed before inactive, fewest errors, then the one
/// most divergent from `failed` (RFC 9260 §6.4.1), then the primary, then the oldest.
pub(crate) fn best(paths: &Paths, failed: Option<&Path>, allowed: impl Fn(&Path) -> bool) -> Option<PathId> {
    let rank = |p: &Path| {
        let state = match p.state {
            PathState::Active if !p.doubt.is_any() => 0,
            PathState::Active => 1,
            PathState::PotentiallyFailed => 2,
            PathState::Inactive => 3,
            PathState::Unconfirmed => 4,
        };
        let shared = failed.map_or(0, |f| {
            u8::from(f.route.local.ip() == p.route.local.ip())
                + u8::from(f.route.remote.ip() == p.route.remote.ip())
        });
        // Among active paths a few errors do not matter more than taking a really different way.
        let errors = if state == 0 { 0 } else { p.error_count };
        (state, errors, shared, p.id != paths.primary(), p.id)
    };
    paths.iter().filter(|p| allowed(p)).min_by_key(|p| rank(p)).map(|p| p.id)
}

#[cfg(test)]
#[path = "control_path_tests.rs"]
mod tests;
