//! One association: the state machine of RFC 9260 §4 and everything it owns.
//!
//! Methods come in four families, in this order: inputs (`handle_*`), commands, outputs (`poll_*`,
//! [`Association::next_deadline`]; pull until `None`), views. The endpoint is the only caller.

mod abort;
mod agreed_addresses;
mod asconf;
mod authentication;
pub(crate) mod claim;
mod conclude;
mod context;
mod data_out;
mod dormant;
mod failure;
mod from_cookie;
mod handshake;
mod heartbeat;
mod heartbeat_info;
mod heartbeat_time;
mod icmp;
mod inbound;
mod late_heartbeat;
mod links;
mod listing;
mod locals;
mod memory;
mod missing_state;
mod mtu_probe;
mod new_port;
mod one_way;
mod open;
mod output;
mod own_parameters;
mod packet_train;
mod pairing;
mod path_changes;
pub(crate) mod peer_init;
mod primary_change;
mod protection;
mod reflected;
mod replies;
mod restart;
mod sack;
mod set_up;
mod shutdown;
mod silence;
mod start_up;
mod stopped_stream;
mod synthesis;
mod tail_probe;
mod timeouts;
mod totals;
mod translation;
mod translators;
mod user_data;
mod vouched;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use whimbrel_machine::{Instant, Rng, Route, Transmit};
use whimbrel_wire::draft::KeyRoles;
use whimbrel_wire::{Cause, Tsn};

pub(crate) use self::context::{Context, Ending, Handled};
pub(crate) use self::handshake::ConnectRequest;
use self::handshake::{CookieEchoed, CookieWait};
pub(crate) use self::inbound::contains_abort;
pub(crate) use self::listing::listed_at_most;
pub(crate) use self::new_port::PortProbe;
pub(crate) use self::one_way::WayOfAnswers;
pub(crate) use self::open::Open;
pub(crate) use self::output::{single_chunk, single_packet};
pub(crate) use self::own_parameters::{addresses_to_list, own_parameters};
pub(crate) use self::packet_train::Estimates;
#[cfg(test)]
pub(crate) use self::replies::Encoded;
pub(crate) use self::shutdown::Closing;
pub(crate) use self::translation::Naming;
pub(crate) use self::translators::Translators;
use crate::arrival::Arrival;
use crate::auth::SharedKeys;
use crate::config::Config;
use crate::interface::{
    AssociationId, AssociationStats, CloseReason, ConnectToken, Event, PathId, PathShape, PathView, Totals,
};
use crate::path::amplification::StrangerProbes;
use crate::receive::Buffers;
use crate::timers::Timers;

/// Deadlines that an association meets at a time: more than pass at once.
const MOST_EXPIRATIONS: u32 = 100;

/// What stays the same for the whole life of an association.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) id: AssociationId,
    pub(crate) token: Option<ConnectToken>,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    /// The Verification Tag the peer must use (RFC 9260 §8.5); changes only with a restart.
    pub(crate) local_tag: u32,
    /// Our Initial TSN.
    pub(crate) initial_tsn: Tsn,
    /// Our random number, which changes with the tag (RFC 4895 §6.1).
    pub(crate) auth_random: [u8; 32],
    /// Which parts we can take when keys are agreed on.
    pub(crate) key_roles: KeyRoles,
    /// The endpoint's budget for probing addresses that nobody has confirmed.
    pub(crate) strangers: StrangerProbes,
    /// The endpoint's, for large messages.
    pub(crate) buffers: Buffers,
}

/// What an association gets from its endpoint.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) config: Arc<Config>,
    pub(crate) rng: Rng,
    pub(crate) keys: Arc<SharedKeys>,
    pub(crate) translators: Translators,
}

/// An association.
#[derive(Debug)]
pub(crate) struct Association {
    pub(crate) identity: Identity,
    config: Arc<Config>,
    rng: Rng,
    phase: Phase,
    timers: Timers,
    events: VecDeque<Event>,
    /// Finished packets that outlive the state they were written in: ABORT, SHUTDOWN COMPLETE.
    farewell: Option<(Route, Vec<u8>)>,
    /// The shared keys (RFC 4895 §6.1); they outlive restarts.
    keys: Arc<SharedKeys>,
    /// Those of the networks that we are in.
    translators: Translators,
    /// What was done before the peer restarted, and, in the end, all that was done.
    past: Option<Box<Totals>>,
}

/// The states of RFC 9260 §4; a state owns its data. `Open` covers ESTABLISHED and the four shutdown states.
#[derive(Debug)]
pub(crate) enum Phase {
    CookieWait(Box<CookieWait>),
    CookieEchoed(Box<CookieEchoed>),
    Open(Box<Open>),
    Closed,
}

impl Association {
    /// Begins to set up an association: the peer will get an INIT (RFC 9260 §5.1 A).
    pub(crate) fn connect(now: Instant, identity: Identity, means: Means, request: ConnectRequest) -> Self {
        let mut association = Self::new(identity, means);
        let wait = CookieWait::new(now, &association.config, &mut association.timers, request);
        association.phase = Phase::CookieWait(Box::new(wait));
        association
    }

    fn new(identity: Identity, means: Means) -> Self {
        let Means { config, rng, keys, translators } = means;
        Self {
            identity,
            config,
            rng,
            phase: Phase::Closed,
            timers: Timers::default(),
            events: VecDeque::new(),
            farewell: None,
            keys,
            translators,
            past: None,
        }
    }

    // ---- inputs

    /// A packet whose checksum is right and whose Verification Tag is ours, except as RFC 9260 §8.5.1 has it for
    /// ABORT and SHUTDOWN COMPLETE.
    pub(crate) fn handle_packet(&mut self, arrival: &Arrival<'_>, locals: &[core::net::SocketAddr]) {
        let result = match &self.phase {
            Phase::CookieWait(_) => self.handle_in_cookie_wait(arrival, locals),
            Phase::CookieEchoed(_) => self.handle_in_cookie_echoed(arrival),
            Phase::Open(_) | Phase::Closed => {
                let handled = self.in_open(arrival.now, |open, context| open.handle_packet(context, arrival));
                handled.unwrap_or(Ok(()))
            }
        };
        self.conclude(arrival.now, result);
    }

    /// Deadlines that have passed. A timer that would be due again and again at the same moment, which none should be, does not keep the
    /// endpoint from everything else: what is still due after so many is left for the next time.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for _ in 0..MOST_EXPIRATIONS {
            let Some(timer) = self.timers.pop_expired(now) else { return };
            let handled = self.in_open(now, |open, context| open.handle_timer(context, timer));
            let result = handled.unwrap_or_else(|| self.handle_handshake_timeout());
            self.conclude(now, result);
        }
    }

    // ---- commands

    pub(crate) fn shutdown(&mut self, now: Instant) {
        if self.in_open(now, Open::begin_shutdown).is_none() && !self.is_closed() {
            self.abort(now, Bytes::new());
        }
    }

    pub(crate) fn abort(&mut self, now: Instant, reason: Bytes) {
        let reason = reason.slice(..reason.len().min(512));
        let farewell = self.write_abort(&[Cause::UserInitiatedAbort(&reason)]);
        self.farewell = farewell;
        self.conclude(now, Err(Ending::Silent(CloseReason::Aborted)));
    }

    pub(crate) fn set_primary(&mut self, now: Instant, path: PathId) {
        self.in_open(now, |open, context| {
            // The user's choice counts for more than the peer's wish.
            open.asconf.wanted_primary = None;
            open.set_primary(path);
            open.notice_path_in_use(context);
        });
    }

    pub(crate) fn shape_path(&mut self, path: PathId, shape: PathShape) {
        if let Phase::Open(open) = &mut self.phase {
            open.shape_path(path, shape);
        }
    }

    pub(crate) fn retransmit_lost(&mut self, now: Instant, path: PathId) {
        self.in_open(now, |open, context| open.give_up(context, path));
    }

    pub(crate) fn request_heartbeat(&mut self, now: Instant, path: PathId) {
        self.in_open(now, |open, context| open.send_heartbeat_on(context, path));
    }

    // ---- outputs

    /// The next train of packets for one route, written to the end of `out`; `None` when there is nothing to send.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: usize,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        if let Some((route, packet)) = self.farewell.take() {
            out.extend_from_slice(&packet);
            return Some(single_packet(&self.config, route, packet.len()));
        }
        match &self.phase {
            Phase::CookieWait(_) | Phase::CookieEchoed(_) => self.poll_handshake(now, out),
            Phase::Open(_) | Phase::Closed => {
                self.in_open(now, |open, context| open.poll_transmit(context, max_segments, out))?
            }
        }
    }

    /// Whether [`Self::poll_transmit`], which has just yielded something, would yield nothing more: asking costs as much as half a packet.
    pub(crate) fn has_said_all(&self, now: Instant) -> bool {
        self.open().is_some_and(|open| open.notes.said_all)
            && self.next_deadline().is_none_or(|deadline| deadline > now)
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if self.open().is_some_and(|open| open.auth.is_pending()) {
            // Nobody has been told of the association yet.
            self.events.clear();
            return None;
        }
        if let Some(event) = self.events.pop_front() {
            if self.events.is_empty() {
                // Messages do not come this way, and what does is rare: idle associations keep no room for it.
                self.events = VecDeque::new();
            }
            return Some(event);
        }
        match &mut self.phase {
            Phase::Open(open) => open.poll_event(self.identity.id, &self.config.limits),
            _ => None,
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.timers.next().map(|(at, _)| at)
    }

    // ---- views

    pub(crate) fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(crate) fn phase_mut(&mut self) -> &mut Phase {
        &mut self.phase
    }

    pub(crate) fn tie_tags(&self) -> Option<(u64, u64)> {
        self.begun().map(Open::tie_tags)
    }

    /// Whether the peer's addresses have changed since the last call.
    pub(crate) fn take_addresses_changed(&mut self) -> bool {
        match &mut self.phase {
            Phase::Open(open) => core::mem::take(&mut open.notes.addresses_changed),
            _ => false,
        }
    }

    /// SHUTDOWN-ACK-SENT.
    pub(crate) fn is_waiting_for_shutdown_complete(&self) -> bool {
        self.open().is_some_and(|open| matches!(open.closing, Closing::AckSent(_)))
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// The peer's Verification Tag, once known.
    pub(crate) fn peer_tag(&self) -> Option<u32> {
        self.begun().map(|open| open.peer.tag)
    }

    pub(crate) fn paths(&self) -> Vec<PathView> {
        self.open().map(Open::path_views).unwrap_or_default()
    }

    pub(crate) fn stats(&self) -> AssociationStats {
        self.open().map(Open::stats).unwrap_or_default()
    }

    /// Every address the peer has named, whether a path leads there or not.
    pub(crate) fn peer_addresses(&self) -> &[core::net::SocketAddr] {
        self.begun().map_or(&[], |open| &open.peer.addresses)
    }

    // ---- shared

    /// The association that has been set up.
    pub(crate) fn open(&self) -> Option<&Open> {
        if let Phase::Open(open) = &self.phase { Some(open) } else { None }
    }

    /// The same, or the one that is being set up with what the peer's INIT ACK said.
    fn begun(&self) -> Option<&Open> {
        if let Phase::CookieEchoed(echoed) = &self.phase { Some(&echoed.open) } else { self.open() }
    }

    /// What `act` makes of an open association; `None` if it is not open.
    fn in_open<T>(&mut self, now: Instant, act: impl FnOnce(&mut Open, &mut Context<'_>) -> T) -> Option<T> {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase { Some(act(open, &mut context)) } else { None }
    }

    /// How far our addresses may be named.
    fn naming(&self) -> Naming<'_> {
        Naming { wanted: self.config.dar.naming, translators: &self.translators }
    }

    /// The context the states work in, and the state itself.
    fn split(&mut self, now: Instant) -> (Context<'_>, &mut Phase) {
        let Self { identity, config, rng, phase, timers, events, keys, translators, .. } = self;
        (Context { now, identity, config, rng, timers, events, keys, translators }, phase)
    }

    pub(crate) fn announce_up(&mut self, now: Instant) {
        self.in_open(now, |open, context| {
            // Otherwise that waits for the keys.
            if !open.auth.is_pending() {
                open.announce_up(context);
            }
        });
    }
}
