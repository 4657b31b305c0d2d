use super::{Offer, RetransmissionRule};
use crate::interface::{PathId, PathState};
use crate::path::{Path, Paths, best, control_path};
use crate::send::chunk::Loss;

/// After T3-rtx another active path (RFC 9260 §6.4). What SACKs show to be missing goes out on its path again while that is
/// active and new data goes there, too: a path that new data has left is one that the user or the peer has given up, and what
/// it lost must not wait for its T3-rtx. The same goes for what T3-rtx called lost on a path that has worked again since: the alternate may be far slower.
#[derive(Debug)]
pub(in crate::send) struct AlternatePath;

impl RetransmissionRule for AlternatePath {
    fn path(&self, offer: &Offer<'_>, lost_on: PathId, loss: Loss) -> Option<PathId> {
        let paths = offer.paths;
        if matches!(loss, Loss::Missing | Loss::Outage) {
            let current = control_path(paths).filter(|&id| is_active(paths, id));
            match current {
                Some(current) if current != lost_on => return Some(current),
                _ if is_active(paths, lost_on) => return Some(lost_on),
                _ => {}
            }
        }
        let from = paths.get(lost_on);
        let alternate = best(paths, from, |p| p.is_usable() && p.id != lost_on);
        match (alternate.filter(|&id| is_active(paths, id)), from) {
            (Some(alternate), _) => Some(alternate),
            (None, Some(same)) if same.state == PathState::Active && same.is_usable() => Some(same.id),
            _ => best(paths, from, Path::is_usable),
        }
    }
}

fn is_active(paths: &Paths, id: PathId) -> bool {
    paths.get(id).is_some_and(|path| path.state == PathState::Active)
}
