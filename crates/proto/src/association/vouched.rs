//! A new address of the peer that somebody whom both hosts trust vouches for (paper d10, section V.A): some data may go there before a heartbeat has been
//! answered.
//!
//! RFC 9260 §5.4 lets no data go to an address that has not been confirmed, so that nobody has a host flood another. Here the user answers for the address, up
//! to a number of bytes, and no more than once until the address has answered: whoever has the ear of the user, and names an address that is somebody else's,
//! has that many bytes sent there, once in the life of the association.

use core::net::IpAddr;

use super::{Context, Open};
use crate::interface::{PathId, PathState};
use crate::path::{Egress, Path};

/// Whether somebody vouches for an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Vouching {
    /// Nobody does, and somebody may.
    #[default]
    None,
    /// So many more bytes may go by this path.
    For { path: PathId, left: usize },
    /// Nobody can, until the address that was vouched for last has answered.
    Used(IpAddr),
}

impl Open {
    /// The address is the peer's, and `bytes` may go there before it has answered.
    pub(crate) fn vouch(&mut self, context: &mut Context<'_>, address: IpAddr, bytes: usize) {
        let local = self.route_in_use().local.ip();
        let leads = |path: &&Path| path.route.remote.ip() == address && path.egress == Egress::Open;
        let ways = || self.paths.iter().filter(leads);
        let way = ways().find(|path| path.route.local.ip() == local).or_else(|| ways().next());
        let Some(path) = way.filter(|path| !path.confirmed && bytes >= path.packet_size()) else { return };
        let id = path.id;
        if self.notes.vouching != Vouching::None || self.is_confirmed(address) || self.heartbeats_are_over() {
            return;
        }
        self.notes.vouching = Vouching::For { path: id, left: bytes };
        if let Some(path) = self.paths.get_mut(id) {
            path.supervision.set_vouched(true);
        }
        // Ahead of the data, so that it answers as soon as it can.
        self.send_heartbeat_on(context, id);
        self.change_path_state(context, id, PathState::Active);
    }

    /// So many bytes leave by this path.
    pub(crate) fn count_vouched(&mut self, id: PathId, bytes: usize) {
        if let Vouching::For { path, left } = &mut self.notes.vouching
            && *path == id
        {
            *left = left.saturating_sub(bytes);
        }
    }

    /// An address whose bytes have been used up has to answer first, as any other.
    pub(crate) fn end_used_vouching(&mut self, context: &mut Context<'_>) {
        let Vouching::For { path: id, left } = self.notes.vouching else { return };
        if self.paths.get(id).is_some_and(|path| left < path.packet_size()) {
            self.end_vouching(context, id);
        }
    }

    /// The heartbeat that went ahead of the data has not been answered in time: whoever is to come there is late. What has left may wait for it in the network; more of it, and
    /// repetitions, would only wait behind that, and nothing would find out that the path has failed.
    pub(crate) fn vouched_is_silent(&mut self, context: &mut Context<'_>, id: PathId) {
        if matches!(self.notes.vouching, Vouching::For { path, .. } if path == id) {
            self.end_vouching(context, id);
        }
    }

    fn end_vouching(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.supervision.set_vouched(false);
        self.notes.vouching = Vouching::Used(path.route.remote.ip());
        self.change_path_state(context, id, PathState::Unconfirmed);
        self.notice_path_in_use(context);
    }

    /// What a peer that has begun anew may have vouched for: no more than before, or whoever names an address that is somebody else's would have the same bytes sent there again
    /// after each restart.
    pub(crate) fn vouching_after_restart(&self) -> Vouching {
        match self.notes.vouching {
            Vouching::For { path, .. } => {
                self.paths.get(path).map_or(Vouching::None, |path| Vouching::Used(path.route.remote.ip()))
            }
            other => other,
        }
    }

    /// The path has answered, so that nobody need vouch for it.
    pub(crate) fn vouched_has_answered(&mut self, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.supervision.set_vouched(false);
        let answered = match self.notes.vouching {
            Vouching::None => false,
            Vouching::For { path, .. } => path == id,
            Vouching::Used(address) => address == path.route.remote.ip(),
        };
        if answered {
            self.notes.vouching = Vouching::None;
        }
    }

    /// The path is gone without an answer.
    pub(crate) fn vouched_is_gone(&mut self, id: PathId, address: IpAddr) {
        if matches!(self.notes.vouching, Vouching::For { path, .. } if path == id) {
            self.notes.vouching = Vouching::Used(address);
        }
    }

    /// See [`Self::vouching_after_restart`]. An address from which the peer has begun anew has answered.
    pub(crate) fn vouch_as_before(&mut self, before: Vouching) {
        let answered = matches!(before, Vouching::Used(address) if self.is_confirmed(address));
        self.notes.vouching = if answered { Vouching::None } else { before };
    }

    /// Whether packets leave one by one, as there may not be many more.
    pub(crate) const fn counts_bytes(&self) -> bool {
        matches!(self.notes.vouching, Vouching::For { .. })
    }
}
