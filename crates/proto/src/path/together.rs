//! Which paths carry new data together (concurrent multipath transfer).

use smallvec::SmallVec;

use super::{Path, Paths, control_path};
use crate::interface::{PathId, PathState};

/// Names of a few paths.
pub(crate) type PathIds = SmallVec<[PathId; 4]>;

/// The paths that carry new data together, the primary path first if it is one of them: those that are active and that nothing speaks against,
/// so that none that is potentially failed carries any (RFC 7829 §3.2). Where there is none, the least bad one does. Empty only when no path
/// is usable.
///
/// What is spent on a metered network costs money: paths from there take part only as the primary path, as which somebody has chosen them, or where all others have
/// failed.
///
/// Of two hosts with two addresses each, four pairs may work, and two of them lead over the same links as the other two. A path takes part only if one of its
/// addresses is no other's, those that share none with others before those that share one.
pub(crate) fn data_paths(paths: &Paths) -> PathIds {
    let mut chosen = PathIds::new();
    let takes_part = |path: &&Path| is_sound(path) && (path.id == paths.primary() || !paths.is_spared(path));
    for shared in [0, 1] {
        let primary = paths.get(paths.primary()).into_iter();
        for path in primary.chain(paths.iter()).filter(takes_part) {
            if !chosen.contains(&path.id) && shared_addresses(paths, &chosen, path) <= shared {
                chosen.push(path.id);
            }
        }
    }
    if chosen.is_empty() { control_path(paths).into_iter().collect() } else { chosen }
}

/// Whether nothing speaks against the path.
pub(crate) fn is_sound(path: &Path) -> bool {
    path.is_usable() && path.state == PathState::Active && !path.doubt.is_any()
}

/// How many of the two addresses of `path` are those of paths that have been `chosen`.
fn shared_addresses(paths: &Paths, chosen: &[PathId], path: &Path) -> u32 {
    let taken = |same: fn(&Path, &Path) -> bool| {
        u32::from(chosen.iter().filter_map(|&id| paths.get(id)).any(|other| same(other, path)))
    };
    taken(|a, b| a.route.local.ip() == b.route.local.ip())
        + taken(|a, b| a.route.remote.ip() == b.route.remote.ip())
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
