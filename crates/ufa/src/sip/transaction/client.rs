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
    /// The ACK goes out again, or for the first time where the transaction makes it itself.
    Acknowledge,
}

/// The states of a client transaction, of one kind or the other.
pub(super) trait ClientState: core::fmt::Debug + Send {
    /// A response with this status has come.
    fn on_response(&mut self, now: Instant, status: u16) -> ClientVerdict;

    /// Time has passed.
    fn on_time(&mut self, now: Instant) -> Elapsed;

    /// When time matters.
    fn deadline(&self) -> Option<Instant>;
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
        }
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
        if self.method == Method::INVITE && response.status() >= 300 && verdict != ClientVerdict::Absorbed {
            if self.ack.is_none() {
                self.ack = acknowledgement(&self.request, response).map(|bytes| (self.route, bytes));
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

/// The ACK for a response that is no 2xx: the request's headers with the To of the response (RFC 3261 §17.1.1.3).
fn acknowledgement(request: &[u8], response: &Message) -> Option<Vec<u8>> {
    use sip_types::header::typed::{CSeq, CallID, FromTo, MaxForwards, Via};
    use sip_types::{Headers, Name};

    let request = Message::parse(request).ok()?;
    let of = request.headers();
    let mut headers = Headers::new();
    headers.insert_named(&of.get_named::<Via>().ok()?);
    headers.insert_named(&MaxForwards(70));
    headers.insert_type(Name::FROM, &of.get::<FromTo>(Name::FROM).ok()?);
    headers.insert_type(Name::TO, &response.headers().get::<FromTo>(Name::TO).ok()?);
    headers.insert_named(&of.get_named::<CallID>().ok()?);
    headers.insert_named(&CSeq::new(request.cseq(), Method::ACK));
    let ack = Message::request(&Method::ACK, request.uri()?.clone(), headers, bytes::Bytes::new()).ok()?;
    Some(ack.to_bytes())
}
