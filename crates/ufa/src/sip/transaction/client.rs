use std::collections::VecDeque;

use sip_types::Method;
use whimbrel_machine::{Instant, Route};

use super::invite_client::InviteClient;
use super::other_client::OtherClient;
use super::{Elapsed, Timers};
use crate::sip::Message;

/// What becomes of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClientVerdict {
    /// It is the first final one: the user is told.
    Told,
    /// Nothing.
    Absorbed,
    /// It says how far the other end is: the user is told.
    Progress,
    /// The ACK goes out again, or for the first time where the transaction makes it itself.
    Acknowledge,
}

/// The states of a client transaction, of one kind or the other.
pub(super) trait ClientState: core::fmt::Debug + Send + Sync {
    /// A response with this status has come.
    fn on_response(&mut self, now: Instant, status: u16) -> ClientVerdict;

    /// Time has passed.
    fn on_time(&mut self, now: Instant) -> Elapsed;

    /// When time matters.
    fn deadline(&self) -> Option<Instant>;

    /// Whether no final response has come yet.
    fn is_open(&self) -> bool;
}

/// A transaction that this end has begun: its state, and what it sends.
#[derive(Debug)]
pub(super) struct Client {
    state: Box<dyn ClientState>,
    route: Route,
    branch: String,
    method: Method,
    request: Vec<u8>,
    ack: Option<(Route, Vec<u8>)>,
    /// Something has come, so that the other end has the request.
    heard: bool,
    cancel: Cancel,
}

/// Whether the other end is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cancel {
    No,
    Wanted,
    Sent,
}

impl Client {
    pub(super) fn new(now: Instant, timers: Timers, route: Route, message: &Message) -> Self {
        let state: Box<dyn ClientState> = if message.method() == &Method::INVITE {
            Box::new(InviteClient::new(now, timers))
        } else {
            Box::new(OtherClient::new(now, timers))
        };
        Self {
            state,
            route,
            branch: message.branch().to_owned(),
            method: message.method().clone(),
            request: message.to_bytes(),
            ack: None,
            heard: false,
            cancel: Cancel::No,
        }
    }

    /// By which address of ours it is sent.
    pub(super) const fn sent_from(&self) -> core::net::SocketAddr {
        self.route.local
    }

    /// The other end is to stop.
    pub(super) fn cancel(&mut self) {
        if self.cancel == Cancel::No && self.method == Method::INVITE {
            self.cancel = Cancel::Wanted;
        }
    }

    /// The CANCEL that is to be sent now: once, and not before something has come (RFC 3261 §9.1).
    pub(super) fn take_cancel(&mut self) -> Option<(Route, Message)> {
        if self.cancel != Cancel::Wanted || !self.heard || !self.state.is_open() {
            return None;
        }
        self.cancel = Cancel::Sent;
        Some((self.route, of_same_branch(&self.request, Method::CANCEL, None)?))
    }

    /// Whether no final response has come yet.
    pub(super) fn is_open(&self) -> bool {
        self.state.is_open()
    }

    pub(super) fn request(&self) -> &[u8] {
        &self.request
    }

    pub(super) fn keep_ack(&mut self, route: Route, bytes: Vec<u8>) {
        self.ack = Some((route, bytes));
    }

    /// RFC 3261 §17.1.3.
    pub(super) fn is_of(&self, response: &Message) -> bool {
        response.branch() == self.branch && response.method() == &self.method
    }

    pub(super) fn on_response(
        &mut self,
        now: Instant,
        response: &Message,
        output: &mut VecDeque<(Route, Vec<u8>)>,
    ) -> ClientVerdict {
        let verdict = self.state.on_response(now, response.status());
        self.heard = true;
        if self.method == Method::INVITE && response.status() >= 300 && verdict != ClientVerdict::Absorbed {
            if self.ack.is_none() {
                self.ack = of_same_branch(&self.request, Method::ACK, Some(response))
                    .map(|ack| (self.route, ack.to_bytes()));
            }
            output.extend(self.ack.clone());
        } else if verdict == ClientVerdict::Acknowledge {
            output.extend(self.ack.clone());
        }
        verdict
    }

    pub(super) fn on_time(&mut self, now: Instant, output: &mut VecDeque<(Route, Vec<u8>)>) -> Elapsed {
        let elapsed = self.state.on_time(now);
        if elapsed == Elapsed::Resend {
            output.push_back((self.route, self.request.clone()));
        }
        elapsed
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.state.deadline()
    }
}

/// What belongs to a request and has its headers and its branch: CANCEL (RFC 3261 §9.1), and the ACK for a response that is no 2xx, with the To of the
/// response (§17.1.1.3).
fn of_same_branch(request: &[u8], method: Method, response: Option<&Message>) -> Option<Message> {
    use sip_types::header::typed::{CSeq, CallID, FromTo, MaxForwards, Via};
    use sip_types::{Headers, Name};

    let request = Message::parse(request).ok()?;
    let of = request.headers();
    let mut headers = Headers::new();
    headers.insert_named(&of.get_named::<Via>().ok()?);
    headers.insert_named(&MaxForwards(70));
    headers.insert_type(Name::FROM, &of.get::<FromTo>(Name::FROM).ok()?);
    let to = response.map_or(of, Message::headers).get::<FromTo>(Name::TO).ok()?;
    headers.insert_type(Name::TO, &to);
    headers.insert_named(&of.get_named::<CallID>().ok()?);
    headers.insert_named(&CSeq::new(request.cseq(), method.clone()));
    for route in of.get_raw(&Name::ROUTE) {
        headers.insert(Name::ROUTE, route.as_str());
    }
    Message::request(&method, request.uri()?.clone(), headers, bytes::Bytes::new()).ok()
}
