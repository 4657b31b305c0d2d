//! What others may know of a sender.

use whimbrel_machine::Instant;
use whimbrel_wire::Tsn;

use super::chunk::ChunkState;
use super::flow::Flow;
use super::sender::{Sender, Totals};
use crate::auth::session::Auth;
use crate::interface::{PathCounters, PathId, PathView};
use crate::path::congestion::CongestionPhase;
use crate::path::{Path, PathIds, Paths};

impl Sender {
    /// A view of `path`; `in_use` says whether new data goes out on it.
    pub(crate) fn path_view(&self, path: &Path, primary: bool, in_use: bool) -> Option<PathView> {
        let flow = self.flow(path.id)?;
        let PathCounters {
            data_sent,
            data_retransmitted,
            timeouts,
            tail_probes,
            fast_retransmits,
            undone,
            ..
        } = flow.counters;
        Some(PathView {
            id: path.id,
            route: path.route,
            state: path.state,
            primary,
            in_use,
            srtt: path.rto.srtt(),
            rto: path.rto.current(),
            cwnd: flow.congestion.cwnd(),
            ssthresh: flow.congestion.ssthresh(),
            phase: flow.congestion.phase(),
            flight_size: self.outstanding.flight_size(path.id),
            pacing_rate: flow.congestion.pacing().map(|pacing| pacing.rate),
            packet_size: path.pmtu.size(),
            quality: path.supervision.quality.now(),
            capacity: path.supervision.estimates().capacity.estimate(),
            available: path.supervision.estimates().available.estimate(),
            error_count: path.error_count,
            counters: PathCounters {
                data_sent,
                data_retransmitted,
                timeouts,
                tail_probes,
                fast_retransmits,
                undone,
                ..path.counters
            },
        })
    }

    /// How often T3-rtx has expired or Fast Recovery begun on a path.
    pub(crate) fn congested(&self, path: PathId) -> Option<u64> {
        let PathCounters { timeouts, fast_retransmits, .. } = self.flow(path)?.counters;
        Some(timeouts + fast_retransmits)
    }

    /// Totals on all paths, those that are gone included.
    pub(crate) fn totals(&self) -> Totals {
        let add = |totals: Totals, flow: &Flow| Totals { data: totals.data.plus(&flow.counters), ..totals };
        self.flows.iter().fold(self.totals, add)
    }

    /// Outbound streams.
    pub(crate) fn stream_count(&self) -> u16 {
        self.streams.count()
    }

    /// Bytes of user data accepted and not acknowledged for good.
    pub(crate) fn undelivered(&self) -> usize {
        self.streams.queued() + self.outstanding.held_payload()
    }

    /// Whether new data uses `path` at present.
    pub(crate) fn uses(&self, paths: &Paths, path: PathId) -> bool {
        self.scheduler.in_use(paths).contains(&path)
    }

    /// Whether no new data waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }

    /// Whether everything sent has been acknowledged for good.
    pub(crate) fn is_all_acknowledged(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Whether chunks wait to be retransmitted.
    pub(crate) fn has_lost(&self) -> bool {
        self.outstanding.has_lost()
    }

    /// Whether a chunk is in flight on any path but this one.
    pub(crate) fn is_in_flight_elsewhere(&self, path: PathId) -> bool {
        self.flows.iter().any(|flow| flow.path != path && self.outstanding.flight_size(flow.path) > 0)
    }

    /// Whether a chunk is in flight on this path.
    pub(crate) fn has_in_flight(&self, path: PathId) -> bool {
        self.outstanding.flight_size(path) > 0
    }

    /// Whether the chunk with this TSN has been sent and neither been acknowledged nor lost.
    pub(crate) fn is_in_flight(&self, tsn: Tsn) -> bool {
        self.outstanding.get(tsn).is_some_and(|chunk| chunk.state == ChunkState::InFlight)
    }

    /// Whether the chunk with this TSN, which has been sent, has been acknowledged.
    pub(crate) fn is_acknowledged(&self, tsn: Tsn) -> bool {
        self.outstanding.get(tsn).is_none_or(|chunk| chunk.state == ChunkState::GapAcknowledged)
    }

    /// Everything up to and including this TSN has been acknowledged for good.
    pub(crate) fn cumulative_ack_point(&self) -> Tsn {
        self.outstanding.cumulative_ack_point()
    }

    /// TSN that the next new chunk gets.
    pub(crate) fn next_tsn(&self) -> Tsn {
        self.outstanding.next_tsn()
    }

    /// Whether any DATA has been sent, on any path.
    pub(crate) fn has_sent(&self) -> bool {
        self.flows.iter().any(|flow| flow.counters.data_sent > 0)
    }

    /// When DATA was last sent on `path`.
    pub(crate) fn last_sent(&self, path: PathId) -> Option<Instant> {
        self.flow(path)?.last_data
    }

    /// Whether something is in flight on `path`, and no more than so many congestion windows of `by` are large, or `least`.
    pub(crate) fn fits_windows(&self, path: PathId, by: PathId, windows: usize, least: usize) -> bool {
        let room = self.flow(by).map_or(0, |flow| flow.congestion.cwnd().saturating_mul(windows));
        (1..=room.max(least)).contains(&self.outstanding.flight_size(path))
    }

    /// Probes of the peer's closed window so far; 0 while it is open.
    pub(crate) fn window_probes(&self) -> u32 {
        self.window.probes
    }

    /// Whether no new data can go out before something is acknowledged or lost, however large the burst: for cwnd, or because the
    /// peer has no room. With nothing outstanding the latter takes a probe, which nobody has asked for yet (RFC 9260 §6.1 A).
    #[inline]
    pub(super) fn is_held_up(&mut self, paths: &Paths, auth: &Auth) -> bool {
        // Among several paths a message more may be what it takes to use one more.
        if self.combines_paths() {
            return self.is_stuck(paths, auth, Flow::is_window_full);
        }
        // This comes with every message.
        if let Some(held_up) = self.held_up {
            debug_assert_eq!(held_up, self.is_stuck(paths, auth, Flow::is_window_full));
            return held_up;
        }
        let held_up = self.is_stuck(paths, auth, Flow::is_window_full);
        self.held_up = Some(held_up);
        held_up
    }

    /// The user has no more: what is in flight says less about how fast the paths are.
    pub(super) fn note_app_limited(&mut self) {
        for flow in &mut self.flows {
            let flight = self.outstanding.on_the_way(flow.path);
            if !flow.is_window_full(flight) {
                flow.congestion.on_app_limited(flight);
            }
        }
    }

    /// Paths that start and have room, and are not given anything: what they carry is not all that they can.
    pub(super) fn note_passed_over(&mut self, paths: &Paths) {
        if !self.combines_paths() {
            return;
        }
        let offer = self.offer(paths);
        let in_use = self.scheduler.in_use(paths);
        let starts =
            |flow: &&Flow| in_use.contains(&flow.path) && flow.congestion.phase() == CongestionPhase::Startup;
        let with_room = offer.flows.iter().filter(starts).filter(|flow| offer.has_room(flow.path));
        let passed_over: PathIds = with_room.map(|flow| flow.path).collect();
        for path in passed_over {
            let flight = self.outstanding.on_the_way(path);
            if let Some(flow) = self.flow_mut(path) {
                flow.congestion.on_app_limited(flight);
            }
        }
    }

    /// When data may leave that waits for nothing but its pace.
    pub(crate) fn next_departure(&self) -> Option<Instant> {
        let held = |flow: &Flow| {
            let at = flow.next_departure()?;
            (!flow.is_window_full(self.outstanding.on_the_way(flow.path))).then_some(at)
        };
        let earliest = self.flows.iter().filter_map(held).min()?;
        (!self.streams.is_empty() || self.outstanding.has_lost()).then_some(earliest)
    }

    /// Whether no data can follow that which has just gone out, be it for want of data or of room. Nobody asks for the next packet then, so
    /// that controllers hear here that the user has no more.
    pub(crate) fn is_all_out(&mut self, now: Instant, paths: &Paths, auth: &Auth) -> bool {
        if self.has_copy(now, paths) || self.has_copy_to_doubted(now, paths, auth) {
            return false;
        }
        let offer = self.offer(paths);
        if offer.streams.is_empty() && !offer.outstanding.has_lost() {
            self.note_app_limited();
            return true;
        }
        self.is_stuck(paths, auth, |flow, flight| !flow.may_send(flight))
    }

    /// Whether nothing is lost and each path that new data may take is `full`, or the peer's window has no room for what is next
    /// even in a packet of its own, while something is outstanding.
    fn is_stuck(&mut self, paths: &Paths, auth: &Auth, full: impl Fn(&Flow, usize) -> bool) -> bool {
        if self.outstanding.has_lost() {
            return false;
        }
        let offer = self.offer(paths);
        let mut taken = offer.flows.iter().filter(|flow| self.scheduler.takes(&offer, flow.path)).peekable();
        let full =
            |flow: &Flow| full(flow, offer.outstanding.on_the_way(flow.path)) || !offer.has_share(flow.path);
        if taken.peek().is_some() && taken.all(full) {
            return true;
        }
        let fragment = self.fragment_size(paths, auth);
        !self.outstanding.is_empty() && self.next_piece_len(usize::MAX, fragment, true).is_none()
    }
}
