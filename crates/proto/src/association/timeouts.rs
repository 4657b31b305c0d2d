//! Timers of an open association (RFC 9260 §6.3.3).

use super::context::{Context, Ending};
use super::open::Open;
use crate::interface::PathId;
use crate::timers::TimerId;

impl Open {
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_>, timer: TimerId) -> Result<(), Ending> {
        self.opportunity();
        match timer {
            TimerId::T3Retransmit(path) => {
                self.primary_change.on_timeout();
                self.handle_t3(context, path)
            }
            TimerId::Heartbeat(path) => {
                self.handle_heartbeat_due(context, path);
                Ok(())
            }
            TimerId::HeartbeatTimeout(path) => self.handle_heartbeat_timeout(context, path),
            TimerId::PmtuProbe(path) => {
                self.handle_probe_timer(context, path);
                Ok(())
            }
            TimerId::SackDelay => {
                self.receive.force_ack();
                Ok(())
            }
            TimerId::ZeroWindowProbe => {
                self.window.probe_allowed = true;
                self.window.probes = self.window.probes.saturating_add(1);
                Ok(())
            }
            TimerId::T4Asconf => self.handle_t4(context),
            TimerId::T2Shutdown => self.handle_t2(context),
            TimerId::T5ShutdownGuard => Err(self.shutdown_took_too_long()),
            TimerId::T1Init | TimerId::T1Cookie => Ok(()),
        }
    }

    /// A path works again: what is in flight has waited long enough once it has waited an RTO that is not backed off. The backing
    /// off was for a network that did not answer (RFC 9260 §6.3.3 E2); it does now.
    pub(crate) fn hasten_retransmissions(&mut self, context: &mut Context<'_>) {
        for path in self.paths.iter() {
            let timer = TimerId::T3Retransmit(path.id);
            let Some(sent) = path.last_data.filter(|_| context.timers.is_set(timer)) else { continue };
            let at = (sent + path.rto.without_back_off()).max(context.now);
            if context.timers.deadline(timer).is_some_and(|deadline| deadline > at) {
                context.timers.set(timer, at);
            }
        }
    }

    /// T3-rtx expired on a path (RFC 9260 §6.3.3 E1 to E4).
    fn handle_t3(&mut self, context: &mut Context<'_>, id: PathId) -> Result<(), Ending> {
        // Probes of a window that the peer keeps closed, but answers, are no errors (RFC 9260 §6.1 A).
        // A chunk for which the window has become too small is such a probe, too.
        let earliest = self.outstanding.earliest_in_flight(id).and_then(|tsn| self.outstanding.get(tsn));
        let refused = earliest.is_none_or(|chunk| chunk.payload.len() > self.window.advertised);
        let probing = refused && core::mem::take(&mut self.window.peer_answers);
        if probing && self.window.probes > 0 {
            self.window.probes = self.window.probes.saturating_add(1);
        }
        let Some(path) = self.paths.get_mut(id) else { return Ok(()) };
        path.earliest = None;
        path.timed = None;
        path.counters.timeouts += 1;
        path.rto.back_off();
        let lost = self.outstanding.mark_timed_out(id);
        path.flight_size = path.flight_size.saturating_sub(lost);
        if !probing {
            path.congestion.on_timeout();
            path.one_packet = true;
            path.data_timeouts = path.data_timeouts.saturating_add(1);
            path.pmtu.on_consecutive_timeouts(path.data_timeouts);
            path.congestion.on_packet_size(path.pmdcs());
        }
        // A timeout repairs what fast recovery could not; slow start must be able to grow again.
        self.fast_recovery = None;
        self.refresh_probe_timer(context, id);
        if !probing {
            self.note_path_error(context, id, true)?;
        }
        // E3: one packet is retransmitted at once, whatever the cwnd of the path it goes to.
        if let Some(target) = self.retransmission_choice.for_retransmission(&self.paths, id)
            && let Some(path) = self.paths.get_mut(target)
        {
            path.forced = true;
        }
        Ok(())
    }
}
