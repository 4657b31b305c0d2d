//! A valid COOKIE ECHO meets this association (RFC 9260 §5.2.4).

use core::net::SocketAddr;

use whimbrel_machine::Route;

use super::asconf::mobility;
use super::{Association, Phase};
use crate::arrival::Arrival;
use crate::auth::session::Auth;
use crate::cookie::OpenedCookie;
use crate::interface::{AddressChangeError, Event};
use crate::negotiate::Agreement;

impl Association {
    /// Action A: the peer has restarted. Everything begins anew under the same name; what was in flight is gone.
    pub(crate) fn restart(&mut self, arrival: &Arrival<'_>, locals: &[SocketAddr], cookie: &OpenedCookie) {
        let Phase::Open(open) = &mut self.phase else { return };
        // What had arrived completely was acknowledged, so the user gets it.
        open.drain_received(&mut self.events, self.identity.id, &self.config.limits);
        let undelivered = open.undelivered();
        let vouching = open.vouching_after_restart();
        self.in_open(arrival.now, |open, context| {
            open.abandon_changes(context, AddressChangeError::Abandoned);
        });
        self.open_from_cookie(arrival, locals, cookie);
        self.in_open(arrival.now, |open, _| open.vouch_as_before(vouching));
        self.events.push_back(Event::Restarted {
            association: self.identity.id,
            outbound_streams: cookie.agreement.outbound_streams,
            undelivered,
        });
    }

    /// Action B: both sides began at once, and the peer's tag is the one in the cookie. It was `told` of these addresses of ours.
    pub(crate) fn adopt_cookie(&mut self, arrival: &Arrival<'_>, told: &[SocketAddr], cookie: &OpenedCookie) {
        match &mut self.phase {
            Phase::CookieWait(_) | Phase::CookieEchoed(_) => {
                self.open_from_cookie(arrival, told, cookie);
                self.announce_up(arrival.now);
            }
            Phase::Open(open) => {
                let Agreement { peer_tag, extensions, auth, .. } = &cookie.agreement;
                open.peer.tag = *peer_tag;
                // The random numbers follow the tags (RFC 4895 §6.1).
                open.auth = Auth::new(&self.config, &self.keys, cookie.auth_random, auth.as_ref());
                self.in_open(arrival.now, |open, context| open.begin_keys_anew(context, &cookie.agreement));
                let Phase::Open(open) = &mut self.phase else { return };
                let before = open.asconf.mobility;
                open.asconf.mobility = mobility(&self.config, &open.auth, *extensions);
                let changed = open.asconf.mobility != before;
                self.answer_cookie(arrival);
                if changed {
                    self.announce_mobility(arrival.now);
                }
            }
            Phase::Closed => {}
        }
    }

    /// Action D: the cookie is for this association; COOKIE ACK was lost, or both sides began at once.
    pub(crate) fn confirm_cookie(&mut self, arrival: &Arrival<'_>) {
        self.establish(arrival.now);
        self.in_open(arrival.now, |open, context| {
            if open.knows(arrival.route.remote.ip()) {
                open.hear(context, arrival.route);
            }
        });
        self.answer_cookie(arrival);
    }

    /// The peer began anew while we wait for its SHUTDOWN COMPLETE (action A, last paragraph).
    pub(crate) fn repeat_shutdown_ack(&mut self, route: Route) {
        if let Phase::Open(open) = &mut self.phase {
            open.repeat_shutdown_ack(route, true);
        }
    }
}
