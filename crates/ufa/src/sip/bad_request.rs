//! Requests that cannot be used, and what is said to whoever has sent one.

use core::net::SocketAddr;

use bytes::Bytes;
use sip_types::header::HeaderParse;
use sip_types::header::typed::Via;
use sip_types::host::Host;
use sip_types::print::AppendCtx;
use sip_types::{Method, StatusCode};

use super::message::MAX_BYTES;
use super::{SIP_PORT, Token};

/// Headers that an answer has from its request (RFC 3261 §8.2.6.2), by their long and short names (§7.3.3).
const ECHOED: [(&str, &str); 5] = [("Via", "v"), ("From", "f"), ("To", "t"), ("Call-ID", "i"), ("CSeq", "")];

/// A request that [`Message::parse`](super::Message::parse) does not take, read as far as an answer to it needs: what stands in the five headers is given
/// back as it is, right or wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRequest {
    status: u16,
    /// From the topmost one on.
    vias: Vec<String>,
    /// From, To, Call-ID and CSeq.
    others: [String; 4],
}

impl BadRequest {
    /// Reads a datagram that is no message. `None` if it is not to be answered: what may be a response or an ACK never is (RFC 3261 §18.3, §17), nor what
    /// does not say where an answer would go and to what.
    pub fn read(datagram: &[u8]) -> Option<Self> {
        if datagram.len() > MAX_BYTES {
            return None;
        }
        let head = head_lines(datagram);
        let (first, headers) = head.split_first()?;
        let first = core::str::from_utf8(first).ok()?;
        let value = |(long, short): (&str, &str)| -> Vec<String> {
            let of_it = headers.iter().filter_map(|line| {
                let at = line.iter().position(|byte| *byte == b':')?;
                let name = core::str::from_utf8(&line[..at]).ok()?.trim_ascii();
                let known = name.eq_ignore_ascii_case(long) || name.eq_ignore_ascii_case(short);
                let value = core::str::from_utf8(&line[at + 1..]).ok().map(str::trim_ascii);
                known.then_some(value)?.map(str::to_owned)
            });
            of_it.filter(|value| !value.is_empty() && !value.contains(char::is_control)).collect()
        };
        let [vias, from, to, call_id, cseq] = ECHOED.map(value);
        via(vias.first()?)?;
        let one = |values: Vec<String>| values.into_iter().next();
        let others = [one(from)?, one(to)?, one(call_id)?, one(cseq)?];
        let (number, method) = others[3].split_once([' ', '\t'])?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let status = status(first, method.trim_ascii())?;
        Some(Self { status, vias, others })
    }

    /// What it is answered by.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Where the answer to a request that came from there goes (RFC 3261 §18.2.2, RFC 3581 §4); the topmost Via says then where that was.
    pub fn received_from(&mut self, from: SocketAddr) -> SocketAddr {
        let mut to = from;
        if let Some((mut topmost, rest)) = self.vias.first().and_then(|value| via(value)) {
            to = note_source(&mut topmost, from);
            self.vias[0] = format!("{}{rest}", topmost.default_print_ctx());
        }
        to
    }

    /// The answer, with `tag` in To where the request had none. Nothing is kept of it (RFC 3261 §8.2.7).
    pub fn answer(&self, tag: &Token) -> Vec<u8> {
        let [from, to, call_id, cseq] = &self.others;
        let reason = StatusCode::from(self.status).text().unwrap_or_default();
        let mut text = format!("SIP/2.0 {} {reason}\r\n", self.status);
        for via in &self.vias {
            text.push_str(&format!("Via: {via}\r\n"));
        }
        // The tag may stand where only whoever has made this can find it.
        let tag = match to.to_ascii_lowercase().contains(";tag=") {
            true => String::new(),
            false => format!(";tag={}", tag.as_str()),
        };
        text.push_str(&format!("From: {from}\r\nTo: {to}{tag}\r\nCall-ID: {call_id}\r\nCSeq: {cseq}\r\n"));
        text.push_str("Content-Length: 0\r\n\r\n");
        text.into_bytes()
    }
}

/// Notes in a Via where its message came from; returns where the answer goes (RFC 3261 §18.2, RFC 3581 §4).
pub(super) fn note_source(via: &mut Via, from: SocketAddr) -> SocketAddr {
    let mut answer = from;
    let asked = via.params.get("rport").is_some();
    if asked {
        via.params.push_or_edit("rport", from.port().to_string());
    } else {
        answer.set_port(via.sent_by.port.unwrap_or(SIP_PORT));
    }
    // RFC 3581 §4: with rport always, even if it says what sent-by does.
    if asked || via.sent_by.ip() != Some(from.ip()) {
        via.params.push_or_edit("received", from.ip().to_string());
    }
    answer
}

/// The topmost Via of a line, and what stands behind it.
fn via(value: &str) -> Option<(Via, String)> {
    let source = Bytes::copy_from_slice(value.as_bytes());
    let text = core::str::from_utf8(&source).ok()?;
    let (rest, via) = Via::parse(&source, text).ok()?;
    let nobody = matches!(&via.sent_by.host, Host::Name(name) if name.is_empty());
    (!nobody).then(|| (via, rest.to_owned()))
}

/// The lines of a head, those that are folded as one (RFC 3261 §7.3.1).
fn head_lines(datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in datagram.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match (line.first(), lines.last_mut()) {
            (None, _) => break,
            (Some(b' ' | b'\t'), Some(folded)) => {
                folded.push(b' ');
                folded.extend_from_slice(line.trim_ascii());
            }
            _ => lines.push(line.to_vec()),
        }
    }
    lines
}

/// What a request with this first line, and this method in CSeq, is answered by.
fn status(first: &str, cseq_method: &str) -> Option<u16> {
    let words: Vec<&str> = first.split([' ', '\t']).collect();
    let method = words.first()?;
    let is_response = method.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("SIP/"));
    if is_response || [*method, cseq_method].contains(&"ACK") {
        return None;
    }
    let version = words.iter().rev().find(|word| !word.is_empty())?;
    let other_version = version.get(..4) == Some("SIP/") && *version != "SIP/2.0";
    let [_, uri, _] = words[..] else { return Some(if other_version { 505 } else { 400 }) };
    if other_version {
        // RFC 3261 §21.5.6.
        return Some(505);
    }
    if *version != "SIP/2.0" || *method != cseq_method {
        return Some(400);
    }
    if !is_recognized(method) {
        return Some(501);
    }
    // RFC 3261 §8.2.2.1.
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let foreign = scheme.is_some_and(|scheme| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
            && !["sip", "sips"].contains(&scheme.as_str())
    });
    Some(if foreign { 416 } else { 400 })
}

/// Whether a method is one of SIP's, or of gateways among themselves: which of them somebody can do is another matter (RFC 3261 §8.2.1, §21.5.2).
pub(crate) fn is_recognized(method: &str) -> bool {
    let known = [
        Method::INVITE,
        Method::ACK,
        Method::CANCEL,
        Method::BYE,
        Method::REGISTER,
        Method::OPTIONS,
        Method::INFO,
        Method::PRACK,
        Method::SUBSCRIBE,
        Method::NOTIFY,
        Method::UPDATE,
        Method::MESSAGE,
        Method::REFER,
        Method::PUBLISH,
    ];
    let own = [super::RESOURCE_QUERY, super::CONTEXT_TRANSFER];
    own.contains(&method) || known.iter().any(|known| known.to_string() == method)
}
