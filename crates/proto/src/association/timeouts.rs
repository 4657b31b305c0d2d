//! Timers of an open association (RFC 9260 §6.3.3).

use core::time::Duration;

use super::{Context, Handled, Open, protection};
use crate::config::TailLoss;
use crate::interface::{PathId, PathState};
use crate::path::Path;
use crate::timers::TimerId;

/// A path is far slower than another whose round trip takes so many times as long, and longer than this.
const FAR: u32 = 4;
const SLOW: Duration = Duration::from_millis(500);

/// Bytes that may be sent twice when a path works again whose window is small still.
const NOT_MUCH: usize = 65_536;

impl Open {
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_>, timer: TimerId) -> Handled {
        self.sender.opportunity();
        match timer {
            TimerId::T3Retransmit(path) => return self.handle_t3(context, path),
            TimerId::TailProbe(path) => self.handle_tail_probe(context, path),
            TimerId::Reordering(path) => return self.handle_reordering_timer(context, path),
            TimerId::Heartbeat(path) => self.handle_heartbeat_due(context, path),
            TimerId::HeartbeatTimeout(path) => return self.handle_heartbeat_timeout(context, path),
            TimerId::PmtuProbe(path) => self.handle_probe_timer(context, path),
            TimerId::SackDelay => self.receive.force_ack(),
            TimerId::StreamStopped => self.handle_stream_timer(context),
            TimerId::ZeroWindowProbe => self.sender.on_window_probe(),
            TimerId::T4Asconf => return self.handle_t4(context),
            TimerId::T2Shutdown => return self.handle_t2(context),
            TimerId::T5ShutdownGuard => return Err(self.shutdown_took_too_long()),
            // The opportunity is all.
            TimerId::Pacing => {}
            TimerId::KeyExchange => return Err(protection::late_keys()),
            TimerId::SilentKeyExchange => return self.expect_keys(context),
            TimerId::KeysAge => self.renew_keys(context),
            TimerId::KeysDrain => self.drain_keys(context),
            TimerId::T1Init | TimerId::T1Cookie => {}
        }
        Ok(())
    }

    /// A path works again: what is in flight has waited long enough once it has waited an RTO that is not backed off. The backing
    /// off was for a network that did not answer (RFC 9260 §6.3.3 E2); it does now.
    pub(crate) fn hasten_retransmissions(&self, context: &mut Context<'_>) {
        for path in self.paths.iter() {
            let timer = TimerId::T3Retransmit(path.id);
            let Some(deadline) = context.timers.deadline(timer) else { continue };
            let Some(sent) = self.sender.last_sent(path.id) else { continue };
            let at = (sent + path.rto.without_back_off()).max(context.now);
            if deadline > at {
                context.timers.set(timer, at);
            }
        }
    }

    /// This path works again, or at all: what was sent by those that are silent goes out by it. Those that have failed were a last resort, or carried a
    /// copy in case that they work; on others T3-rtx has expired and nothing has been measured since, or a probe has not been answered and a HEARTBEAT
    /// asks. An answer that they bring after all costs no more than what was sent twice.
    ///
    /// One that has an address in common with it may have begun to work at the same moment, and have answers on the way to what left since then:
    /// they have the time that answers took before.
    pub(crate) fn take_over(&mut self, context: &mut Context<'_>, id: PathId) {
        if context.config.retransmission.tail != TailLoss::Probe || self.sender.window_probes() > 0 {
            return;
        }
        let Some(first) = self.paths.get(id) else { return };
        let route = first.route;
        let mut late = Vec::new();
        let asked = |path: &Path| self.sender.is_probed(path.id) && path.supervision.heartbeat.is_some();
        let silent = |path: &&Path| {
            let works = path.state == PathState::Active && !path.rto.is_backed_off() && !asked(path);
            path.id != id && !works
        };
        for path in self.paths.iter().filter(silent) {
            let Some(sent) = self.sender.last_sent(path.id) else { continue };
            let apart =
                path.route.local.ip() != route.local.ip() && path.route.remote.ip() != route.remote.ip();
            let round_trip = first.rto.srtt().or(path.rto.srtt()).unwrap_or_default();
            if apart || sent + round_trip < context.now {
                late.push(path.id);
                continue;
            }
            let timer = TimerId::T3Retransmit(path.id);
            let overdue = sent + path.rto.probe_timeout().unwrap_or_else(|| path.rto.without_back_off());
            if context.timers.deadline(timer).is_some_and(|at| overdue < at) {
                context.timers.set(timer, overdue.max(context.now));
            }
        }
        late.extend(self.far_slower(id));
        late.into_iter().for_each(|path| self.give_up(context, path));
    }

    /// New data goes by another path from now on: what is on its way by one that is far slower goes out again by it.
    pub(crate) fn leave_far_slower(&mut self, context: &mut Context<'_>, id: PathId) {
        let probing = context.config.retransmission.tail == TailLoss::Probe;
        if probing && self.sender.window_probes() == 0 {
            self.far_slower(id).into_iter().for_each(|path| self.give_up(context, path));
        }
    }

    /// The paths by which all that is on its way takes far longer than by `id`, new data's path, though it were sent again: everything that was sent after it waits for it
    /// at the receiver.
    fn far_slower(&self, id: PathId) -> Vec<PathId> {
        let in_use = self.paths.get(id).filter(|_| self.data_path() == id && !self.sender.combines_paths());
        let Some(quick) = in_use.and_then(|path| path.rto.srtt()) else { return Vec::new() };
        let slow = |path: &Path| {
            // Where a queue fills the average lags behind.
            let lately = path.supervision.quality.now().delay.map(|delay| delay.least);
            let round_trip = path.rto.srtt()?.max(lately.unwrap_or_default());
            if round_trip <= (FAR * quick).max(SLOW) {
                return None;
            }
            // Half of the time that it takes by the slow path.
            let windows = round_trip.as_nanos() / (2 * quick.as_nanos()).max(1);
            let fits = self.sender.fits_windows(path.id, id, windows as usize, NOT_MUCH);
            fits.then_some(path.id)
        };
        let others = self.paths.iter().filter(|path| path.id != id && path.state == PathState::Active);
        others.filter_map(slow).collect()
    }

    /// How long T3-rtx of a path runs from now on. What is in flight on a path that has failed goes out again by one that works, which the path's
    /// backing off does not concern.
    pub(crate) fn t3_wait(&self, context: &Context<'_>, path: &Path) -> Duration {
        let works = |id| self.paths.get(id).is_some_and(|other| other.state == PathState::Active);
        let fails = path.state != PathState::Active && context.config.retransmission.tail == TailLoss::Probe;
        if fails && works(self.data_path()) { path.rto.without_back_off() } else { path.rto.current() }
    }

    /// T3-rtx expired on a path (RFC 9260 §6.3.3 E1 to E4).
    fn handle_t3(&mut self, context: &mut Context<'_>, id: PathId) -> Handled {
        self.primary.rule.on_timeout();
        let largest = self.sender.largest_in_flight(id);
        let error = self.sender.on_timeout(id);
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        path.rto.back_off();
        if error {
            path.pmtu.on_timeout(largest);
            self.sender.on_packet_size(id, path.pmdcs());
            // Whatever becomes of the path: where its size is in doubt, the answer comes with that to the packet of E3.
            self.pending_probe(context, id);
        }
        self.refresh_probe_timer(context, id);
        if error && (self.suspects(context, id) || self.is_proved_of_late(context, id)) {
            self.note_association_error(context)?;
        } else if error {
            self.note_path_error(context, id, true)?;
        }
        // E3: one packet is retransmitted at once, whatever the cwnd of the path it goes to.
        self.sender.force(&self.paths, id);
        self.notice_quality(context, id);
        Ok(())
    }

    /// What is in flight on a path is lost: it goes out again at once, without blame for the path.
    pub(crate) fn give_up(&mut self, context: &mut Context<'_>, path: PathId) {
        if self.sender.give_up(&self.paths, path) {
            context.timers.clear(TimerId::T3Retransmit(path));
        }
    }
}
