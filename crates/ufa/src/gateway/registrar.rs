//! REGISTER (RFC 3261 §10.3): users of SIP in clear say where they are, and are called there.

use core::time::Duration;

use sip_types::Name;
use sip_types::header::typed::{Contact as ContactHeader, FromTo};
use sip_types::uri::SipUri;
use whimbrel_machine::Instant;

use super::Gateway;
use super::bindings::{LEAST, Refused, USUAL, Wish};
use super::caller::{Caller, by_connection};
use crate::interface::Application;
use crate::sip::{Contact, Message, Path, ServerId, place, uri_text, values};

/// Whom a gateway calls for a terminal.
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) contact: Contact,
    pub(super) path: Path,
}

impl Gateway {
    /// A user says where it is, that it is there no more, or asks where that is. Who it is has been proved: users speak for themselves.
    pub(super) fn register(&mut self, now: Instant, transaction: ServerId, request: &Message, from: &Caller) {
        let user = request.to_user().to_owned();
        let status = match self.wishes(request, from) {
            Err(status) => status,
            Ok(wishes) => {
                let order = (request.call_id(), request.cseq());
                match self.bindings.update(now, &user, &wishes, order) {
                    Ok(()) => 200,
                    Err(Refused::TooBrief) => 423,
                    Err(Refused::Late) => 500,
                    Err(Refused::TooMany) => 403,
                    Err(Refused::Full) => 503,
                }
            }
        };
        let places = self.bindings.of(now, &user).map(|binding| {
            // What is left of a second is one: nobody is told that it is not there.
            let left = binding.until.saturating_since(now).as_millis().div_ceil(1000);
            format!("<{}>;expires={left}", binding.uri)
        });
        let places: Vec<String> = if status == 200 { places.collect() } else { Vec::new() };
        self.agent.respond(now, transaction, request, status, |answer| match status {
            423 => answer.with("Min-Expires", LEAST.as_secs()),
            _ => places.into_iter().fold(answer, |answer, place| answer.with("Contact", place)),
        });
    }

    /// What a request wants; nothing, if it only asks. The error is the status of an answer.
    fn wishes(&self, request: &Message, from: &Caller) -> Result<Vec<Wish>, u16> {
        let to: FromTo = request.headers().get(Name::TO).map_err(|_| 400_u16)?;
        if !request.uri().is_some_and(|uri| self.is_ours(uri)) || !self.is_ours(&to.uri.uri) {
            return Err(404);
        }
        // Nobody says where somebody else is (RFC 3261 §10.3, 4).
        if request.to_user() != request.from_user() {
            return Err(403);
        }
        let expires = request.header("Expires").map(seconds);
        let contacts = request.list("Contact").unwrap_or_default();
        if contacts.split(',').any(|contact| contact.trim() == "*") {
            // RFC 3261 §10.3, 6.
            let alone = contacts.trim() == "*" && expires == Some(Duration::ZERO);
            return if alone { Ok(vec![Wish::GoAll]) } else { Err(400) };
        }
        let contacts: Vec<ContactHeader> = values(request, &Name::CONTACT).ok_or(400_u16)?;
        let wish = |contact: &ContactHeader| {
            let uri = uri_text(&contact.uri.uri).map_err(|_| 400_u16)?;
            let own = contact.params.get_val("expires").map(|text| seconds(text.as_str()));
            let time = own.or(expires).unwrap_or(USUAL);
            if time.is_zero() {
                return Ok(Wish::Go(uri));
            }
            Ok(Wish::Be(uri, self.reach(&contact.uri.uri, from)?, time))
        };
        contacts.iter().map(wish).collect()
    }

    /// Where a user can be called that has said so: at its own host and no other one, and where it has no address there, where it has spoken from.
    fn reach(&self, uri: &SipUri, from: &Caller) -> Result<Contact, u16> {
        let named = place(uri, from.source.transport).filter(|named| named.address.ip() == from.host);
        let heard = Some(from.source).filter(|source| source.address.ip() == from.host);
        named.or(heard).map(|contact| by_connection(contact, from.source)).ok_or(403)
    }

    /// Whether a URI is of the gateway's domain.
    fn is_ours(&self, uri: &SipUri) -> bool {
        let host = &uri.host_port;
        let named = |domain: &String| host.host.to_string().eq_ignore_ascii_case(domain);
        host.ip() == Some(self.config.address.ip()) || self.config.clear.domain.as_ref().is_some_and(named)
    }

    /// Whom a terminal calls: a user who has said where it is; or somebody at the host of the association, by the URI that the terminal has for that, or in
    /// the way in which the terminal speaks.
    pub(super) fn callee(
        &self,
        now: Instant,
        request: &Message,
        application: &Application,
        from: &Caller,
    ) -> Callee {
        let transport = from.source.transport;
        let address = (application.correspondent.ip(), transport.port()).into();
        let usual = Callee {
            name: "correspondent".into(),
            contact: Contact { address, transport },
            path: Path::default(),
        };
        let Some(uri) = request.uri().filter(|_| self.agent.is_besides(transport)) else { return usual };
        let user = request.uri_user().filter(|_| self.is_ours(uri));
        if let Some(binding) = user.and_then(|user| self.bindings.of(now, user).last()) {
            let (contact, path) = (binding.contact, Path::to(binding.uri.clone()));
            return Callee { name: user.unwrap_or_default().to_owned(), contact, path };
        }
        let there =
            place(uri, transport).filter(|there| there.address.ip() == application.correspondent.ip());
        match there.zip(uri_text(uri).ok()) {
            Some((contact, text)) => Callee { contact, path: Path::to(text), ..usual },
            None => usual,
        }
    }
}

/// What cannot be read is as if it were not there (RFC 3261 §20.19).
fn seconds(text: &str) -> Duration {
    text.trim().parse().map_or(USUAL, |seconds: u32| Duration::from_secs(seconds.into()))
}

#[cfg(test)]
#[path = "registrar_tests.rs"]
mod tests;
