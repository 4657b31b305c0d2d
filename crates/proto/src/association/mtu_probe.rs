//! When a path's MTU is probed for (RFC 8899). The probes are HEARTBEATs, which [`heartbeat`](super::heartbeat) writes.

use super::{Closing, Context, Open};
use crate::interface::{PathId, PathState};
use crate::path::MtuProbe;
use crate::send::report::PathChange;
use crate::timers::TimerId;

impl Open {
    /// The timer of the path MTU search expired.
    pub(crate) fn handle_probe_timer(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else { return };
        path.mtu_probe = None;
        path.pmtu.on_probe_lost(context.now);
        self.sender.on_packet_size(id, path.pmdcs());
        // A probe is a HEARTBEAT, too, and those end with SHUTDOWN and SHUTDOWN ACK (RFC 9260 §8.3).
        if matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_)) {
            return;
        }
        if path.state == PathState::Active {
            self.pending_probe(context, id);
        }
        self.refresh_probe_timer(context, id);
    }

    /// What a SACK tells of packets on a path: they may have become too large for it (RFC 8899 §4.3).
    pub(crate) fn judge_packet_size(&mut self, context: &mut Context<'_>, change: &PathChange) {
        let Some(path) = self.paths.get_mut(change.path) else { return };
        if path.pmtu.on_packets(&change.sizes) {
            self.sender.on_packet_size(change.path, path.pmdcs());
            self.pending_probe(context, change.path);
            self.refresh_probe_timer(context, change.path);
        }
    }

    /// Writes a path MTU probe soon, if one is due.
    pub(crate) fn pending_probe(&mut self, context: &mut Context<'_>, id: PathId) {
        let nonce = context.rng.next_u64();
        let Some(path) = self.paths.get_mut(id) else { return };
        if let Some(size) = path.pmtu.probe_due(context.now) {
            path.pmtu.on_probe_sent(size, context.now, path.rto.without_back_off());
            path.mtu_probe = Some(MtuProbe { nonce, size, written: false });
        }
    }

    /// The first data goes out: from now on it matters how large packets may be, on standby paths too, since the
    /// chunks of the association are cut for its smallest path.
    pub(crate) fn start_pmtu_search(&mut self, context: &mut Context<'_>) {
        let ids: Vec<PathId> = self.paths.iter().map(|path| path.id).collect();
        for id in ids {
            self.refresh_probe_timer(context, id);
        }
    }

    pub(crate) fn refresh_probe_timer(&mut self, context: &mut Context<'_>, id: PathId) {
        // RFC 8899 §4.3: probing may wait for data. Most packets of an association that only exists would be probes.
        let data = self.sender.has_sent() && !self.auth.is_pending();
        let Some(path) = self.paths.get(id) else { return };
        match path.pmtu.deadline() {
            // A path that has failed is left to heartbeats; its search goes on when it is active again. To an address that is vouched for nothing goes but data.
            Some(at) if path.state == PathState::Active && path.confirmed && data => {
                context.timers.set(TimerId::PmtuProbe(id), at.max(context.now))
            }
            _ => context.timers.clear(TimerId::PmtuProbe(id)),
        }
    }
}
