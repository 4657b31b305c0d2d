//! An association that begins, or begins anew, with a valid State Cookie (RFC 9260 §5.1.5).

use core::net::SocketAddr;
use std::collections::VecDeque;

use whimbrel_machine::{Instant, Route};
use whimbrel_wire::{Chunks, Packet};

use super::{Association, Context, Identity, Means, Open, Phase};
use crate::auth::gate::Gate;
use crate::cookie::OpenedCookie;
use crate::timers::Timers;

impl Association {
    /// An association made from a valid State Cookie that came on `route` (RFC 9260 §5.1.5 step 5).
    pub(crate) fn accept(
        now: Instant,
        identity: Identity,
        means: Means,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) -> Self {
        let mut association = Self {
            identity,
            config: means.config,
            rng: means.rng,
            phase: Phase::Closed,
            timers: Timers::default(),
            events: VecDeque::new(),
            farewell: None,
            keys: means.keys,
        };
        association.open_from_cookie(now, locals, cookie, route);
        association.announce_up(now);
        association
    }

    /// Enters ESTABLISHED with what the cookie says.
    pub(crate) fn open_from_cookie(
        &mut self,
        now: Instant,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) {
        self.timers = Timers::default();
        self.identity.local_tag = cookie.local_tag;
        self.identity.initial_tsn = cookie.local_initial_tsn;
        self.identity.auth_random = cookie.auth_random;
        let (mut context, _) = self.split(now);
        let mut open = Open::from_cookie(&mut context, locals, cookie, route);
        open.start_path_supervision(&mut context);
        open.send_cookie_ack(&mut context, route);
        self.phase = Phase::Open(Box::new(open));
    }

    /// What follows COOKIE ECHO in its packet (RFC 9260 §5.1.5 step 7), and how far that is authenticated.
    pub(crate) fn handle_rest(
        &mut self,
        now: Instant,
        route: Route,
        packet: &Packet<'_>,
        rest: (Chunks<'_>, Gate),
    ) {
        let (mut context, phase) = self.split(now);
        let Phase::Open(open) = phase else { return };
        let result = open.handle_chunks(&mut context, route, packet, rest.0, rest.1);
        self.conclude(now, result);
    }

    /// COOKIE ACK for a COOKIE ECHO that came on `route` and is for this very association.
    pub(crate) fn answer_cookie(&mut self, now: Instant, route: Route) {
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            open.send_cookie_ack(&mut context, route);
        }
    }
}

impl Open {
    /// COOKIE ACK to where COOKIE ECHO came from. An unconfirmed address gets a HEARTBEAT in the same packet, the same one
    /// again if it is under way; one that no path leads to gets nothing at all, and the answer goes where the peer has
    /// been found (RFC 9260 §5.4).
    pub(crate) fn send_cookie_ack(&mut self, context: &mut Context<'_>, route: Route) {
        let probed = self.paths.by_route(route);
        let Some(id) = probed.filter(|&id| self.paths.get(id).is_some_and(|path| !path.confirmed)) else {
            let known = self.is_confirmed(route.remote.ip()).then_some(route);
            if let Some(destination) = known.or_else(|| self.confirmed_or_in_use(route)) {
                self.replies.cookie_ack(destination);
            }
            return;
        };
        if !self.replies.cookie_ack(route) {
            return;
        }
        let pending = self.paths.get_mut(id).and_then(|path| path.heartbeat.as_mut());
        if let Some(pending) = pending.filter(|pending| pending.written) {
            (pending.written, pending.repeated) = (false, true);
        }
        self.send_heartbeat_with_reply(context, id, route);
    }
}
