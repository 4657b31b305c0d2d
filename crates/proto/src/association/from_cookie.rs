//! An association that begins, or begins anew, with a valid State Cookie (RFC 9260 §5.1.5).

use core::net::SocketAddr;

use whimbrel_machine::Route;
use whimbrel_wire::{Chunks, Heartbeat};

use super::{Association, Context, Identity, Means, Open, Phase};
use crate::arrival::Arrival;
use crate::auth::gate::Gate;
use crate::cookie::OpenedCookie;
use crate::timers::Timers;

impl Association {
    /// An association made from a valid State Cookie (RFC 9260 §5.1.5 step 5).
    pub(crate) fn accept(
        arrival: &Arrival<'_>,
        identity: Identity,
        means: Means,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
    ) -> Self {
        let mut association = Self::new(identity, means);
        association.open_from_cookie(arrival, locals, cookie);
        association.announce_up(arrival.now);
        association
    }

    /// Enters ESTABLISHED with what the cookie says.
    pub(crate) fn open_from_cookie(
        &mut self,
        arrival: &Arrival<'_>,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
    ) {
        let Arrival { now, route, .. } = *arrival;
        self.timers = Timers::default();
        self.identity.local_tag = cookie.local_tag;
        self.identity.initial_tsn = cookie.local_initial_tsn;
        self.identity.auth_random = cookie.auth_random;
        let (mut context, _) = self.split(now);
        let mut open = Open::from_cookie(&mut context, locals, cookie, route);
        open.measure_handshake(&context, now.saturating_since(cookie.created));
        open.begin(&mut context);
        open.send_cookie_ack(&mut context, route);
        self.keep_totals();
        self.phase = Phase::Open(Box::new(open));
    }

    /// What follows COOKIE ECHO in its packet (RFC 9260 §5.1.5 step 7), and how far that is authenticated.
    pub(crate) fn handle_rest(&mut self, arrival: &Arrival<'_>, rest: (Chunks<'_>, Gate)) {
        let (chunks, gate) = rest;
        let handled =
            self.in_open(arrival.now, |open, context| open.handle_chunks(context, arrival, chunks, gate));
        self.conclude(arrival.now, handled.unwrap_or(Ok(())));
    }

    /// COOKIE ACK for a COOKIE ECHO that is for this very association.
    pub(crate) fn answer_cookie(&mut self, arrival: &Arrival<'_>) {
        self.in_open(arrival.now, |open, context| open.send_cookie_ack(context, arrival.route));
    }
}

impl Open {
    /// COOKIE ACK to where COOKIE ECHO came from (RFC 9260 §6.4). An unconfirmed address gets a HEARTBEAT in the same packet
    /// (§5.4), the same one again if it is under way.
    pub(crate) fn send_cookie_ack(&mut self, context: &mut Context<'_>, route: Route) {
        if !self.replies.cookie_ack(route) {
            return;
        }
        match self.paths.by_route(route) {
            Some(id) if self.paths.get(id).is_some_and(|path| !path.confirmed) => {
                let pending = self.paths.get_mut(id).and_then(|path| path.supervision.heartbeat.as_mut());
                if let Some(pending) = pending.filter(|pending| pending.written) {
                    pending.repeat(context.now);
                }
                self.send_heartbeat_with_reply(context, id, route);
            }
            // The peer may have moved before it heard that the association is up, and has nothing but its COOKIE ECHO to say so with.
            // It tells its address once it has its answer: no path leads there before, and what comes back with this nonce proves nothing.
            None if !self.is_confirmed(route.remote.ip()) => {
                self.replies.push(route, &Heartbeat { info: &context.rng.next_u64().to_be_bytes() });
            }
            _ => {}
        }
    }
}
