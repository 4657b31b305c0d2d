use core::time::Duration;

use whimbrel_machine::Instant;
use whimbrel_path::Pacing;
use whimbrel_wire::Tsn;

use super::acknowledge::LONGEST_ROUND_TRIP;
use super::flow::Flow;
use super::growth::{self, Advance, Growth};
use super::loss::{LossDetection, MissIndications, Rack, Split};
use super::outstanding::Outstanding;
use super::recovery::{FastRecovery, RecoveryOfAssociation, RecoveryOfPath, RecoveryOfPathAlone};
use super::retransmit::{self, RetransmissionRule};
use super::scheduler::{self, Offer, Scheduler, Share};
use super::streams::OutboundStreams;
use super::tail::TailProbe;
use super::window::PeerWindow;
use crate::auth::session::Auth;
use crate::config::{
    BufferSplit, BurstLimit, Config, LossDetection as LossConfig, MultipathConfig, RecoveryScope,
    RetransmissionConfig, SackRequests,
};
use crate::interface::{Message, PathCounters, PathId, SendError};
use crate::path::{Path, Paths, congestion::NewPath};

/// The sending half of an association: what waits in the streams, what is outstanding, the peer's window, and what is known of
/// each path as far as sending goes.
///
/// It starts no timers and changes no RTO and no path state: what an acknowledgement has changed is answered with a report, from which
/// the association draws its consequences. `send/mod.rs` says which file has what.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(super) streams: OutboundStreams,
    pub(super) outstanding: Outstanding,
    /// One for each path of the association, in the same order.
    pub(super) flows: Vec<Flow>,
    pub(super) window: PeerWindow,
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) retransmission: Box<dyn RetransmissionRule>,
    pub(super) loss: Box<dyn LossDetection>,
    pub(super) recovery: Box<dyn FastRecovery>,
    growth: Box<dyn Growth>,
    /// The rules that are no objects.
    pub(super) repair: RetransmissionConfig,
    multipath: MultipathConfig,
    asks_for_sacks: bool,
    /// See [`LONGEST_ROUND_TRIP`].
    longest_round_trip: Duration,
    /// Bytes of user data that may be undelivered, at most.
    send_buffer: usize,
    /// Chunks are cut to fit packets of this many bytes, a multiple of 4, whatever the paths carry.
    cut_for: Option<usize>,
    burst: BurstLimit,
    /// The Initial TSN, a random number of the association.
    first_tsn: Tsn,
    /// A new transmission opportunity is due: bursts start afresh (RFC 9260 §6.1 D).
    opportunity: bool,
    /// Whether windows held new data up when that was last looked at; `None` if something has happened since.
    pub(super) held_up: Option<bool>,
    /// The tail-loss probe that has not been answered yet.
    pub(super) tail: Option<TailProbe>,
    pub(super) totals: Totals,
    #[cfg(any(test, fuzzing, debug_assertions))]
    unchecked_calls: usize,
}

/// Outstanding chunks that [`Sender::check`] walks in a call, on average.
#[cfg(any(test, fuzzing, debug_assertions))]
const CHECKED_PER_CALL: usize = 32;

/// Totals of an association.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// What the user has handed over.
    pub(crate) messages: u64,
    /// Bytes of these.
    pub(crate) bytes: u64,
    /// What was sent on paths that are gone.
    pub(crate) data: PathCounters,
    /// Acknowledged bytes of user data that the user has not been told of.
    pub(super) released: usize,
}

impl Sender {
    /// The sender of an association whose first TSN is `initial_tsn`, to a peer with a window of `a_rwnd` bytes.
    pub(crate) fn new(
        config: &Config,
        paths: &Paths,
        initial_tsn: Tsn,
        outbound_streams: u16,
        a_rwnd: u32,
    ) -> Self {
        let repair = &config.retransmission;
        let mut sender = Self {
            streams: OutboundStreams::new(outbound_streams, (config.streams.scheduler)()),
            outstanding: Outstanding::new(initial_tsn),
            flows: Vec::with_capacity(paths.len()),
            window: PeerWindow::new(a_rwnd),
            scheduler: scheduler::scheduler(config.multipath.scheduler),
            retransmission: retransmit::rule(repair.path),
            loss: match repair.loss {
                LossConfig::MissIndications(threshold) => Box::new(MissIndications::new(threshold)),
                LossConfig::SplitMissIndications(threshold) => Box::new(Split::new(threshold)),
                LossConfig::Rack(threshold) => Box::new(Rack::new(threshold)),
            },
            recovery: match repair.recovery {
                RecoveryScope::Association => Box::<RecoveryOfAssociation>::default(),
                RecoveryScope::Path => Box::<RecoveryOfPath>::default(),
                RecoveryScope::PathAlone => Box::<RecoveryOfPathAlone>::default(),
            },
            growth: growth::rule(config.multipath.growth),
            repair: repair.clone(),
            multipath: config.multipath.clone(),
            asks_for_sacks: config.sack.requests == SackRequests::WhereTheSenderWaits,
            longest_round_trip: config.rto.max.max(LONGEST_ROUND_TRIP),
            send_buffer: config.limits.send_buffer,
            cut_for: config.pmtu.cut_for.map(|bytes| bytes & !3),
            burst: config.congestion.burst,
            first_tsn: initial_tsn,
            opportunity: true,
            held_up: None,
            tail: None,
            totals: Totals::default(),
            #[cfg(any(test, fuzzing, debug_assertions))]
            unchecked_calls: 0,
        };
        paths.iter().for_each(|path| sender.add_path(config, path));
        sender
    }

    // ---- inputs

    /// The association has one path more.
    pub(crate) fn add_path(&mut self, config: &Config, path: &Path) {
        let fresh = config.fresh_path(path.route);
        let initial_window = fresh.and_then(|fresh| fresh.initial_window);
        let congestion = config.congestion.controller.controller(&NewPath {
            pmdcs: path.pmdcs(),
            ipv6: path.route.remote.is_ipv6(),
            initial_window: initial_window.unwrap_or(config.congestion.initial_window),
            ssthresh: fresh.and_then(|fresh| fresh.ssthresh),
            seed: u64::from(self.first_tsn.0) << 32 | u64::from(path.id.0),
        });
        self.flows.push(Flow::new(path.id, congestion));
        self.begin_trial(path.id);
        self.outstanding.add_path(path.id);
        self.check();
    }

    /// A path is no more. It has been silenced before ([`Self::silence`]).
    pub(crate) fn path_gone(&mut self, path: PathId) {
        self.held_up = None;
        for flow in self.flows.iter().filter(|flow| flow.path == path) {
            self.totals.data = self.totals.data.plus(&flow.counters);
        }
        self.flows.retain(|flow| flow.path != path);
        self.outstanding.remove_path(path);
        self.recovery.remove_path(path);
        self.loss.remove_path(path);
        self.growth.remove_path(path);
        self.forget_probe(path);
        self.check();
    }

    /// The largest DATA chunk that fits a packet of a path has changed, in bytes with its header (RFC 9260 §7.3).
    pub(crate) fn on_packet_size(&mut self, path: PathId, pmdcs: usize) {
        self.held_up = None;
        if let Some(flow) = self.flow_mut(path) {
            flow.congestion.on_packet_size(pmdcs);
        }
        self.check();
    }

    /// Something has happened that may let more data out.
    pub(crate) fn opportunity(&mut self) {
        self.opportunity = true;
        self.held_up = None;
    }

    // ---- commands

    /// Queues a message; true if something may be sent because of that, false if it waits behind others that wait for a window.
    /// `limit` is the most user data that may be undelivered, in bytes.
    ///
    /// # Errors
    /// [`SendError`], with the message.
    #[inline]
    pub(crate) fn send(
        &mut self,
        paths: &Paths,
        message: Message,
        limit: usize,
        auth: &Auth,
    ) -> Result<bool, (Message, SendError)> {
        let undelivered = self.undelivered();
        let refusal = if message.stream.0 >= self.streams.count() {
            SendError::NoSuchStream
        } else if message.payload.is_empty() {
            SendError::Empty
        } else if undelivered > 0 && undelivered + message.payload.len() > limit {
            // A message larger than the whole buffer is let into an empty one: it could never be sent otherwise.
            SendError::BufferFull
        } else {
            self.totals.messages += 1;
            self.totals.bytes += message.payload.len() as u64;
            let first = self.streams.is_empty();
            self.streams.push(message);
            self.note_more();
            self.opportunity = true;
            self.check();
            return Ok(first || !self.is_held_up(paths, auth));
        };
        Err((message, refusal))
    }

    /// Whether that can be a round trip, see [`LONGEST_ROUND_TRIP`].
    pub(super) fn is_round_trip(&self, took: Duration) -> bool {
        took <= self.longest_round_trip
    }

    /// Queues a message of the association's own for stream 0. Nothing that is queued on another stream goes before it.
    pub(crate) fn send_ahead(&mut self, message: Message) {
        self.streams.push_ahead(message);
        self.opportunity = true;
        self.held_up = None;
        self.check();
    }

    /// Installs a congestion window and a slow-start threshold on a path; `None` leaves a value as it is.
    pub(crate) fn install(&mut self, path: PathId, cwnd: Option<usize>, ssthresh: Option<usize>) {
        self.held_up = None;
        let Some(flow) = self.flow_mut(path).filter(|_| cwnd.or(ssthresh).is_some()) else { return };
        let cwnd = cwnd.unwrap_or_else(|| flow.congestion.cwnd());
        let ssthresh = ssthresh.unwrap_or_else(|| flow.congestion.ssthresh());
        flow.congestion.install(cwnd, ssthresh);
        self.check();
    }

    /// New data goes over to `path`, which was measured to hold `window` bytes of DATA and to carry `rate` of them a second. One that has learnt its window from data of its own
    /// keeps that if it is larger.
    pub(crate) fn start_up(
        &mut self,
        path: PathId,
        window: usize,
        rate: u64,
        pmdcs: usize,
        round_trip: Duration,
    ) {
        self.held_up = None;
        let unused = self.outstanding.flight_size(path) == 0;
        let Some(flow) = self.flow_mut(path).filter(|_| unused) else { return };
        let learnt = if flow.last_data.is_some() { flow.congestion.cwnd() } else { 0 };
        if learnt < window {
            flow.congestion.install(window, window);
            flow.start_at(Pacing::at(rate, pmdcs), round_trip);
            self.opportunity = true;
        }
        self.check();
    }

    /// Opens the burst limit of every path, once per opportunity (RFC 9260 §6.1 D).
    pub(crate) fn open_bursts(&mut self, now: Instant, paths: &Paths) {
        if core::mem::take(&mut self.opportunity) {
            self.end_trials(now, paths);
            for (flow, path) in self.flows.iter_mut().zip(paths.iter()) {
                debug_assert_eq!(flow.path, path.id);
                self.outstanding.forget_late(path.id, now, path.rto.current());
                let flight = self.outstanding.on_the_way(flow.path);
                flow.open_burst(now, self.burst, flight, path.pmdcs(), self.recovery.covers(flow.path));
            }
            self.check();
        }
    }

    /// What all paths together have learnt that may be in flight, in bytes.
    pub(crate) fn window(&self) -> usize {
        self.flows.iter().map(|flow| flow.congestion.learnt_cwnd()).fold(0, usize::saturating_add)
    }

    /// Takes the bytes of user data that have been acknowledged for good and that the user has not been told of.
    pub(crate) fn take_released(&mut self) -> usize {
        core::mem::take(&mut self.totals.released)
    }

    /// The time has come to probe the peer's closed window (RFC 9260 §6.1 A).
    pub(crate) fn on_window_probe(&mut self) {
        self.held_up = None;
        if self.is_all_acknowledged() && !self.streams.is_empty() {
            self.window.allow_probe();
        }
        self.check();
    }

    /// Fast Recovery ends on `path`.
    pub(crate) fn end_recovery(&mut self, path: PathId) {
        self.recovery.end(path);
        self.check();
    }

    // ---- shared

    /// The packets in bytes that chunks are cut to fit, whatever the paths carry.
    pub(super) fn cut_for(&self) -> Option<usize> {
        self.cut_for
    }

    pub(super) fn asks_for_sacks(&self) -> bool {
        self.asks_for_sacks
    }

    /// The scheduler and what it may look at.
    pub(super) fn scheduling<'a>(&'a mut self, paths: &'a Paths) -> (&'a mut dyn Scheduler, Offer<'a>) {
        let (room, share, buffers) = (self.room(), self.share(paths), self.buffers());
        let Self { scheduler, flows, outstanding, streams, .. } = self;
        (&mut **scheduler, Offer { paths, flows, outstanding, streams, room, buffers, share })
    }

    pub(super) fn offer<'a>(&'a self, paths: &'a Paths) -> Offer<'a> {
        let (room, share, buffers) = (self.room(), self.share(paths), self.buffers());
        let Self { flows, outstanding, streams, .. } = self;
        Offer { paths, flows, outstanding, streams, room, buffers, share }
    }

    /// Bytes of user data that may leave before something is acknowledged for good.
    pub(super) fn room(&self) -> usize {
        let of_peer = self.window.left(self.outstanding.in_flight_payload());
        of_peer.min(self.send_buffer.saturating_sub(self.outstanding.held_payload()))
    }

    /// The smaller one of the buffers of both ends, in bytes.
    pub(super) fn buffers(&self) -> usize {
        self.window.largest.min(self.send_buffer)
    }

    /// What one path may fill of the buffers of both ends. A path that has nothing outstanding may always send.
    fn share(&self, paths: &Paths) -> Share {
        let split = self.multipath.buffers;
        if split == BufferSplit::None || !self.multipath.scheduler.combines() {
            return Share::WHOLE;
        }
        let count = self.scheduler.in_use(paths).len().max(1);
        let part = |splits: bool, whole: usize| if splits { (whole / count).max(1) } else { usize::MAX };
        Share {
            outstanding: part(split != BufferSplit::Receive, self.send_buffer),
            in_flight: part(split != BufferSplit::Send, self.window.advertised()),
        }
    }

    /// How several paths carry data at once.
    #[inline]
    pub(super) fn multipath(&self) -> &MultipathConfig {
        &self.multipath
    }

    /// A SACK newly acknowledges something on `path`, and has advanced the Cumulative TSN Ack Point or not: whether the window may grow, and whether
    /// the lowest chunk in flight on the path has arrived.
    pub(super) fn judge_advance(&mut self, path: PathId, cumulative: bool) -> (bool, bool) {
        let lowest = self.flow(path).and_then(|flow| flow.guarded);
        let advance = Advance { cumulative, lowest, outstanding: &self.outstanding };
        (self.growth.grows(path, &advance), advance.of_path())
    }

    /// As [`Self::judge_advance`] where one path at a time carries data: whether its window may grow.
    #[inline]
    pub(super) fn grows_on_one_path(&self, cumulative: bool) -> bool {
        self.growth.grows_on_one_path(cumulative)
    }

    /// Whether several paths may carry data at once.
    pub(crate) fn combines_paths(&self) -> bool {
        self.multipath.scheduler.combines()
    }

    pub(super) fn flow(&self, path: PathId) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.path == path)
    }

    pub(super) fn flow_mut(&mut self, path: PathId) -> Option<&mut Flow> {
        self.flows.iter_mut().find(|flow| flow.path == path)
    }

    #[cfg(not(any(test, fuzzing, debug_assertions)))]
    #[inline]
    pub(super) fn check(&mut self) {}

    /// [`Sender::invariants`], after every call as long as little is outstanding, and seldom enough otherwise that a call walks
    /// [`CHECKED_PER_CALL`] chunks on average: with thousands outstanding, tests took ten times as long.
    #[cfg(any(test, fuzzing, debug_assertions))]
    pub(super) fn check(&mut self) {
        self.unchecked_calls += 1;
        if self.unchecked_calls * CHECKED_PER_CALL >= self.outstanding.len() {
            self.unchecked_calls = 0;
            self.invariants();
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
