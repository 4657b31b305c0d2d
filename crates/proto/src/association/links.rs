//! Local addresses come up and go down.

use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::{Instant, Route};

use super::pairing;
use super::protection::late_keys;
use super::{Association, Context, Open, Phase};
use crate::interface::AssociationAddresses;
use crate::interface::PathState;
use crate::path::Egress;
use crate::timers::TimerId;

impl Association {
    /// `locals` are the endpoint's addresses, `address` among them now.
    pub(crate) fn address_up(&mut self, now: Instant, address: SocketAddr, locals: &[SocketAddr]) {
        self.reroute_handshake(now, locals);
        let (mut context, phase) = self.split(now);
        match phase {
            Phase::CookieEchoed(echoed) => {
                echoed.open.locals.handle_up(address);
                echoed.open.follow_links();
            }
            Phase::Open(open) => open.address_up(&mut context, address),
            Phase::CookieWait(_) | Phase::Closed => {}
        }
    }

    /// `locals` are the endpoint's addresses, `address` no more among them.
    pub(crate) fn address_down(&mut self, now: Instant, address: SocketAddr, locals: &[SocketAddr]) {
        self.reroute_handshake(now, locals);
        let (mut context, phase) = self.split(now);
        match phase {
            Phase::CookieEchoed(echoed) => {
                echoed.open.locals.handle_down(address.ip());
                echoed.open.follow_links();
            }
            Phase::Open(open) => {
                open.address_down(&mut context, address);
                if open.is_cut_off_without_keys(&context) {
                    self.conclude(now, Err(late_keys()));
                }
            }
            Phase::CookieWait(_) | Phase::Closed => {}
        }
    }

    /// See [`Endpoint::spare_addresses`](crate::Endpoint::spare_addresses).
    pub(crate) fn spare_addresses(&mut self, now: Instant, addresses: Vec<IpAddr>) {
        self.in_open(now, |open, _| {
            open.paths.spare(addresses);
            open.sender.opportunity();
        });
    }

    /// What the peer knows of us, and we of the peer; nothing before the association is up.
    pub(crate) fn addresses(&self) -> AssociationAddresses {
        let view = |open: &Open| AssociationAddresses {
            local: open.locals.members().collect(),
            remote: open.peer.addresses.clone(),
        };
        self.open().map(view).unwrap_or_default()
    }

    /// The endpoint's addresses have changed: the handshake goes on from those there are now, if there are any.
    fn reroute_handshake(&mut self, now: Instant, locals: &[SocketAddr]) {
        match &mut self.phase {
            Phase::CookieWait(wait) => {
                let routes = pairing::handshake_routes(locals, &wait.request.remotes);
                if routes.is_empty() || routes == wait.attempt.routes {
                    return;
                }
                let tried = wait.attempt.route();
                if !tried.is_some_and(|tried| routes.contains(&tried)) {
                    self.timers.set(TimerId::T1Init, now);
                }
                wait.attempt.routes = routes;
                wait.request.locals = locals.to_vec();
            }
            Phase::CookieEchoed(echoed) => {
                let up = |route: &Route| locals.contains(&route.local);
                let routes = &mut echoed.attempt.routes;
                if routes.iter().all(up) {
                    return;
                }
                // The peer knows the addresses of the INIT, no others, until the association is up. If none of them is left, the cookie
                // says whose COOKIE ECHO this is, and COOKIE ACK goes where it came from.
                if routes.iter().any(up) {
                    routes.retain(up);
                } else {
                    let all = pairing::handshake_routes(locals, &echoed.request.remotes);
                    if all.is_empty() {
                        return;
                    }
                    *routes = all;
                }
                self.timers.set(TimerId::T1Cookie, now);
            }
            Phase::Open(_) | Phase::Closed => {}
        }
    }
}

impl Open {
    /// The address is there, or, if it was before, has a way out that it lacked.
    fn address_up(&mut self, context: &mut Context<'_>, address: SocketAddr) {
        let again = self.locals.up(address.ip()).is_some();
        self.locals.handle_up(address);
        self.synthesise(context);
        if again {
            self.try_again_from(context, address.ip());
        }
        self.sender.opportunity();
        self.tell_newcomer_before_up(context, address);
        if !self.locals.is_source(address.ip()) {
            return;
        }
        for id in self.paths_from(address.ip()) {
            if let Some(path) = self.paths.get_mut(id) {
                path.route.local = address;
            }
            self.open_egress(context, id);
        }
        self.pair_addresses(context, None);
    }

    /// Nothing is sent from there any more, and what is on its way is taken for lost. The address stays part of the
    /// association until it is deleted by ASCONF.
    fn address_down(&mut self, context: &mut Context<'_>, address: SocketAddr) {
        self.locals.handle_down(address.ip());
        self.synthesise(context);
        let paths = self.paths_from(address.ip());
        // All at once, so that nothing goes from one to the other.
        for &id in &paths {
            if let Some(path) = self.paths.get_mut(id) {
                path.egress = Egress::Closed;
            }
        }
        for id in paths {
            self.close_egress(context, id);
        }
        self.pair_addresses(context, None);
        self.repeat_asconf_of(context, address.ip());
    }

    /// What was sent from there had nowhere to go: no need to wait for T4, nor for the next HEARTBEAT.
    fn try_again_from(&mut self, context: &mut Context<'_>, address: IpAddr) {
        self.repeat_asconf_of(context, address);
        for id in self.paths_from(address) {
            let Some(path) = self.paths.get_mut(id) else { continue };
            if path.egress != Egress::Open || path.state == PathState::Active {
                continue;
            }
            match &mut path.supervision.heartbeat {
                Some(pending) => pending.repeat(context.now),
                None => context.timers.set(TimerId::Heartbeat(id), context.now),
            }
        }
    }

    /// Before the association is up: its timers belong to the handshake.
    fn follow_links(&mut self) {
        let Self { paths, locals, .. } = self;
        for path in paths.iter_mut() {
            let local = path.route.local.ip();
            path.egress = if locals.is_source(local) { Egress::Open } else { Egress::Closed };
        }
    }
}
