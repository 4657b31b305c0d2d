//! The way of requests within a dialog (RFC 3261 §12.1 and §12.2.1.1): the URI of the other end, and the proxies that want to stay between.

use core::net::SocketAddr;

use sip_types::header::HeaderParse;
use sip_types::header::typed::{Contact as ContactHeader, Routing};
use sip_types::print::AppendCtx;
use sip_types::uri::SipUri;
use sip_types::{Headers, Name};

use super::{BadContext, Contact, Message, SIP_PORT, Transport};

/// Proxies at most, and bytes of a URI: each dialog keeps them.
const ROUTES_MAX: usize = 8;
const URI_MAX: usize = 256;

/// Contact or Record-Route cannot be read, or there is too much of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a Contact or a Record-Route that cannot be used")]
pub struct BadPath;

/// Where requests lead that go by SIP's own rules. Nothing, where ends are known by their addresses alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path {
    /// The URI in the other end's Contact.
    target: Option<String>,
    /// Those of Record-Route, the nearest proxy first.
    routes: Vec<String>,
}

/// Where a URI leads, if it says so by an address and to what is in clear. RFC 3263 §4.1 would have UDP where it does not say how; whoever has come by
/// TCP and does not say so wants to be called by TCP, too.
pub fn place(uri: &SipUri, usual: Transport) -> Option<Contact> {
    let transport = Transport::asked(uri.uri_params.get_val("transport").map(|word| word.as_str()), usual);
    let address = SocketAddr::new(uri.host_port.ip()?, uri.host_port.port.unwrap_or(SIP_PORT));
    (!uri.sips && address.port() > 0).then_some(Contact { address, transport: transport? })
}

impl Path {
    /// Back to whoever has sent this request (RFC 3261 §12.1.1).
    ///
    /// # Errors
    /// When its headers cannot be used.
    pub fn of_request(request: &Message) -> Result<Self, BadPath> {
        let (target, routes) = (target(request)?, routes(request)?);
        Ok(Self { target, routes })
    }

    /// Back to whoever has sent this response (RFC 3261 §12.1.2).
    ///
    /// # Errors
    /// When its headers cannot be used.
    pub fn of_response(response: &Message) -> Result<Self, BadPath> {
        let mut path = Self::of_request(response)?;
        path.routes.reverse();
        Ok(path)
    }

    /// To somebody who has told this URI, with nobody between.
    pub(crate) const fn to(target: String) -> Self {
        Self { target: Some(target), routes: Vec::new() }
    }

    /// The same proxies, and where the other end is by what it has said last (RFC 3261 §12.2.1.2).
    pub(crate) fn refresh(&mut self, later: Self) {
        self.target = later.target.or_else(|| self.target.take());
    }

    /// Whether there is a proxy.
    pub const fn has_routes(&self) -> bool {
        !self.routes.is_empty()
    }

    /// Where the first of them is that are on the way, or the other end itself; `None` if not by an address.
    pub fn first(&self, usual: Transport) -> Option<Contact> {
        place(&self.routes.first().or(self.target.as_ref())?.parse().ok()?, usual)
    }

    /// Writes Route; returns the Request-URI, if this says what that is.
    pub(super) fn write(&self, headers: &mut Headers) -> Option<SipUri> {
        let target: SipUri = self.target.as_ref()?.parse().ok()?;
        let first: Option<SipUri> = self.routes.first().and_then(|first| first.parse().ok());
        // Of RFC 2543: it takes the Request-URI for its own.
        let strict = first.filter(|first| first.uri_params.get("lr").is_none());
        let routes = self.routes.iter().skip(usize::from(strict.is_some()));
        for route in routes.chain(strict.is_some().then_some(self.target.as_ref()).flatten()) {
            headers.insert(Name::ROUTE, format!("<{route}>"));
        }
        Some(strict.unwrap_or(target))
    }

    /// As a gateway tells the next one, behind other words.
    pub(super) fn written(&self) -> String {
        let target = match (&self.target, self.has_routes()) {
            (None, false) => return String::new(),
            (None, true) => "-",
            (Some(target), _) => target,
        };
        self.routes.iter().fold(format!(" {target}"), |text, route| format!("{text} {route}"))
    }

    /// From such words.
    pub(super) fn read(words: &[&str]) -> Result<Self, BadContext> {
        let known = |word: &&str| word.len() <= URI_MAX && word.parse::<SipUri>().is_ok();
        let (target, routes) = match words {
            [] => (None, words),
            ["-", routes @ ..] => (None, routes),
            [target, routes @ ..] => (Some(*target), routes),
        };
        if routes.len() > ROUTES_MAX || !routes.iter().chain(&target).all(known) {
            return Err(BadContext);
        }
        let routes = routes.iter().map(|route| (*route).to_owned()).collect();
        Ok(Self { target: target.map(str::to_owned), routes })
    }
}

/// All values of a header that is a list, or `None` if one of them is none: whoever reads lists here leaves such ones out, and what is behind would be taken
/// for what is before.
pub(crate) fn values<T: HeaderParse>(message: &Message, name: &Name) -> Option<Vec<T>> {
    let mut values = Vec::new();
    for line in message.headers().get_raw(name) {
        let mut left: &str = line.as_str();
        loop {
            let (rest, value) = T::parse(line.as_ref(), left).ok()?;
            values.push(value);
            left = rest.trim();
            match left.strip_prefix(',') {
                Some(rest) => left = rest.trim_start(),
                None if left.is_empty() => break,
                None => return None,
            }
        }
    }
    Some(values)
}

/// The first URI in Contact.
fn target(message: &Message) -> Result<Option<String>, BadPath> {
    if !message.headers().contains(&Name::CONTACT) {
        return Ok(None);
    }
    let contact: ContactHeader = message.headers().get_named().map_err(|_| BadPath)?;
    uri_text(&contact.uri.uri).map(Some)
}

fn routes(message: &Message) -> Result<Vec<String>, BadPath> {
    let routes: Vec<Routing> = values(message, &Name::RECORD_ROUTE).ok_or(BadPath)?;
    if routes.len() > ROUTES_MAX {
        return Err(BadPath);
    }
    routes.iter().map(|route| uri_text(&route.uri.uri)).collect()
}

/// A URI as it is written between `<` and `>`.
pub(crate) fn uri_text(uri: &SipUri) -> Result<String, BadPath> {
    let text = uri.default_print_ctx().to_string();
    let plain = |letter: char| letter.is_ascii_graphic() && !"<>\",".contains(letter);
    // What is written must be what is read again.
    let same = text.parse::<SipUri>().is_ok_and(|again| again.default_print_ctx().to_string() == text);
    (text.len() <= URI_MAX && text.chars().all(plain) && same).then_some(text).ok_or(BadPath)
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
