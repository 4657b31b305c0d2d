//! A SACK arrives (RFC 9260 §6.2.1, §7.2.4).

use whimbrel_wire::{Cause, Sack, Tsn};

use super::context::{Context, Ending};
use super::open::Open;
use super::shutdown::Closing;
use crate::interface::{CloseReason, PathId, PathState};
use crate::path::congestion::Acked;
use crate::send::outstanding::{ChunkState, SackError};
use crate::send::sack_report::{PathAcks, PathProof, SackReport};
use crate::timers::TimerId;

impl Open {
    pub(crate) fn handle_sack(&mut self, context: &mut Context<'_>, sack: &Sack<'_>) -> Result<(), Ending> {
        // RFC 9260 §6: discarded once everything is acknowledged and SHUTDOWN or SHUTDOWN ACK is on its way.
        if matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_)) {
            return Ok(());
        }
        let gaps = sack.gap_ack_blocks().map(|block| (block.start, block.end));
        let cumulative = sack.cumulative_tsn_ack;
        let report = match self.outstanding.on_sack(cumulative, gaps, self.fast_recovery.is_some()) {
            Ok(report) => report,
            // RFC 9260 §6.2.1 D i: overtaken on the way.
            Err(SackError::Old) => return Ok(()),
            Err(SackError::NeverSent) => return Err(never_sent()),
        };
        self.apply(context, cumulative, &report);
        self.with_primary_change(|rule, open| rule.on_sack(open, context));
        // RFC 9260 §6.2.1 D ii.
        let a_rwnd = sack.a_rwnd as usize;
        self.window.rwnd = a_rwnd.saturating_sub(self.outstanding.in_flight_payload());
        self.window.largest = self.window.largest.max(a_rwnd);
        self.window.advertised = a_rwnd;
        let next = self.outstanding.get(self.outstanding.cumulative_ack_point().next());
        if next.is_some_and(|chunk| chunk.payload.len() > a_rwnd) {
            // The peer cannot acknowledge anything now, but it is there (RFC 9260 §6.1 A, §8.1). Where several paths
            // time out in turn, some do so between two of its answers.
            self.error_count = 0;
        }
        self.window.peer_answers = true;
        if self.window.rwnd > 0 {
            self.window.probes = 0;
            self.window.probe_allowed = false;
            context.timers.clear(TimerId::ZeroWindowProbe);
        }
        Ok(())
    }

    /// The Cumulative TSN Ack of a SHUTDOWN; it says nothing about gaps (RFC 9260 §3.3.8).
    pub(crate) fn handle_cumulative_ack(
        &mut self,
        context: &mut Context<'_>,
        cumulative: Tsn,
    ) -> Result<(), Ending> {
        match self.outstanding.acknowledge_up_to(cumulative) {
            Ok(report) => self.apply(context, cumulative, &report),
            Err(SackError::Old) => {}
            Err(SackError::NeverSent) => return Err(never_sent()),
        }
        Ok(())
    }

    fn apply(&mut self, context: &mut Context<'_>, cumulative: Tsn, report: &SackReport) {
        self.totals.released += report.released;
        let was_recovering = self.fast_recovery.is_some();
        for acks in &report.paths {
            self.credit(context, acks, cumulative, report.cumulative_advanced, was_recovering);
        }
        if report.any_acked {
            // RFC 9260 §8.1.
            self.error_count = 0;
        }
        // RFC 9260 §6.2.1 D iv.
        if self.fast_recovery.is_some_and(|exit| exit.at_or_before(cumulative)) {
            self.fast_recovery = None;
        }
        if report.paths.iter().any(|acks| acks.lost > 0) {
            self.begin_fast_retransmit(report);
        }
        for acks in &report.paths {
            self.rearm_t3(context, acks.path);
        }
    }

    /// What the SACK means for one path: congestion window, RTT, error counter.
    fn credit(
        &mut self,
        context: &mut Context<'_>,
        acks: &PathAcks,
        cumulative: Tsn,
        cumulative_advanced: bool,
        in_fast_recovery: bool,
    ) {
        let timed_acked = self.paths.get(acks.path).and_then(|path| path.timed).filter(|(tsn, _)| {
            tsn.at_or_before(cumulative)
                || self.outstanding.get(*tsn).is_some_and(|chunk| chunk.state == ChunkState::GapAcknowledged)
        });
        let all_acknowledged = self.outstanding.is_empty();
        let Some(path) = self.paths.get_mut(acks.path) else { return };
        let flight_size_before = path.utilised;
        path.flight_size = (path.flight_size + acks.reneged).saturating_sub(acks.in_flight_acked);
        if acks.acked == 0 {
            return;
        }
        path.acked_since_burst += acks.acked;
        path.one_packet = false;
        if cumulative_advanced {
            path.data_timeouts = 0;
        }
        if let Some((_, sent_at)) = timed_acked {
            path.timed = None;
            path.rto.on_measurement(context.now.saturating_since(sent_at));
        }
        path.congestion.on_acked(&Acked {
            now: context.now,
            bytes: acks.acked,
            flight_size_before,
            rtt: acks.youngest.map(|sent_at| context.now.saturating_since(sent_at)),
            cumulative_advanced,
            in_fast_recovery,
            all_acknowledged,
        });
        // RFC 9260 §8.2; RFC 7829 §3.2 rules 9 and 10: a chunk sent on several paths proves none of them. One that was
        // acknowledged after its timeout leaves the verdict to the heartbeat sent then (rule 6), if they are not off.
        let proved = match acks.proof {
            PathProof::None => false,
            PathProof::Late => context.config.heartbeat.interval.is_none(),
            PathProof::InTime => true,
        };
        if proved {
            path.error_count = 0;
            if matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive) {
                self.change_path_state(context, acks.path, PathState::Active);
            }
        }
    }

    /// RFC 9260 §7.2.4: chunks have been reported missing three times.
    fn begin_fast_retransmit(&mut self, report: &SackReport) {
        let entering = self.fast_recovery.is_none();
        if entering {
            self.fast_recovery = Some(self.outstanding.highest_tsn());
        }
        for acks in report.paths.iter().filter(|acks| acks.lost > 0) {
            let Some(path) = self.paths.get_mut(acks.path) else { continue };
            path.flight_size = path.flight_size.saturating_sub(acks.lost);
            if entering {
                path.congestion.on_fast_retransmit();
                path.counters.fast_retransmits += 1;
                // Step 3: one packet goes at once, whatever cwnd says.
                path.forced = true;
            }
        }
    }

    /// T3-rtx of a path after its chunks changed (RFC 9260 §6.3.2 R2, R3, R4).
    pub(crate) fn rearm_t3(&mut self, context: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id) else { return };
        let still_first = path.earliest.is_some_and(|earliest| {
            self.outstanding
                .get(earliest)
                .is_some_and(|chunk| chunk.state == ChunkState::InFlight && chunk.path == id)
        });
        let timer = TimerId::T3Retransmit(id);
        if still_first && path.flight_size > 0 {
            if !context.timers.is_set(timer) {
                context.timers.set(timer, context.now + path.rto.current());
            }
            return;
        }
        let earliest = if path.flight_size > 0 { self.outstanding.earliest_in_flight(id) } else { None };
        let rto = path.rto.current();
        match earliest {
            Some(_) => context.timers.set(timer, context.now + rto),
            None => context.timers.clear(timer),
        }
        if let Some(path) = self.paths.get_mut(id) {
            path.earliest = earliest;
        }
    }
}

/// RFC 5062 §5: a receiver that acknowledges what was never sent lies, so as to make us send faster.
fn never_sent() -> Ending {
    const WHAT: &str = "acknowledgement of a TSN that was never sent";
    Ending::abort(CloseReason::ProtocolViolation(WHAT), &[Cause::ProtocolViolation(WHAT.as_bytes())])
}
