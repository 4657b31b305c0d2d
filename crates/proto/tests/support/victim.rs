//! An endpoint under attack, and everything that must hold after whatever is done to it.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed, Unreachable};
use whimbrel_proto::{AssociationId, Command, Config, Endpoint, Event, PathState};
use whimbrel_wire::{Chunk, Packet};

/// Packets in a train at most.
const MAX_SEGMENTS: usize = 16;
/// What may go unpaid to each address that is not confirmed: one small HEARTBEAT per path (RFC 9260 §5.4).
const UNPAID: usize = 2 * 100;
/// INIT ACK and ABORT are answers of their own size: cookie, addresses, causes.
const ANSWER: usize = 800;

/// A packet the endpoint has sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) route: Route,
    pub(crate) bytes: Vec<u8>,
}

/// The endpoint, its clock, and an account of what went in and came out.
pub(crate) struct Victim {
    endpoint: Endpoint,
    config: Arc<Config>,
    pub(crate) now: Instant,
    /// What it has sent since the peer last looked.
    pub(crate) sent: Vec<Sent>,
    pub(crate) deadline: Option<Instant>,
    /// Associations that are up.
    pub(crate) up: Vec<AssociationId>,
    /// Addresses of the peer that the user has named.
    named: BTreeSet<IpAddr>,
    data_chunks_in: usize,
    messages_out: usize,
    /// Bytes of received messages not yet released, by association.
    pub(crate) unreleased: BTreeMap<AssociationId, usize>,
    largest_message: usize,
}

/// What the present input entitles the endpoint to.
#[derive(Default)]
struct Entitlement {
    /// Bytes that came in, and from where.
    paid: Option<(IpAddr, usize)>,
    /// Chunks that came in.
    chunks: usize,
}

impl Victim {
    pub(crate) fn new(config: Config, locals: Vec<SocketAddr>) -> Self {
        config.validate().expect("a usable configuration");
        let config = Arc::new(config);
        Self {
            endpoint: Endpoint::new(Arc::clone(&config), Seed::from_u64(5), locals),
            config,
            now: Instant::from_nanos(1_000_000_000),
            sent: Vec::new(),
            deadline: None,
            up: Vec::new(),
            named: BTreeSet::new(),
            data_chunks_in: 0,
            messages_out: 0,
            unreleased: BTreeMap::new(),
            largest_message: 0,
        }
    }

    // ---- inputs

    pub(crate) fn deliver(&mut self, route: Route, bytes: &[u8]) {
        self.deliver_as(route, bytes, bytes);
    }

    /// Delivers a packet whose chunks are those of `clear`.
    pub(crate) fn deliver_as(&mut self, route: Route, bytes: &[u8], clear: &[u8]) {
        let before = self.confirmed();
        let mut chunks = 0;
        if let Ok(packet) = Packet::parse(clear) {
            chunks = packet.chunks().count();
            self.data_chunks_in += packet.chunks().filter(|c| matches!(c, Ok(Chunk::Data(_)))).count();
        }
        self.endpoint.handle_datagrams(self.now, route, bytes, bytes.len());
        self.settle(before, &Entitlement { paid: Some((route.remote.ip(), bytes.len())), chunks });
    }

    pub(crate) fn unreachable(&mut self, route: Route, reason: Unreachable, quoted: &[u8]) {
        let before = self.confirmed();
        self.endpoint.handle_unreachable(self.now, route, reason, quoted);
        self.settle(before, &Entitlement::default());
    }

    pub(crate) fn command(&mut self, command: Command) {
        let before = self.confirmed();
        match &command {
            Command::Connect { remote, .. } => self.named.extend(remote.iter().map(SocketAddr::ip)),
            Command::Send { message, .. } => {
                self.largest_message = self.largest_message.max(message.payload.len());
            }
            _ => {}
        }
        self.endpoint.handle_command(self.now, command);
        self.settle(before, &Entitlement::default());
    }

    /// Lets `duration` pass in one jump, as when the driver was suspended.
    pub(crate) fn jump(&mut self, duration: Duration) {
        let before = self.confirmed();
        self.now += duration;
        self.settle(before, &Entitlement::default());
    }

    /// Lets time pass up to the next deadline; false if there is none.
    pub(crate) fn pass_to_deadline(&mut self) -> bool {
        let Some(at) = self.deadline else { return false };
        self.jump(at.saturating_since(self.now));
        true
    }

    // ---- views

    pub(crate) fn association_count(&self) -> usize {
        self.endpoint.association_count()
    }

    /// The association that came up last.
    pub(crate) fn association(&self) -> Option<AssociationId> {
        self.up.last().copied()
    }

    pub(crate) fn paths(&self) -> Vec<whimbrel_proto::PathView> {
        self.association().map(|id| self.endpoint.paths(id)).unwrap_or_default()
    }

    /// Addresses known to be the peer's.
    fn confirmed(&self) -> BTreeSet<IpAddr> {
        let paths = self.endpoint.associations().flat_map(|(id, _)| self.endpoint.paths(id));
        paths.filter(|path| path.state != PathState::Unconfirmed).map(|path| path.route.remote.ip()).collect()
    }

    // ---- what must hold

    /// Drains every output as a driver does, and judges it.
    fn settle(&mut self, mut confirmed: BTreeSet<IpAddr>, entitlement: &Entitlement) {
        self.endpoint.handle_timeout(self.now);
        let sent = self.drain();
        let mut others = 0;
        let mut ended = false;
        while let Some(event) = self.endpoint.poll_event() {
            ended |= matches!(event, Event::Closed { .. } | Event::ConnectFailed { .. });
            others += usize::from(!self.note(event));
        }
        let paths = self.config.limits.paths * self.config.limits.associations;
        assert!(others <= 8 + 4 * entitlement.chunks + 8 * paths, "a storm of events");
        assert!(self.messages_out <= self.data_chunks_in, "messages out of nothing");
        confirmed.extend(self.confirmed());
        self.judge_sizes(&sent, &confirmed, entitlement, ended);
        self.sent.extend(sent);
        self.check_limits();
        self.deadline = self.endpoint.next_deadline();
        assert!(self.deadline.is_none_or(|at| at > self.now), "the deadline has passed already");
    }

    fn drain(&mut self) -> Vec<Sent> {
        // No message is cut into pieces of less than four bytes, and control packets are few.
        let pending: usize =
            self.up.iter().filter_map(|&id| self.endpoint.association_stats(id)).map(|s| s.send_queued).sum();
        let paths = self.config.limits.paths * self.config.limits.associations;
        let most = 300 + 4 * paths + pending / 4;
        let mut sent = Vec::new();
        let mut buffer = Vec::new();
        while let Some(transmit) = self.endpoint.poll_transmit(self.now, MAX_SEGMENTS, &mut buffer) {
            assert!(transmit.segment > 0 && !buffer.is_empty());
            assert!(buffer.len() <= MAX_SEGMENTS * transmit.segment);
            for bytes in buffer.chunks(transmit.segment) {
                check_packet(bytes);
                sent.push(Sent { route: transmit.route, bytes: bytes.to_vec() });
            }
            buffer.clear();
            assert!(sent.len() <= most, "no end of packets");
        }
        sent
    }

    /// Notes an event; true if it delivers data.
    fn note(&mut self, event: Event) -> bool {
        match event {
            Event::Up { association, .. } => self.up.push(association),
            Event::Closed { association, .. } => {
                self.up.retain(|&up| up != association);
                self.unreleased.remove(&association);
            }
            // The receive buffer begins anew, too.
            Event::Restarted { association, .. } => _ = self.unreleased.remove(&association),
            Event::Message { association, received } => {
                assert!(!received.payload.is_empty());
                self.messages_out += 1;
                *self.unreleased.entry(association).or_default() += received.payload.len();
                return true;
            }
            Event::Sent { bytes, .. } => assert!(bytes > 0),
            _ => {}
        }
        false
    }

    /// Nobody can be flooded through us: to an address that is not confirmed go small heartbeats and at most three
    /// bytes per byte that came from it, but for the answer to an INIT.
    fn judge_sizes(
        &self,
        sent: &[Sent],
        confirmed: &BTreeSet<IpAddr>,
        entitlement: &Entitlement,
        ended: bool,
    ) {
        let mut out: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for packet in sent {
            let remote = packet.route.remote.ip();
            let known = confirmed.contains(&remote) || self.named.contains(&remote);
            let parsed = Packet::parse(&packet.bytes).expect("checked before");
            let data = parsed.chunks().any(|chunk| matches!(chunk, Ok(Chunk::Data(_))));
            assert!(known || !data, "DATA to an address that is not confirmed (RFC 9260 §5.4)");
            if !known {
                *out.entry(remote).or_default() += packet.bytes.len();
            }
        }
        for (remote, bytes) in out {
            let paid = entitlement.paid.filter(|&(from, _)| from == remote).map_or(0, |(_, bytes)| bytes);
            let answer = if paid > 0 || ended { ANSWER } else { 0 };
            assert!(bytes <= UNPAID + 3 * paid + answer, "{bytes} bytes to {remote}, which sent {paid}");
        }
    }

    fn check_limits(&self) {
        let limits = &self.config.limits;
        assert!(self.endpoint.association_count() <= limits.associations);
        for &id in &self.up {
            let Some(stats) = self.endpoint.association_stats(id) else { continue };
            assert!(stats.receive_queued <= limits.receive_buffer, "the receive buffer overflows");
            assert!(stats.send_queued <= limits.send_buffer.max(self.largest_message));
            let paths = self.endpoint.paths(id);
            assert!(paths.len() <= limits.paths);
            assert_eq!(paths.iter().filter(|path| path.primary).count(), 1);
            for path in paths {
                assert!(path.flight_size <= 2 * limits.send_buffer.max(self.largest_message) * 17);
                assert!(path.cwnd > 0 && path.rto <= self.config.rto.max && path.rto >= self.config.rto.min);
                assert!((512..=self.config.pmtu.max).contains(&path.packet_size));
            }
        }
    }
}

/// What the endpoint writes is well-formed, checksum included.
pub(crate) fn check_packet(bytes: &[u8]) {
    let packet = Packet::parse(bytes).expect("a packet");
    assert!(packet.checksum_is_valid() || packet.checksum() == 0);
    let mut count = 0;
    for chunk in packet.chunks() {
        let chunk = chunk.expect("well-formed chunks only");
        let init = matches!(chunk, Chunk::Init(_));
        assert_eq!(packet.header().verification_tag == 0, init, "{chunk:?}");
        count += 1;
    }
    assert!(count > 0, "an empty packet");
}
