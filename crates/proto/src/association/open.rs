use core::net::SocketAddr;
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route};
use whimbrel_wire::draft::CHUNK_NR_SACK;

use super::asconf::{Asconf, mobility, peer_may_choose};
use super::dormant::SentAgain;
use super::locals::Locals;
use super::missing_state::Strangers;
use super::pairing;
use super::peer_init::remotes;
use super::primary_change::Primary;
use super::protection::protection;
use super::replies::Replies;
use super::silence::Tries;
use super::stopped_stream::Stream;
use super::translation::known_after_handshake;
use super::vouched::Vouching;
use super::{Closing, Context, Identity};
use crate::auth::session::Auth;
use crate::config::{ChecksumPolicy, LimitConfig};
use crate::cookie::OpenedCookie;
use crate::interface::{AssociationId, AssociationStats, DurationHistogram, Event, PathId, PathView, Totals};
use crate::negotiate::{Agreement, Extensions};
use crate::path::amplification::ProbeBurst;
use crate::path::{Egress, Path, Paths, control_path};
use crate::receive::Receive;
use crate::send::Sender;

/// An established association: ESTABLISHED and the states of its shutdown.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) peer: Peer,
    pub(crate) auth: Auth,
    /// Our own addresses.
    pub(crate) locals: Locals,
    /// Address changes, ours and the peer's (RFC 5061).
    pub(crate) asconf: Asconf,
    pub(crate) paths: Paths,
    /// What becomes of data when the primary path changes.
    pub(crate) primary: Primary,
    pub(crate) sender: Sender,
    pub(crate) receive: Receive,
    pub(crate) closing: Closing,
    pub(crate) replies: Replies,
    pub(crate) probe_burst: ProbeBurst,
    pub(crate) notes: Notes,
    /// Nonces that stand for the tags in cookies made while this association lives (RFC 9260 §5.2.2).
    tie_tags: (u64, u64),
}

/// What the peer told about itself.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The Verification Tag of packets to it.
    pub(crate) tag: u32,
    /// Every address the peer has named, paths or not: a restart must not add to them (RFC 9260 §5.2.2).
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) inbound_streams: u16,
    /// The error detection method for which both sides accept a zero checksum (RFC 9653).
    pub(crate) zero_checksum: bool,
    /// The code point of its upper layer (RFC 5061 §4.2.6).
    pub(crate) adaptation: Option<u32>,
}

/// Flags and counters that several parts of an association share.
#[derive(Debug)]
pub(crate) struct Notes {
    /// Consecutive errors of the association (RFC 9260 §8.1).
    pub(crate) error_count: u32,
    /// When a packet with our tag, and authenticated where that is required, last came from an address of the peer.
    pub(crate) heard: Instant,
    /// Tries in a row that the peer has not answered.
    pub(crate) tries: Tries,
    /// The path that new data last went out on, to notice a change.
    pub(crate) in_use: PathId,
    /// The packets given out last are all there is to send until something else happens.
    pub(crate) said_all: bool,
    /// The peer's addresses, or which of them have proved to be its own, are not those last indexed by the endpoint.
    pub(crate) addresses_changed: bool,
    /// Packets that were not the peer's.
    pub(crate) packets_dropped: u64,
    /// Who has our tag and comes from an address that is not the peer's.
    pub(crate) strangers: Strangers,
    /// An address that has not answered yet and may carry some data all the same.
    pub(crate) vouching: Vouching,
    /// What has gone out again without a word of the peer about it.
    pub(crate) sent_again: SentAgain,
    /// How close together the peer's DATA comes.
    pub(crate) stream: Stream,
    /// Round trips on all paths, those that are gone included.
    pub(crate) round_trips: DurationHistogram,
}

impl Open {
    /// The server's side (RFC 9260 §5.1 D).
    pub(crate) fn from_cookie(
        context: &mut Context<'_>,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) -> Self {
        let addresses = remotes(cookie.route.remote, cookie.peer_addresses.iter().copied());
        // RFC 9260 §5.4 rule 2: confirmed is only where the INIT ACK went, which COOKIE ECHO proves was received.
        let source = cookie.route.local.ip();
        // The INIT ACK has named none of a family that the peer does not support (RFC 9260 §3.3.2.1.5).
        let named: SmallVec<[SocketAddr; 4]> =
            locals.iter().copied().filter(|local| cookie.families.include(local.ip())).collect();
        let known = known_after_handshake(context.naming(), &named, &addresses, source);
        let paths = pairing::paths(context.now, context.config, &known, &addresses, cookie.route, |_| false);
        let mut open = Self::new(context, paths, &known, route, &cookie.agreement);
        open.locals.set_up(locals);
        open.peer.addresses = addresses;
        open
    }

    /// What both sides' beginnings have in common. The peer has been told of the addresses `locals`; the handshake ended on
    /// `route`.
    pub(crate) fn new(
        context: &mut Context<'_>,
        paths: Paths,
        locals: &[SocketAddr],
        route: Route,
        agreed: &Agreement,
    ) -> Self {
        let config = context.config;
        let initial_tsn = context.identity.initial_tsn;
        let mut auth = Auth::new(config, context.keys, context.identity.auth_random, agreed.auth.as_ref());
        auth.protection = protection(context, agreed);
        let mobility = mobility(config, &auth, agreed.extensions);
        let mut asconf = Asconf::new(mobility, initial_tsn, agreed.peer_initial_tsn);
        asconf.wanted_primary = agreed.primary.filter(|_| peer_may_choose(config));
        let zero_checksum = match config.checksum {
            ChecksumPolicy::Crc32c => false,
            ChecksumPolicy::ZeroAcceptable { edmid } => agreed.zero_checksum == Some(edmid),
        };
        let mut receive = Receive::new(
            agreed.peer_initial_tsn,
            agreed.inbound_streams,
            &config.limits,
            context.identity.buffers.clone(),
            &config.sack,
            route,
        );
        if Extensions::own(config).and(agreed.extensions).include(&[CHUNK_NR_SACK]) {
            receive.tell_what_is_kept();
        }
        Self {
            asconf,
            auth,
            locals: Locals::new(locals.iter().copied().chain([route.local]), locals)
                .with_translators(context.translators.clone()),
            primary: Primary::new(config.primary_change, paths.primary()),
            notes: Notes {
                error_count: 0,
                heard: context.now,
                tries: Tries::default(),
                in_use: paths.primary(),
                said_all: false,
                addresses_changed: true,
                packets_dropped: 0,
                strangers: Strangers::default(),
                vouching: Vouching::None,
                sent_again: SentAgain::default(),
                stream: Stream::default(),
                round_trips: DurationHistogram::default(),
            },
            sender: Sender::new(config, &paths, initial_tsn, agreed.outbound_streams, agreed.peer_a_rwnd),
            paths,
            receive,
            closing: Closing::No,
            replies: Replies::default(),
            probe_burst: ProbeBurst::new(config.heartbeat.max_burst, context.identity.strangers.clone()),
            // Nonces, never the real tags, and never 0, which means that there is none (RFC 9260 §5.2.2,
            // RFC 5062 §3).
            tie_tags: (context.rng.next_u64() | 1, context.rng.next_u64() | 1),
            peer: Peer {
                tag: agreed.peer_tag,
                addresses: Vec::new(),
                inbound_streams: agreed.inbound_streams,
                zero_checksum,
                adaptation: agreed.adaptation,
            },
        }
    }

    // ---- commands

    pub(crate) fn set_primary(&mut self, path: PathId) {
        // An unconfirmed address must not become the primary path (RFC 9260 §5.4).
        if let Some(chosen) = self.paths.get_mut(path).filter(|path| path.is_usable()) {
            // Who chooses a path takes it as slow as it is.
            chosen.doubt.forget();
            self.paths.set_primary(path);
            self.sender.opportunity();
        }
    }

    // ---- outputs

    pub(crate) fn poll_event(&mut self, association: AssociationId, limits: &LimitConfig) -> Option<Event> {
        if self.auth.is_pending() {
            return None;
        }
        if let Some(received) = self.receive.pop() {
            return Some(Event::Message { association, received });
        }
        let acknowledged = self.sender.take_released();
        let bytes = match &mut self.auth.protection {
            Some(protection) => protection.of_user(acknowledged),
            None => acknowledged,
        };
        let room = || limits.send_room(self.sender.window());
        (bytes > 0).then(|| Event::Sent { association, bytes, room: room() })
    }

    /// Moves every complete message to `events`: they were received before the association ended.
    pub(crate) fn drain_received(
        &mut self,
        events: &mut VecDeque<Event>,
        association: AssociationId,
        limits: &LimitConfig,
    ) {
        while let Some(event) = self.poll_event(association, limits) {
            events.push_back(event);
        }
    }

    // ---- views

    pub(crate) fn up_event(&self, identity: &Identity) -> Event {
        Event::Up {
            association: identity.id,
            token: identity.token,
            outbound_streams: self.sender.stream_count(),
            inbound_streams: self.peer.inbound_streams,
            local_port: identity.local_port,
            remote_port: identity.remote_port,
            primary: self.route_in_use(),
            mobility: self.asconf.mobility,
            peer_adaptation: self.peer.adaptation,
            peer_key: self.auth.protection.as_ref().and_then(|protection| protection.peer().cloned()),
        }
    }

    /// Nonces that stand for the tags in cookies (RFC 9260 §5.2.2).
    pub(crate) fn tie_tags(&self) -> (u64, u64) {
        self.tie_tags
    }

    /// The path for control chunks now, or the primary if none is confirmed.
    pub(crate) fn data_path(&self) -> PathId {
        control_path(&self.paths).unwrap_or_else(|| self.paths.primary())
    }

    /// The way to the peer now, if there is one that packets may leave by.
    pub(crate) fn route_to_use(&self) -> Option<Route> {
        self.paths.get(self.data_path()).filter(|path| path.egress == Egress::Open).map(|path| path.route)
    }

    /// Whether new data goes out on this path: control chunks do, or several paths carry data and it is one of them.
    pub(crate) fn is_in_use(&self, id: PathId) -> bool {
        self.data_path() == id || self.sender.combines_paths() && self.sender.uses(&self.paths, id)
    }

    pub(crate) fn route_in_use(&self) -> Route {
        self.paths.get(self.data_path()).map_or(self.receive.route(), |path| path.route)
    }

    pub(crate) fn path_views(&self) -> Vec<PathView> {
        let primary = self.paths.primary();
        let view = |path: &Path| self.sender.path_view(path, path.id == primary, self.is_in_use(path.id));
        self.paths.iter().filter_map(view).collect()
    }

    pub(crate) fn stats(&self) -> AssociationStats {
        let sent = self.sender.totals();
        AssociationStats {
            messages_sent: sent.messages,
            bytes_sent: sent.bytes,
            data_sent: sent.data.data_sent,
            data_retransmitted: sent.data.data_retransmitted,
            timeouts: sent.data.timeouts,
            tail_probes: sent.data.tail_probes,
            fast_retransmits: sent.data.fast_retransmits,
            undone: sent.data.undone,
            messages_received: self.receive.messages(),
            bytes_received: self.receive.bytes(),
            duplicates_received: self.receive.duplicates(),
            packets_dropped: self.notes.packets_dropped,
            send_queued: self.undelivered(),
            receive_queued: self.receive.buffered(),
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals { stats: self.stats(), round_trips: self.notes.round_trips }
    }
}
