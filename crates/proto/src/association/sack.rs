//! What a SACK means for paths, timers and error counters (RFC 9260 §6.2.1, §6.3.2, §8).

use whimbrel_machine::Route;
use whimbrel_path::Arrival;
use whimbrel_wire::draft::NrSack;
use whimbrel_wire::{RawChunk, Tsn, UnknownAction};

use super::inbound::PacketNews;
use super::one_way::note_way_of_answer;
use super::packet_train::note_delivered;
use super::{Closing, Context, Ending, Handled, Open};
use crate::config::TailLoss;
use crate::interface::{PathId, PathState};
use crate::send::SackError;
use crate::send::report::{PathChange, PathProof, Report, T3};
use crate::timers::TimerId;

impl Open {
    pub(crate) fn handle_sack(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        sack: &NrSack<'_>,
    ) -> Handled {
        // RFC 9260 §6: discarded once everything is acknowledged and SHUTDOWN or SHUTDOWN ACK is on its way.
        if matches!(self.closing, Closing::Sent(_) | Closing::AckSent(_)) {
            return Ok(());
        }
        let by = if self.sender.combines_paths() { self.paths.by_route(route) } else { None };
        let report = self.sender.on_sack(context.now, sack, by);
        let told = self.apply(context, report, Some(route))?;
        let Some(Report { refused, .. }) = told else { return Ok(()) };
        let reaction = self.primary.rule.on_sack(&self.sender);
        self.react(context, reaction);
        if refused {
            // The peer cannot acknowledge anything now, but it is there (RFC 9260 §6.1 A, §8.1). Where several paths
            // time out in turn, some do so between two of its answers.
            self.notes.error_count = 0;
        }
        Ok(())
    }

    /// A chunk of a type that no RFC has: an NR-SACK, if the peer has agreed to that, or one that is unknown. An NR-SACK that contradicts itself is ignored.
    /// False if the rest of the packet is to be ignored.
    pub(super) fn handle_unlisted(
        &mut self,
        context: &mut Context<'_>,
        route: Route,
        raw: &RawChunk<'_>,
        news: &mut PacketNews,
    ) -> Handled<bool> {
        if raw.chunk_type() != self.receive.sack_type() {
            return Ok(self.handle_unknown(route, raw, UnknownAction::from_high_bits(raw.chunk_type())));
        }
        match NrSack::read(raw) {
            Some(sack) if news.admits_sack() => self.handle_sack(context, route, &sack).map(|()| true),
            _ => Ok(true),
        }
    }

    /// The Cumulative TSN Ack of a SHUTDOWN; it says nothing about gaps (RFC 9260 §3.3.8). Peers exist that fill it in wrongly: what was
    /// never sent is not acknowledged by it, and SACKs go on to tell what has arrived.
    pub(crate) fn handle_cumulative_ack(&mut self, context: &mut Context<'_>, cumulative: Tsn) -> Handled {
        if self.sender.is_all_acknowledged() {
            return Ok(());
        }
        let report = match self.sender.on_cumulative_ack(context.now, cumulative) {
            Err(SackError::NeverSent) => return Ok(()),
            report => report,
        };
        self.apply(context, report, None).map(|_| ())
    }

    /// Packets of a path have had time to be out of order: what has not come since is lost (RFC 8985 §6.2).
    pub(crate) fn handle_reordering_timer(&mut self, context: &mut Context<'_>, id: PathId) -> Handled {
        let report = self.sender.on_reordering_timer(context.now, id);
        self.apply(context, Ok(report), None).map(|_| ())
    }

    /// Draws the consequences of what has come by `route`, and yields what they followed from; `None` if there are none.
    fn apply(
        &mut self,
        context: &mut Context<'_>,
        report: Result<Report, SackError>,
        route: Option<Route>,
    ) -> Handled<Option<Report>> {
        let report = match report {
            Ok(report) => report,
            // RFC 9260 §6.2.1 D i: overtaken on the way.
            Err(SackError::Old) => return Ok(None),
            // RFC 5062 §5: a receiver that acknowledges what was never sent lies, so as to make us send faster.
            Err(SackError::NeverSent) => {
                return Err(Ending::violation("acknowledgement of a TSN that was never sent"));
            }
            Err(SackError::Withdrawn) => {
                return Err(Ending::violation("no acknowledgement of a TSN that was to be kept"));
            }
        };
        for change in &report.paths {
            self.apply_to_path(context, change, route);
            self.judge_packet_size(context, change);
        }
        if let Some(id) = report.ask {
            self.ask_patiently(context, id);
        }
        if let Some(lost) = report.tail_lost {
            self.handle_tail_lost(context, lost);
        }
        if report.paths.iter().any(|change| change.acked > 0) {
            // RFC 9260 §8.1.
            self.notes.error_count = 0;
        }
        for change in &report.paths {
            if let Some(path) = self.paths.get(change.path) {
                // What was lost with the tail may have been all, or have been given up.
                let t3 = if self.sender.has_in_flight(change.path) { change.t3 } else { T3::Stop };
                self.set_t3(context, change.path, t3, self.t3_wait(context, path));
            }
            context.timers.follow(TimerId::Reordering(change.path), change.reordering);
            self.notice_quality(context, change.path);
        }
        Ok(Some(report))
    }

    /// RTO and error counter of one path.
    fn apply_to_path(&mut self, context: &mut Context<'_>, change: &PathChange, route: Option<Route>) {
        let Some(path) = self.paths.get_mut(change.path) else { return };
        if let Some(rtt) = change.measured {
            path.on_measurement(context.now, rtt, &mut self.notes.round_trips);
        }
        if change.packets > 0 {
            let &PathChange { packets, acked: bytes, round_trip, full, waiting, youngest, .. } = change;
            let arrival = Arrival { packets, bytes, round_trip, full, waiting };
            youngest.into_iter().for_each(|sent_at| self.notes.sent_again.on_answer(sent_at));
            path.supervision.quality.on_acknowledged(context.now, &arrival);
            note_delivered(context, path, change);
        }
        // RFC 9260 §8.2; RFC 7829 §3.2 rules 9 and 10: a chunk sent on several paths proves none of them. One that was
        // acknowledged after its timeout leaves the verdict to the heartbeat sent then (rule 6), if they are not off.
        let proved = match change.proof {
            PathProof::None => false,
            PathProof::Late => context.config.heartbeat.interval.is_none(),
            PathProof::InTime => true,
        };
        if proved {
            path.error_count = 0;
            // Where several paths carry data SACKs come by any of them.
            if let Some(route) = route.filter(|_| !self.sender.combines_paths()) {
                note_way_of_answer(path, route);
            }
            // What the answer to a tail-loss probe acknowledges besides may have arrived just before the path failed.
            let sent = change.youngest.max(change.sent_again).unwrap_or(context.now);
            let due = sent + path.rto.long_round_trip().unwrap_or_default();
            path.supervision.proved = path.supervision.proved.max(Some(due.min(context.now)));
            if change.round_trip.is_some_and(|took| self.judge_answer(context.now, change.path, took)) {
                self.send_heartbeat_on(context, change.path);
            }
            self.trust(context, change.path);
            let Some(path) = self.paths.get(change.path) else { return };
            if matches!(path.state, PathState::PotentiallyFailed | PathState::Inactive) {
                self.change_path_state(context, change.path, PathState::Active);
                // As when a HEARTBEAT is answered.
                if context.config.retransmission.tail == TailLoss::Probe {
                    self.hasten_retransmissions(context);
                }
            }
        }
    }
}
