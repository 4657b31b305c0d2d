use core::net::SocketAddr;

use bytes::Bytes;
use sip_types::header::typed::{CSeq, CallID, Contact as ContactHeader, FromTo, MaxForwards, Via};
use sip_types::host::HostPort;
use sip_types::uri::NameAddr;
use sip_types::{Headers, Method, Name};

use super::context::BadContext;
use super::{Message, Path, Token, Transport, addressed};

/// The host part of names: who somebody is, not where (RFC 2606 §2).
const REALM: &str = "ufa.invalid";

/// Where an end can be reached, and over what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contact {
    /// Address and port.
    pub address: SocketAddr,
    /// What carries SIP there.
    pub transport: Transport,
}

/// One end's view of a dialog (RFC 3261 §12).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dialog {
    call_id: String,
    /// The name and the tag of this end.
    local: (String, String),
    /// The name and the tag of the other end; no tag before it has answered.
    remote: (String, Option<String>),
    /// The last number that this end has used.
    cseq: u32,
    /// The last number that the other end has used.
    remote_cseq: u32,
    /// Where requests go: the other end, or the proxy that is nearest.
    target: Contact,
    /// How they find their way from there.
    path: Path,
}

impl Dialog {
    /// One that this end opens: `names` are those of this end and of the other.
    pub fn opening(call_id: &Token, tag: &Token, names: [&str; 2], target: Contact) -> Self {
        Self {
            call_id: call_id.as_str().to_owned(),
            local: (names[0].to_owned(), tag.as_str().to_owned()),
            remote: (names[1].to_owned(), None),
            cseq: 0,
            remote_cseq: 0,
            target,
            path: Path::default(),
        }
    }

    /// The one that a request has opened, which is answered with `tag`.
    pub fn opened(request: &Message, tag: &Token, target: Contact) -> Self {
        Self {
            call_id: request.call_id().to_owned(),
            local: (request.to_user().to_owned(), tag.as_str().to_owned()),
            remote: (request.from_user().to_owned(), request.from_tag().map(str::to_owned)),
            cseq: 0,
            remote_cseq: request.cseq(),
            target,
            path: Path::default(),
        }
    }

    /// Whether a request of the other end, which has come `over` this, belongs here (RFC 3261 §12.2.2). The user is to be the same, too: who is known by a
    /// password speaks for nobody else. And so is what carries it: who has a key has read nothing that was said in clear, and the other way about.
    pub fn is_of(&self, request: &Message, over: Transport) -> bool {
        over.is_like(self.target.transport)
            && request.call_id() == self.call_id
            && request.to_tag() == Some(&self.local.1)
            && request.from_tag() == self.remote.1.as_deref()
            && request.from_user() == self.remote.0
    }

    /// Whether a request comes later than all before it; it is the last then.
    pub fn follows(&mut self, request: &Message) -> bool {
        let later = request.cseq() > self.remote_cseq;
        self.remote_cseq = self.remote_cseq.max(request.cseq());
        later
    }

    /// The other end has answered: the dialog is up.
    pub fn confirm(&mut self, response: &Message) {
        self.remote.1 = response.to_tag().map(str::to_owned);
    }

    /// What the other end is called.
    pub fn other_user(&self) -> &str {
        &self.remote.0
    }

    /// Requests go there from now on.
    pub const fn set_target(&mut self, target: Contact) {
        self.target = target;
    }

    /// And this is written on them.
    pub fn set_path(&mut self, path: Path) {
        self.path = path;
    }

    /// What is written on them.
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// Where requests go.
    pub const fn target(&self) -> Contact {
        self.target
    }

    /// The dialog as it is after `count` more requests of this end.
    #[must_use]
    pub fn after(&self, count: u32) -> Self {
        Self { cseq: self.cseq.saturating_add(count), ..self.clone() }
    }

    /// The next request of this end, which is at `contact`. `None` cannot happen with words that [`Token`] has made.
    pub fn request(&mut self, method: &Method, contact: Contact, branch: &Token) -> Option<Message> {
        self.cseq = self.cseq.saturating_add(1);
        self.numbered(method, self.cseq, contact, branch)
    }

    /// The ACK for a 2xx to the request with this number (RFC 3261 §13.2.2.4).
    pub fn ack(&self, cseq: u32, contact: Contact, branch: &Token) -> Option<Message> {
        self.numbered(&Method::ACK, cseq, contact, branch)
    }

    fn numbered(&self, method: &Method, cseq: u32, contact: Contact, branch: &Token) -> Option<Message> {
        let Contact { address, transport } = contact;
        let name = |user: &str| {
            NameAddr::uri(
                sip_types::uri::SipUri::new(HostPort::host_name(REALM)).user(user.to_owned().into()),
            )
        };
        let tag = |tag: &str| Some(tag.to_owned().into());
        let mut headers = Headers::new();
        headers.insert_named(&Via::new(transport.to_string(), address, branch.as_str()));
        headers.insert_named(&MaxForwards(70));
        headers.insert_type(Name::FROM, &FromTo::new(name(&self.local.0), tag(&self.local.1)));
        let remote_tag = self.remote.1.as_deref().and_then(tag);
        headers.insert_type(Name::TO, &FromTo::new(name(&self.remote.0), remote_tag));
        headers.insert_named(&CallID::new(self.call_id.clone()));
        headers.insert_named(&CSeq::new(cseq, method.clone()));
        let here = ContactHeader::new(NameAddr::uri(addressed(&self.local.0, contact)));
        headers.insert_named(&here);
        let uri = self.path.write(&mut headers).unwrap_or_else(|| addressed(&self.remote.0, self.target));
        Message::request(method, uri, headers, Bytes::new()).ok()
    }
}

/// As a gateway tells the next one.
impl Dialog {
    /// In a message that `carrier` carries. In the lab, where there is nothing but UDP, that is not said: the traces of paper d10 are as they were.
    pub(super) fn written(&self, carrier: Transport) -> String {
        let (local, remote) = (&self.local, &self.remote);
        let remote_tag = remote.1.as_deref().unwrap_or("-");
        let Self { call_id, cseq, remote_cseq, target: Contact { address, transport }, .. } = self;
        let path = self.path.written();
        let own = if [carrier, *transport] == [Transport::Udp; 2] && path.is_empty() {
            String::new()
        } else {
            format!(" {transport}{path}")
        };
        format!(
            "{call_id} {} {} {} {remote_tag} {cseq} {remote_cseq} {address}{own}",
            local.0, local.1, remote.0
        )
    }

    /// From a message that `carrier` has carried, which is what carries a dialog where nothing else is said.
    pub(super) fn read(text: &str, carrier: Transport) -> Result<Self, BadContext> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let (words, more) = words.split_at_checked(8).ok_or(BadContext)?;
        let (transport, path) = match more {
            [transport, path @ ..] => (transport.parse()?, Path::read(path)?),
            [] => (carrier, Path::default()),
        };
        let [call_id, local, local_tag, remote, remote_tag, cseq, remote_cseq, address] = *words else {
            return Err(BadContext);
        };
        Ok(Self {
            call_id: call_id.to_owned(),
            local: (local.to_owned(), local_tag.to_owned()),
            remote: (remote.to_owned(), Some(remote_tag.to_owned()).filter(|tag| tag != "-")),
            cseq: cseq.parse().map_err(|_| BadContext)?,
            remote_cseq: remote_cseq.parse().map_err(|_| BadContext)?,
            target: Contact { address: address.parse().map_err(|_| BadContext)?, transport },
            path,
        })
    }
}
