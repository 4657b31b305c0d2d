//! What is lost without a SACK that says so: after timeouts, and on paths that are gone (RFC 9260 §6.3.3).

use core::time::Duration;

use super::chunk::Loss;
use super::report::T3;
use super::sender::Sender;
use crate::interface::PathId;
use crate::path::Paths;

impl Sender {
    /// T3-rtx has expired on `path`: what was in flight there is lost (RFC 9260 §6.3.3 E1, E3). Returns whether this counts as an
    /// error; it does not where the peer keeps its window closed but answers (§6.1 A). What the association does then may decide where the data goes again, so
    /// [`Self::force`] is to be called afterwards.
    pub(crate) fn on_timeout(&mut self, path: PathId) -> bool {
        let earliest = self.outstanding.earliest_in_flight(path).and_then(|tsn| self.outstanding.get(tsn));
        let error = !self.window.on_timeout(earliest.map(|chunk| chunk.payload_len()));
        self.outstanding.lose_all(path);
        if let Some(flow) = self.flow_mut(path) {
            flow.forget_flight();
            flow.counters.timeouts += 1;
            flow.beside_mut().loss_rate.on_lost(1);
            if error {
                flow.note_guess(None);
                flow.congestion.on_timeout();
                flow.one_packet = true;
            }
        }
        // A timeout repairs what fast recovery could not; slow start must be able to grow again.
        self.recovery.end(path);
        self.forget_probe(path);
        self.check();
        error
    }

    /// What is in flight on `path` is lost: it goes out again at once, as after T3-rtx (RFC 9260 §6.3.3 E3), but without
    /// blame for the path, whose congestion window stays as it is. False if nothing was in flight; else T3-rtx of the path is to
    /// be stopped.
    pub(crate) fn give_up(&mut self, paths: &Paths, path: PathId) -> bool {
        if !self.outstanding.lose_all(path) {
            return false;
        }
        if let Some(flow) = self.flow_mut(path) {
            flow.forget_flight();
        }
        // The losses are known now, all of them: slow start must be able to grow while they are repaired.
        self.recovery.end(path);
        self.forget_probe(path);
        self.force(paths, path);
        self.opportunity();
        self.check();
        true
    }

    /// What is in flight on `path` in packets of more than `size` bytes does not get through: it goes out again at once in smaller ones. Returns what
    /// becomes of T3-rtx of the path; `None` if there was no such packet.
    pub(crate) fn lose_larger(&mut self, path: PathId, size: usize) -> Option<T3> {
        if !self.outstanding.lose_larger(path, size) {
            return None;
        }
        let t3 = self.guard(path, None);
        if self.outstanding.flight_size(path) == 0
            && let Some(flow) = self.flow_mut(path)
        {
            flow.forget_flight();
        }
        self.forget_probe(path);
        self.opportunity();
        self.check();
        Some(t3)
    }

    /// A heartbeat that went when what was in flight on `path` was called lost has been answered after `took`: if that is longer than the
    /// timer had waited, or than `usual` where that was T3-rtx, what was called lost was late, too.
    pub(crate) fn judge_guess(&mut self, path: PathId, took: Duration, usual: Option<Duration>) {
        let Some(flow) = self.flow_mut(path) else { return };
        if flow.verdicts.overdue_after().or(usual).is_some_and(|waited| took > waited) {
            flow.undo_guess();
            self.opportunity();
        } else {
            _ = flow.verdicts.take_guess();
        }
    }

    /// Bytes of the largest packet in flight on `path`, that of the chunk which a tail probe has sent again included.
    pub(crate) fn largest_in_flight(&self, path: PathId) -> usize {
        let probed = self.tail.filter(|probe| probe.path == path).map_or(0, |probe| probe.packet);
        self.outstanding.largest_in_flight(path).max(probed)
    }

    /// How many packets have been lost on `path` since this was last asked.
    pub(crate) fn take_lost(&mut self, path: PathId) -> u32 {
        self.outstanding.take_lost(path)
    }

    /// One packet of what was lost on `lost_on` goes at once, whatever the window of the path it goes to (RFC 9260 §6.3.3 E3).
    pub(crate) fn force(&mut self, paths: &Paths, lost_on: PathId) {
        let target = self.retransmission_path(paths, lost_on, Loss::Timeout);
        if let Some(flow) = target.and_then(|target| self.flow_mut(target)) {
            flow.forced = true;
        }
        self.check();
    }

    /// Nothing leaves by `path` any more: what was in flight there is lost, and its T3-rtx has been stopped.
    pub(crate) fn silence(&mut self, paths: &Paths, path: PathId) {
        self.give_up(paths, path);
        self.forget_probe(path);
        if let Some(flow) = self.flow_mut(path) {
            flow.forget_flight();
            flow.one_packet = false;
        }
        self.check();
    }

    /// Where a chunk that was lost on `lost_on` is retransmitted (RFC 9260 §6.4); `None` only when no path is usable.
    pub(crate) fn retransmission_path(&self, paths: &Paths, lost_on: PathId, loss: Loss) -> Option<PathId> {
        self.retransmission.path(&self.offer(paths), lost_on, loss)
    }
}
