//! A valid COOKIE ECHO meets this association (RFC 9260 §5.2.4).

use core::net::SocketAddr;

use whimbrel_machine::{Instant, Route};

use super::asconf::mobility;
use super::{Association, Phase};
use crate::auth::session::Auth;
use crate::cookie::OpenedCookie;
use crate::interface::{AddressChangeError, Event};

impl Association {
    /// Action A: the peer has restarted. Everything begins anew under the same name; what was in flight is gone.
    pub(crate) fn restart(
        &mut self,
        now: Instant,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) {
        let Phase::Open(open) = &mut self.phase else { return };
        // What had arrived completely was acknowledged, so the user gets it.
        open.drain_received(&mut self.events, self.identity.id);
        let undelivered = open.undelivered();
        let (mut context, phase) = self.split(now);
        if let Phase::Open(open) = phase {
            open.abandon_changes(&mut context, AddressChangeError::Abandoned);
        }
        self.open_from_cookie(now, locals, cookie, route);
        self.events.push_back(Event::Restarted {
            association: self.identity.id,
            outbound_streams: cookie.outbound_streams,
            undelivered,
        });
    }

    /// Action B: both sides began at once, and the peer's tag is the one in the cookie.
    pub(crate) fn adopt_cookie(
        &mut self,
        now: Instant,
        locals: &[SocketAddr],
        cookie: &OpenedCookie,
        route: Route,
    ) {
        match &mut self.phase {
            Phase::CookieWait(_) | Phase::CookieEchoed(_) => {
                self.open_from_cookie(now, locals, cookie, route);
                self.announce_up(now);
            }
            Phase::Open(open) => {
                open.peer.tag = cookie.peer_tag;
                // The random numbers follow the tags (RFC 4895 §6.1).
                open.auth = Auth::new(&self.config, &self.keys, cookie.auth_random, cookie.auth.as_ref());
                let before = open.asconf.mobility;
                open.asconf.mobility = mobility(&self.config, &open.auth);
                let changed = open.asconf.mobility != before;
                self.answer_cookie(now, route);
                if changed {
                    self.announce_mobility(now);
                }
            }
            Phase::Closed => {}
        }
    }

    /// Action D: the cookie is for this association; COOKIE ACK was lost, or both sides began at once.
    pub(crate) fn confirm_cookie(&mut self, now: Instant, route: Route) {
        self.establish(now);
        self.answer_cookie(now, route);
    }

    /// The peer began anew while we wait for its SHUTDOWN COMPLETE (action A, last paragraph).
    pub(crate) fn repeat_shutdown_ack(&mut self, route: Route) {
        if let Phase::Open(open) = &mut self.phase {
            open.repeat_shutdown_ack(route, true);
        }
    }
}
