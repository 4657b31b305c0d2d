use core::net::SocketAddr;

use bytes::Bytes;
use sip_types::header::HeaderParse;
use sip_types::header::typed::{CSeq, CallID, Contact, FromTo, Via};
use sip_types::host::HostPort;
use sip_types::msg::{Line, MessageLine, PullParser, RequestLine, StatusLine};
use sip_types::parse::Parse;
use sip_types::print::{AppendCtx, PrintCtx, UriContext};
use sip_types::uri::{NameAddr, SipUri, SipUriUserPart};
use sip_types::{Headers, Method, Name, StatusCode};
use whimbrel_machine::Rng;

use super::SIP_PORT;
use super::bad_request::note_source;

/// Bytes of a message at most. What is longer is nobody's who speaks to these machines.
pub(super) const MAX_BYTES: usize = 8192;

/// Header lines of a message at most.
const MAX_LINES: usize = 64;

/// Bytes of a user's name at most.
const USER_MAX: usize = 64;

/// Who has no name, or one that is no plain word.
const ANONYMOUS: &str = "anonymous";

/// Every branch begins so (RFC 3261 §8.1.1.7).
const MAGIC_COOKIE: &str = "z9hG4bK";

/// What came is no SIP message that can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no SIP message, or one without the headers of RFC 3261 §8.1.1")]
pub struct NotSip;

/// A SIP message with all that finds its transaction and its dialog.
#[derive(Clone, Debug)]
pub struct Message {
    line: MessageLine,
    headers: Headers,
    body: Bytes,
    branch: String,
    call_id: String,
    cseq: u32,
    method: Method,
    from_user: String,
    from_tag: Option<String>,
    to_user: String,
    to_tag: Option<String>,
}

/// A word that nobody else has chosen.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(String);

impl Token {
    /// Of 64 random bits (RFC 3261 §19.3 asks for 32 at least).
    pub fn random(rng: &mut Rng) -> Self {
        Self(format!("{:016x}", rng.next_u64()))
    }

    /// Of the first eight of these bytes, which nobody guesses.
    pub fn of(bytes: &[u8; 32]) -> Self {
        Self(bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
    }

    /// One that was chosen before.
    pub(super) fn named(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// A branch, which names a transaction.
    pub fn branch(rng: &mut Rng) -> Self {
        Self(format!("{MAGIC_COOKIE}{:016x}", rng.next_u64()))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a message can begin so: RFC 3261 §7.1 and §7.2 have one blank between words, and none within.
fn is_start_line(line: &str) -> bool {
    // Folded lines are joined by whoever reads lines.
    if line.contains(['\r', '\n']) {
        return false;
    }
    if let Some(status) = line.strip_prefix("SIP/2.0 ") {
        return status.starts_with(|first: char| first.is_ascii_digit());
    }
    let words: Vec<&str> = line.split([' ', '\t']).collect();
    matches!(words[..], [method, uri, "SIP/2.0"] if !method.is_empty() && !uri.is_empty())
}

/// Who is named there, if that is a plain word.
fn user(of: &FromTo) -> String {
    let user = match &of.uri.uri.user_part {
        SipUriUserPart::User(user) => user.as_str(),
        SipUriUserPart::Empty | SipUriUserPart::UserPw(_) => "",
    };
    if is_user(user) { user.to_owned() } else { ANONYMOUS.to_owned() }
}

/// Whether somebody can be called so: a word that a SIP URI may have without escapes (RFC 3261 §25.1), and not the one of those who have no name.
pub fn is_user(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.!~*'()&=+$,;?/".contains(letter);
    (1..=USER_MAX).contains(&name.len()) && name != ANONYMOUS && name.chars().all(plain)
}

/// `sip:user@address:port`, and without a user `sip:address:port`. What is reached by TCP in clear says so (RFC 3261 §19.1.5).
pub fn addressed(user: &str, at: super::Contact) -> SipUri {
    let mut uri = SipUri::new(HostPort::from(at.address));
    if at.transport == super::Transport::Tcp {
        uri = uri.uri_param_value("transport", "tcp");
    }
    if user.is_empty() { uri } else { uri.user(user.into()) }
}

impl Message {
    /// A request. The headers must have Via, Call-ID, CSeq, From and To.
    ///
    /// # Errors
    /// When one of them is missing.
    pub fn request(method: &Method, uri: SipUri, headers: Headers, body: Bytes) -> Result<Self, NotSip> {
        Self::of(MessageLine::Request(RequestLine { method: method.clone(), uri }), headers, body)
    }

    /// Reads a datagram.
    ///
    /// # Errors
    /// When it is none, or lacks what every message has.
    pub fn parse(datagram: &[u8]) -> Result<Self, NotSip> {
        if datagram.len() > MAX_BYTES {
            return Err(NotSip);
        }
        let source = Bytes::copy_from_slice(datagram);
        let mut lines = PullParser::new(&source, 0);
        let first = lines.next().ok_or(NotSip)?.map_err(|_| NotSip)?;
        let first = core::str::from_utf8(first).map_err(|_| NotSip)?;
        if !is_start_line(first) {
            return Err(NotSip);
        }
        let (_, line) = MessageLine::parse(&source)(first).map_err(|_| NotSip)?;
        // Whoever reads it takes any word that begins with a method for that method, in whatever case (RFC 3261 §7.1).
        let method = line.request_method().map(ToString::to_string);
        if method.is_some_and(|method| first.split([' ', '\t']).next() != Some(method.as_str())) {
            return Err(NotSip);
        }
        let (mut headers, mut count) = (Headers::new(), 0);
        for text in &mut lines {
            let text = core::str::from_utf8(text.map_err(|_| NotSip)?).map_err(|_| NotSip)?;
            let (_, header) = Line::parse(&source, text).map_err(|_| NotSip)?;
            headers.insert(header.name, header.value);
            count += 1;
            if count > MAX_LINES {
                return Err(NotSip);
            }
        }
        // RFC 3261 §18.3: in UDP what follows the head is the body, unless Content-Length cuts it short.
        let rest = source.slice(lines.head_end().min(source.len())..);
        let length = match headers.get_raw(&Name::CONTENT_LENGTH).collect::<Vec<_>>()[..] {
            [] => rest.len(),
            [length] => length.as_str().trim().parse().map_err(|_| NotSip)?,
            // Of two either may be the true one, and what one reader takes for a body is a message to another.
            _ => return Err(NotSip),
        };
        // It is written anew.
        headers.remove(&Name::CONTENT_LENGTH);
        if length > rest.len() {
            return Err(NotSip);
        }
        Self::of(line, headers, rest.slice(..length))
    }

    fn of(line: MessageLine, headers: Headers, body: Bytes) -> Result<Self, NotSip> {
        // RFC 3261 §7.3.1: of what is no list there is one. Of two dialogs a message would belong to either.
        if [Name::FROM, Name::TO, Name::CALL_ID, Name::CSEQ]
            .iter()
            .any(|name| headers.get_raw(name).count() != 1)
        {
            return Err(NotSip);
        }
        let via: Via = headers.get_named().map_err(|_| NotSip)?;
        let branch = via.params.get_val("branch").ok_or(NotSip)?.to_string();
        let CallID(call_id) = headers.get_named().map_err(|_| NotSip)?;
        let CSeq { cseq, method } = headers.get_named().map_err(|_| NotSip)?;
        // As above.
        let cseq_line = headers.get_raw(&Name::CSEQ).next().ok_or(NotSip)?;
        if cseq_line.split_ascii_whitespace().nth(1) != Some(method.to_string().as_str()) {
            return Err(NotSip);
        }
        let from: FromTo = headers.get(Name::FROM).map_err(|_| NotSip)?;
        let to: FromTo = headers.get(Name::TO).map_err(|_| NotSip)?;
        let agrees = match &line {
            MessageLine::Request(line) => line.method == method,
            MessageLine::Response(line) => (100..700).contains(&line.code.into_u16()),
        };
        // A branch of the cookie alone names nothing, and Call-ID is a word (RFC 3261 §25.1).
        let is_word = !call_id.is_empty() && !call_id.contains(char::is_whitespace);
        if !agrees || branch.is_empty() || branch.eq_ignore_ascii_case(MAGIC_COOKIE) || !is_word {
            return Err(NotSip);
        }
        // Two tags would name two dialogs.
        if [&from, &to].iter().any(|of| of.params.get("tag").is_some()) {
            return Err(NotSip);
        }
        let word = |of: &FromTo| of.tag.as_ref().map(ToString::to_string);
        Ok(Self {
            line,
            headers,
            body,
            branch,
            call_id: call_id.to_string(),
            cseq,
            method,
            from_user: user(&from),
            from_tag: word(&from),
            to_user: user(&to),
            to_tag: word(&to),
        })
    }

    /// The message on the wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let context = PrintCtx { method: Some(&self.method), uri: Some(UriContext::ReqUri) };
        let mut text = format!("{}\r\n{}", self.line.print_ctx(context), self.headers);
        text.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Whether it is a request.
    pub fn is_request(&self) -> bool {
        self.line.is_request()
    }

    /// The Request-URI.
    pub const fn uri(&self) -> Option<&SipUri> {
        match &self.line {
            MessageLine::Request(line) => Some(&line.uri),
            MessageLine::Response(_) => None,
        }
    }

    /// The method, of a response that of its request.
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// The status of a response; 0 of a request.
    pub fn status(&self) -> u16 {
        match &self.line {
            MessageLine::Response(line) => line.code.into_u16(),
            MessageLine::Request(_) => 0,
        }
    }

    /// What its sender has put into the topmost Via.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Call-ID.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The number in CSeq.
    pub const fn cseq(&self) -> u32 {
        self.cseq
    }

    /// Who the URI in From names.
    pub fn from_user(&self) -> &str {
        &self.from_user
    }

    /// Who the URI in To names.
    pub fn to_user(&self) -> &str {
        &self.to_user
    }

    /// The tag in From.
    pub fn from_tag(&self) -> Option<&str> {
        self.from_tag.as_deref()
    }

    /// The tag in To.
    pub fn to_tag(&self) -> Option<&str> {
        self.to_tag.as_deref()
    }

    /// Where Contact says that its sender is, if by an IP address.
    pub fn contact(&self) -> Option<SocketAddr> {
        let contact: Contact = self.headers.get_named().ok()?;
        let HostPort { port, .. } = contact.uri.uri.host_port;
        Some(SocketAddr::new(contact.uri.uri.host_port.ip()?, port.unwrap_or(SIP_PORT)))
    }

    /// The same as it came from there (RFC 3261 §18.2.1, RFC 3581 §4), and where its answer is to go (§18.2.2).
    ///
    /// # Errors
    /// When its Via cannot be read.
    pub fn received_from(mut self, from: SocketAddr) -> Result<(Self, SocketAddr), NotSip> {
        let mut answer = from;
        let note = |via: &mut Via| answer = note_source(via, from);
        let others = self.other_vias()?;
        self.headers.edit_named(note).map_err(|_| NotSip)?;
        for via in others {
            self.headers.insert(Name::VIA, via);
        }
        Ok((self, answer))
    }

    /// The Vias below the topmost one, by which the answer finds its way from proxy to proxy. They stand in the same line or in further ones.
    fn other_vias(&self) -> Result<Vec<String>, NotSip> {
        let mut lines = self.headers.get_raw(&Name::VIA);
        let first = lines.next().ok_or(NotSip)?;
        let (rest, _) = Via::parse(first.as_ref(), first).map_err(|_| NotSip)?;
        let same_line = rest.trim_start().strip_prefix(',').map(|rest| rest.trim().to_owned());
        Ok(same_line.into_iter().chain(lines.map(ToString::to_string)).collect())
    }

    /// All headers.
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The first value of a header, as it stands there.
    pub fn header(&self, name: &str) -> Option<&str> {
        Some(self.headers.get_raw(&Name::from(name)).next()?.as_str())
    }

    /// All values of a header that is a list, which may stand in several lines (RFC 3261 §7.3.1).
    pub fn list(&self, name: &str) -> Option<String> {
        let lines: Vec<&str> = self.headers.get_raw(&Name::from(name)).map(|value| value.as_str()).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    /// The same with a Contact there.
    #[must_use]
    pub(crate) fn at(mut self, contact: super::Contact) -> Self {
        let uri = NameAddr::uri(addressed(&self.to_user, contact));
        self.headers.insert_named(&Contact::new(uri));
        self
    }

    /// The same with the proxies that want to stay between (RFC 3261 §12.1.1).
    #[must_use]
    pub(crate) fn recorded(mut self, request: &Self) -> Self {
        for route in request.headers.get_raw(&Name::RECORD_ROUTE) {
            self.headers.insert(Name::RECORD_ROUTE, route.as_str());
        }
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl core::fmt::Display) -> Self {
        self.headers.insert(Name::from(name), value.to_string());
        self
    }

    /// The body.
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The same with this body.
    #[must_use]
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }
}

/// A response to a request (RFC 3261 §8.2.6), with `tag` in To where the request had none.
///
/// # Errors
/// Nothing that a message which was read could cause.
pub fn response(request: &Message, status: u16, tag: &Token) -> Result<Message, NotSip> {
    let mut headers = Headers::new();
    for name in [Name::VIA, Name::FROM, Name::CALL_ID, Name::CSEQ] {
        request.headers.clone_into(&mut headers, name).map_err(|_| NotSip)?;
    }
    let mut to: FromTo = request.headers.get(Name::TO).map_err(|_| NotSip)?;
    if to.tag.is_none() && status > 100 {
        to.tag = Some(tag.as_str().into());
    }
    headers.insert_type(Name::TO, &to);
    let code = StatusCode::from(status);
    let reason = code.text().map(Into::into);
    Message::of(MessageLine::Response(StatusLine { code, reason }), headers, Bytes::new())
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
