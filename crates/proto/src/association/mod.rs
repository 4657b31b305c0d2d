//! One association: the state machine of RFC 9260 §4 and everything it owns.
//!
//! Methods come in four families, in this order: inputs (`handle_*`), commands, outputs (`poll_*`,
//! [`Association::next_deadline`]; pull until `None`), views. The endpoint is the only caller.

mod abort;
mod asconf;
mod authentication;
mod chunk_writer;
mod context;
mod data_out;
mod failure;
mod from_cookie;
mod handshake;
mod heartbeat;
mod heartbeat_time;
mod icmp;
mod inbound;
mod late_heartbeat;
mod links;
mod locals;
mod new_port;
mod open;
mod output;
mod own_parameters;
mod pairing;
mod path_changes;
pub(crate) mod peer_init;
mod primary_change;
mod reflected;
mod replies;
mod restart;
mod sack;
mod shutdown;
mod timeouts;
mod translation;
mod user_data;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;
use whimbrel_machine::{Instant, Rng, Route, Transmit};
use whimbrel_wire::{Cause, Packet, Tsn};

#[cfg(any(test, fuzzing))]
pub(crate) use self::chunk_writer::ChunkWriter;
pub(crate) use self::context::{Context, Ending};
pub(crate) use self::handshake::ConnectRequest;
use self::handshake::{CookieEchoed, CookieWait};
pub(crate) use self::new_port::PortProbe;
pub(crate) use self::open::Open;
pub(crate) use self::output::single_packet;
pub(crate) use self::own_parameters::own_parameters;
pub(crate) use self::shutdown::Closing;
use crate::auth::SharedKeys;
use crate::config::Config;
use crate::interface::{
    AddressChangeError, AssociationId, AssociationStats, CloseReason, ConnectToken, Event, PathId, PathShape,
    PathView,
};
use crate::path::amplification::StrangerProbes;
use crate::receive::Buffers;
use crate::timers::Timers;

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
}

/// The states of RFC 9260 §4; a state owns its data. `Open` covers ESTABLISHED and the four shutdown states.
#[derive(Debug)]
pub(crate) enum Phase {
    CookieWait(CookieWait),
    CookieEchoed(Box<CookieEchoed>),
    Open(Box<Open>),
    Closed,
}

impl Association {
    /// Begins to set up an association: the peer will get an INIT (RFC 9260 §5.1 A).
    pub(crate) fn connect(now: Instant, identity: Identity, means: Means, request: ConnectRequest) -> Self {
        let Means { config, mut rng, keys } = means;
        let mut timers = Timers::default();
        let wait = CookieWait::new(now, &config, &mut timers, &mut rng, request);
        Self {
            identity,
            config,
            rng,
            phase: Phase::CookieWait(wait),
            timers,
            events: VecDeque::new(),
            farewell: None,
            keys,
        }
    }

    // ---- inputs

    /// A packet whose checksum is right and whose Verification Tag is ours, except as RFC 9260 §8.5.1 has it for
    /// ABORT and SHUTDOWN COMPLETE.
    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        route: Route,
        packet: &Packet<'_>,
        locals: &[core::net::SocketAddr],
    ) {
        let result = match &self.phase {
            Phase::CookieWait(_) => self.handle_in_cookie_wait(now, route, packet, locals),
            Phase::CookieEchoed(_) => self.handle_in_cookie_echoed(now, route, packet),
            Phase::Open(_) => {
                let (mut context, phase) = self.split(now);
                let Phase::Open(open) = phase else { return };
                open.handle_packet(&mut context, route, packet)
            }
            Phase::Closed => Ok(()),
        };
        self.conclude(now, result);
    }

    /// Deadlines that have passed.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        while let Some(timer) = self.timers.pop_expired(now) {
            let result = match &self.phase {
                Phase::CookieWait(_) | Phase::CookieEchoed(_) => self.handle_handshake_timeout(now),
                Phase::Open(_) => {
                    let (mut context, phase) = self.split(now);
                    let Phase::Open(open) = phase else { return };
                    open.handle_timer(&mut context, timer)
                }
                Phase::Closed => return,
            };
            self.conclude(now, result);
        }
    }

    // ---- commands

    pub(crate) fn shutdown(&mut self, now: Instant) {
        let (mut context, phase) = self.split(now);
        match phase {
            Phase::Open(open) => open.begin_shutdown(&mut context),
            Phase::CookieWait(_) | Phase::CookieEchoed(_) => self.abort(now, Bytes::new()),
            Phase::Closed => {}
        }
    }

    pub(crate) fn abort(&mut self, now: Instant, reason: Bytes) {
        let reason = reason.slice(..reason.len().min(512));
        let farewell = self.write_abort(&[Cause::UserInitiatedAbort(&reason)]);
        self.farewell = farewell;
        self.conclude(now, Err(Ending::Silent(CloseReason::Aborted)));
    }

    pub(crate) fn set_primary(&mut self, now: Instant, path: PathId) {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            // The user's choice counts for more than the peer's wish.
            open.asconf.wanted_primary = None;
            open.set_primary(path);
            open.notice_path_in_use(&mut context);
        }
    }

    pub(crate) fn shape_path(&mut self, path: PathId, shape: PathShape) {
        if let Phase::Open(open) = &mut self.phase {
            open.shape_path(path, shape);
        }
    }

    pub(crate) fn retransmit_lost(&mut self, now: Instant, path: PathId) {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            open.take_for_lost(&mut context, path);
        }
    }

    pub(crate) fn request_heartbeat(&mut self, now: Instant, path: PathId) {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            open.send_heartbeat_on(&mut context, path);
        }
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
            Phase::Open(_) => {
                let (mut context, phase) = self.split(now);
                let Phase::Open(open) = phase else { return None };
                open.poll_transmit(&mut context, max_segments, out)
            }
            Phase::Closed => None,
        }
    }

    /// Whether [`Self::poll_transmit`], which has just yielded something, would yield nothing more: asking costs as much as half a packet.
    pub(crate) fn has_said_all(&self, now: Instant) -> bool {
        let said_all = matches!(&self.phase, Phase::Open(open) if open.said_all);
        said_all && self.next_deadline().is_none_or(|deadline| deadline > now)
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            if self.events.is_empty() {
                // Messages do not come this way, and what does is rare: idle associations keep no room for it.
                self.events = VecDeque::new();
            }
            return Some(event);
        }
        match &mut self.phase {
            Phase::Open(open) => open.poll_event(self.identity.id),
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
        match &self.phase {
            Phase::CookieEchoed(echoed) => Some(echoed.open.tie_tags),
            Phase::Open(open) => Some(open.tie_tags),
            _ => None,
        }
    }

    /// Whether the peer's addresses have changed since the last call.
    pub(crate) fn take_addresses_changed(&mut self) -> bool {
        match &mut self.phase {
            Phase::Open(open) => core::mem::take(&mut open.addresses_changed),
            _ => false,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// The peer's Verification Tag, once known.
    pub(crate) fn peer_tag(&self) -> Option<u32> {
        match &self.phase {
            Phase::CookieEchoed(echoed) => Some(echoed.open.peer.tag),
            Phase::Open(open) => Some(open.peer.tag),
            _ => None,
        }
    }

    pub(crate) fn paths(&self) -> Vec<PathView> {
        match &self.phase {
            Phase::Open(open) => open.path_views(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn stats(&self) -> AssociationStats {
        match &self.phase {
            Phase::Open(open) => open.stats(),
            _ => AssociationStats::default(),
        }
    }

    /// Addresses of the peer that lead to this association.
    pub(crate) fn remotes(&self) -> SmallVec<[core::net::SocketAddr; 2]> {
        match &self.phase {
            Phase::CookieWait(wait) => wait.remotes().into(),
            Phase::CookieEchoed(echoed) => echoed.open.paths.remotes(),
            Phase::Open(open) => open.paths.remotes(),
            Phase::Closed => SmallVec::new(),
        }
    }

    /// Whether this address has proved to be the peer's (RFC 9260 §5.4).
    pub(crate) fn has_confirmed(&self, remote: core::net::IpAddr) -> bool {
        matches!(&self.phase, Phase::Open(open) if open.is_confirmed(remote))
    }

    /// Every address the peer has named, whether a path leads there or not.
    pub(crate) fn peer_addresses(&self) -> &[core::net::SocketAddr] {
        match &self.phase {
            Phase::CookieEchoed(echoed) => &echoed.open.peer.addresses,
            Phase::Open(open) => &open.peer.addresses,
            Phase::CookieWait(_) | Phase::Closed => &[],
        }
    }

    // ---- shared

    /// The context the states work in, and the state itself.
    fn split(&mut self, now: Instant) -> (Context<'_>, &mut Phase) {
        let Self { identity, config, rng, phase, timers, events, keys, .. } = self;
        (Context { now, identity, config, rng, timers, events, keys }, phase)
    }

    pub(crate) fn announce_up(&mut self, now: Instant) {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            context.events.push_back(open.up_event(context.identity));
            open.grant_wanted_primary(&mut context);
        }
    }

    /// Ends the association if `result` says so.
    fn conclude(&mut self, now: Instant, result: Result<(), Ending>) {
        let Err(ending) = result else { return };
        let reason = match ending {
            Ending::Silent(reason) => reason,
            Ending::Abort { reason, causes } => {
                self.farewell = self.write_abort_raw(&causes);
                reason
            }
            Ending::Farewell(farewell) => {
                let context::Farewell { reason, route, packet } = *farewell;
                self.farewell = Some((route, packet));
                reason
            }
        };
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            open.abandon_changes(&mut context, AddressChangeError::Abandoned);
        }
        let event = match (&mut self.phase, self.identity.token) {
            (Phase::Closed, _) => return,
            (Phase::Open(open), _) => {
                open.drain_received(&mut self.events, self.identity.id);
                Event::Closed { association: self.identity.id, reason, undelivered: open.undelivered() }
            }
            (_, Some(token)) => Event::ConnectFailed { token, reason },
            (_, None) => Event::Closed { association: self.identity.id, reason, undelivered: 0 },
        };
        self.events.push_back(event);
        self.timers = Timers::default();
        self.phase = Phase::Closed;
    }
}
