use core::net::{IpAddr, SocketAddr};
use std::collections::VecDeque;

use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{InitAck, Tsn};

use super::Identity;
use super::asconf::{Asconf, mobility, peer_may_choose};
use super::context::Context;
use super::locals::Locals;
use super::pairing;
use super::peer_init::{PeerParameters, remotes};
use super::primary_change::{self, PrimaryChange};
use super::replies::Replies;
use super::shutdown::Closing;
use super::translation::known_after_handshake;
use crate::auth::offer::Offer;
use crate::auth::session::Auth;
use crate::config::{BurstLimit, ChecksumPolicy};
use crate::cookie::OpenedCookie;
use crate::interface::{AssociationId, AssociationStats, Event, PathId, PathView};
use crate::path::amplification::ProbeBurst;
use crate::path::choice::{PathChoice, PrimaryPath, RetransmissionChoice};
use crate::path::{Egress, Path, Paths};
use crate::receive::Receive;
use crate::send::outstanding::Outstanding;
use crate::send::streams::OutboundStreams;

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
    pub(crate) path_choice: Box<dyn PathChoice>,
    pub(crate) retransmission_choice: Box<dyn RetransmissionChoice>,
    pub(crate) primary_change: Box<dyn PrimaryChange>,
    /// The primary path as `primary_change` knows it.
    pub(crate) known_primary: PathId,
    /// The peer has asked for the primary path there is now.
    pub(crate) primary_by_peer: bool,
    /// When `primary_change` last reacted, and how far the peer had acknowledged then.
    pub(crate) reacted_to_primary: Option<(Instant, Tsn)>,
    /// The path that new data last went out on, to notice a change.
    pub(crate) in_use: PathId,
    pub(crate) streams: OutboundStreams,
    pub(crate) outstanding: Outstanding,
    /// While in fast recovery: the TSN that ends it. One state for the whole association, as RFC 9260 §7.2.4 has
    /// it: growth of every path is frozen meanwhile.
    pub(crate) fast_recovery: Option<Tsn>,
    pub(crate) window: PeerWindow,
    pub(crate) receive: Receive,
    /// Where the last DATA came from: SACKs go there (RFC 9260 §6.4).
    pub(crate) sack_route: Route,
    pub(crate) closing: Closing,
    /// When a shutdown that we began is over at the latest.
    pub(crate) shutdown_limit: Instant,
    pub(crate) replies: Replies,
    pub(crate) probe_burst: ProbeBurst,
    /// Consecutive errors of the association (RFC 9260 §8.1).
    pub(crate) error_count: u32,
    /// Nonces that stand for the tags in cookies made while this association lives (RFC 9260 §5.2.2).
    pub(crate) tie_tags: (u64, u64),
    /// Something has happened since the last transmission opportunity began (RFC 9260 §6.1 D).
    pub(crate) burst_closed: bool,
    /// The packets given out last are all there is to send until something else happens.
    pub(crate) said_all: bool,
    /// The peer's addresses are not those last indexed by the endpoint.
    pub(crate) addresses_changed: bool,
    pub(crate) totals: Totals,
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

/// The peer's receive window as we know it (RFC 9260 §6.2.1).
#[derive(Debug)]
pub(crate) struct PeerWindow {
    /// Bytes of user data the peer has room for, those in flight already subtracted.
    pub(crate) rwnd: usize,
    /// The window of the last SACK, nothing subtracted.
    pub(crate) advertised: usize,
    /// The largest window ever advertised, for silly window avoidance.
    pub(crate) largest: usize,
    /// A single DATA chunk may be sent into a closed window (RFC 9260 §6.1 A).
    pub(crate) probe_allowed: bool,
    /// Probes sent since the window closed; backs the interval off.
    pub(crate) probes: u32,
    /// A SACK has come since the last timeout: while the window is closed, timeouts are then no errors.
    pub(crate) peer_answers: bool,
}

/// Totals not kept elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) messages_sent: u64,
    pub(crate) bytes_sent: u64,
    /// Acknowledged bytes not yet announced by [`Event::Sent`].
    pub(crate) released: usize,
    pub(crate) packets_dropped: u64,
}

/// What both ways into an open association have in common.
struct Beginning<'a> {
    paths: Paths,
    /// The addresses we have told the peer of.
    locals: &'a [SocketAddr],
    route: Route,
    peer_tag: u32,
    peer_initial_tsn: Tsn,
    peer_a_rwnd: u32,
    outbound_streams: u16,
    inbound_streams: u16,
    zero_checksum: Option<u32>,
    adaptation: Option<u32>,
    primary: Option<IpAddr>,
    auth: Option<&'a Offer>,
}

impl Open {
    /// The client's side (RFC 9260 §5.1 C).
    pub(crate) fn from_init_ack(
        context: &mut Context<'_>,
        paths: Paths,
        route: Route,
        init_ack: &InitAck<'_>,
        parameters: &PeerParameters<'_>,
        auth: Option<&Offer>,
        locals: &[SocketAddr],
    ) -> Self {
        let streams = &context.config.streams;
        let beginning = Beginning {
            paths,
            locals,
            route,
            peer_tag: init_ack.initiate_tag,
            peer_initial_tsn: init_ack.initial_tsn,
            peer_a_rwnd: init_ack.a_rwnd,
            // RFC 9260 §5.1.1: the smaller of what we want and what the peer takes.
            outbound_streams: streams.outbound.min(init_ack.inbound_streams),
            inbound_streams: streams.inbound_max.min(init_ack.outbound_streams),
            zero_checksum: parameters.zero_checksum,
            adaptation: parameters.adaptation,
            primary: parameters.primary,
            auth,
        };
        Self::begin(context, beginning)
    }

    /// The server's side (RFC 9260 §5.1 D).
    pub(crate) fn from_cookie(
        context: &mut Context<'_>,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) -> Self {
        let addresses = remotes(cookie.route.remote, cookie.peer_addresses.iter().copied());
        // RFC 9260 §5.4 rule 2: confirmed is only where the INIT ACK went, which COOKIE ECHO proves was received.
        let (naming, source) = (context.config.dar.naming, cookie.route.local.ip());
        // The INIT ACK has named none of a family that the peer does not support (RFC 9260 §3.3.2.1.5).
        let named: SmallVec<[SocketAddr; 4]> =
            locals.iter().copied().filter(|local| cookie.families.include(local.ip())).collect();
        let known = known_after_handshake(naming, &named, &addresses, source);
        let paths = pairing::paths(context.now, context.config, &known, &addresses, cookie.route, |_| false);
        let beginning = Beginning {
            paths,
            locals: &known,
            route,
            peer_tag: cookie.peer_tag,
            peer_initial_tsn: cookie.peer_initial_tsn,
            peer_a_rwnd: cookie.peer_a_rwnd,
            outbound_streams: cookie.outbound_streams,
            inbound_streams: cookie.inbound_streams,
            zero_checksum: (cookie.zero_checksum_edmid != 0).then_some(cookie.zero_checksum_edmid),
            adaptation: cookie.adaptation,
            primary: cookie.primary,
            auth: cookie.auth.as_ref(),
        };
        let mut open = Self::begin(context, beginning);
        open.locals.set_up(locals);
        open.peer.addresses = addresses.to_vec();
        open
    }

    fn begin(context: &mut Context<'_>, from: Beginning<'_>) -> Self {
        let config = context.config;
        let accepted = match config.checksum {
            ChecksumPolicy::Crc32c => None,
            ChecksumPolicy::ZeroAcceptable { edmid } => Some(edmid),
        };
        let rwnd = from.peer_a_rwnd as usize;
        let primary_change = primary_change::rule(config.primary_change);
        let auth = Auth::new(config, context.keys, context.identity.auth_random, from.auth);
        let mut asconf =
            Asconf::new(mobility(config, &auth), context.identity.initial_tsn, from.peer_initial_tsn);
        asconf.wanted_primary = from.primary.filter(|_| peer_may_choose(config));
        Self {
            asconf,
            auth,
            locals: Locals::new(from.locals.iter().copied().chain([from.route.local]), from.locals),
            in_use: from.paths.primary(),
            known_primary: from.paths.primary(),
            primary_by_peer: false,
            reacted_to_primary: None,
            paths: from.paths,
            path_choice: Box::new(PrimaryPath),
            retransmission_choice: primary_change.retransmissions(),
            primary_change,
            streams: OutboundStreams::new(from.outbound_streams, (config.streams.scheduler)()),
            outstanding: Outstanding::new(context.identity.initial_tsn, config.congestion.miss_threshold),
            fast_recovery: None,
            window: PeerWindow {
                rwnd,
                largest: rwnd,
                probe_allowed: false,
                probes: 0,
                advertised: rwnd,
                peer_answers: false,
            },
            receive: Receive::new(
                from.peer_initial_tsn,
                from.inbound_streams,
                config.limits.receive_buffer,
                context.identity.buffers.clone(),
                &config.sack,
            ),
            sack_route: from.route,
            closing: Closing::No,
            shutdown_limit: context.now,
            replies: Replies::default(),
            probe_burst: ProbeBurst::new(config.heartbeat.max_burst, context.identity.strangers.clone()),
            error_count: 0,
            // Nonces, never the real tags, and never 0, which means that there is none (RFC 9260 §5.2.2,
            // RFC 5062 §3).
            tie_tags: (context.rng.next_u64() | 1, context.rng.next_u64() | 1),
            burst_closed: true,
            said_all: false,
            addresses_changed: true,
            peer: Peer {
                tag: from.peer_tag,
                addresses: Vec::new(),
                inbound_streams: from.inbound_streams,
                zero_checksum: accepted.is_some() && accepted == from.zero_checksum,
                adaptation: from.adaptation,
            },
            totals: Totals::default(),
        }
    }

    // ---- commands

    pub(crate) fn set_primary(&mut self, path: PathId) {
        // An unconfirmed address must not become the primary path (RFC 9260 §5.4).
        if self.paths.get(path).is_some_and(Path::is_usable) {
            self.paths.set_primary(path);
            self.opportunity();
        }
    }

    // ---- outputs

    pub(crate) fn poll_event(&mut self, association: AssociationId) -> Option<Event> {
        if let Some(received) = self.receive.pop() {
            return Some(Event::Message { association, received });
        }
        let bytes = core::mem::take(&mut self.totals.released);
        (bytes > 0).then_some(Event::Sent { association, bytes })
    }

    /// Moves every complete message to `events`: they were received before the association ended.
    pub(crate) fn drain_received(&mut self, events: &mut VecDeque<Event>, association: AssociationId) {
        while let Some(event) = self.poll_event(association) {
            events.push_back(event);
        }
    }

    // ---- views

    pub(crate) fn up_event(&self, identity: &Identity) -> Event {
        Event::Up {
            association: identity.id,
            token: identity.token,
            outbound_streams: self.streams.count(),
            inbound_streams: self.peer.inbound_streams,
            local_port: identity.local_port,
            remote_port: identity.remote_port,
            primary: self.route_in_use(),
            mobility: self.asconf.mobility,
            peer_adaptation: self.peer.adaptation,
        }
    }

    /// Bytes of user data accepted and not acknowledged for good.
    pub(crate) fn undelivered(&self) -> usize {
        self.streams.queued() + self.outstanding.held_payload()
    }

    /// The path for new data now, or the primary if none is confirmed.
    pub(crate) fn data_path(&self) -> PathId {
        self.path_choice.for_new_data(&self.paths).unwrap_or_else(|| self.paths.primary())
    }

    /// The way to the peer now, if there is one that packets may leave by.
    pub(crate) fn route_to_use(&self) -> Option<Route> {
        self.paths.get(self.data_path()).filter(|path| path.egress == Egress::Open).map(|path| path.route)
    }

    pub(crate) fn route_in_use(&self) -> Route {
        self.paths.get(self.data_path()).map_or(self.sack_route, |path| path.route)
    }

    pub(crate) fn path_views(&self) -> Vec<PathView> {
        let data_path = self.data_path();
        self.paths
            .iter()
            .map(|path| path.view(path.id == self.paths.primary(), path.id == data_path))
            .collect()
    }

    pub(crate) fn stats(&self) -> AssociationStats {
        AssociationStats {
            messages_sent: self.totals.messages_sent,
            bytes_sent: self.totals.bytes_sent,
            messages_received: self.receive.messages(),
            bytes_received: self.receive.bytes(),
            duplicates_received: self.receive.duplicates(),
            packets_dropped: self.totals.packets_dropped,
            send_queued: self.undelivered(),
            receive_queued: self.receive.buffered(),
        }
    }

    // ---- shared

    /// Something has happened that may let more data out.
    pub(crate) fn opportunity(&mut self) {
        self.burst_closed = true;
    }

    /// Opens the burst limit of every path, once per opportunity (RFC 9260 §6.1 D).
    pub(crate) fn open_bursts(&mut self, limit: BurstLimit) {
        if core::mem::take(&mut self.burst_closed) {
            for path in self.paths.iter_mut() {
                path.open_burst(limit);
            }
        }
    }
}
