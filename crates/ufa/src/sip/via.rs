//! Messages that are passed on: by whom, what of them, and where they lead.

use core::cell::Cell;
use core::net::{IpAddr, SocketAddr};

use sip_types::Name;
use sip_types::header::typed::{Routing, Via};
use sip_types::print::AppendCtx;
use sip_types::uri::SipUriUserPart;

use super::path::values;
use super::{Message, SIP_PORT, Transport, place};

impl Message {
    /// The same with the body of another one: what the ends of a call offer each other (RFC 3264) is no business of who is between.
    #[must_use]
    pub(crate) fn with_body_of(self, other: &Self) -> Self {
        match other.header("Content-Type").filter(|_| !other.body().is_empty()) {
            Some(kind) => {
                let kind = kind.to_owned();
                self.with("Content-Type", kind).with_body(other.body().clone())
            }
            None => self,
        }
    }

    /// Whom the Request-URI names.
    pub(crate) fn uri_user(&self) -> Option<&str> {
        match &self.uri()?.user_part {
            SipUriUserPart::User(user) => Some(user.as_str()),
            SipUriUserPart::Empty | SipUriUserPart::UserPw(_) => None,
        }
    }

    /// Where it leads by itself whose connection with this other end is gone: for a response the host that has sent the request, at the port that it has
    /// named (RFC 3261 §18.2.2), for a request its next hop, if that is the same host.
    pub fn leads_to(&self, remote: SocketAddr) -> SocketAddr {
        let port = if self.is_request() {
            let route = values::<Routing>(self, &Name::ROUTE)
                .and_then(|routes| Some(routes.into_iter().next()?.uri.uri));
            let next = route.as_ref().or(self.uri()).and_then(|uri| place(uri, Transport::Tcp));
            next.filter(|next| next.address.ip() == remote.ip()).map(|next| next.address.port())
        } else {
            let via: Option<Via> = self.headers().get_named().ok();
            via.map(|via| via.sent_by.port.unwrap_or(SIP_PORT)).filter(|port| *port > 0)
        };
        SocketAddr::new(remote.ip(), port.unwrap_or(remote.port()))
    }
}

/// The hosts that have sent it, the last one first: each Via has the address that the next one has seen, and otherwise what it says of itself (RFC 3261
/// §18.2.1). `None` is one with a name, or one of which there are two addresses: a proxy that replaces one of them leaves the other, which the sender has made up.
pub(crate) fn senders(message: &Message) -> Vec<Option<IpAddr>> {
    let vias: Vec<Via> = values(message, &Name::VIA).unwrap_or_default();
    let sender = |via: &Via| {
        let places = Cell::new(0);
        let is_place = |name: &str| {
            places.set(places.get() + u32::from(name.eq_ignore_ascii_case("received")));
            true
        };
        let _ = via.params.filtered_print(is_place).default_print_ctx().to_string();
        let seen = via.params.get_val("received").and_then(|seen| seen.as_str().parse().ok());
        if places.get() > 1 { None } else { seen.or_else(|| via.sent_by.ip()) }
    };
    vias.iter().map(sender).collect()
}

#[cfg(test)]
#[path = "via_tests.rs"]
mod tests;
