use std::collections::VecDeque;

use core::time::Duration;

use sip_types::Method;
use whimbrel_machine::{Instant, Route};

use super::invite_server::InviteServer;
use super::other_server::OtherServer;
use super::{Elapsed, Timers};
use crate::sip::{Message, Token};

/// What becomes of a request that belongs to a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ServerVerdict {
    /// Nothing.
    Absorbed,
    /// The last response goes out again.
    Resend,
    /// It is the ACK of a 2xx, for the first time.
    Acknowledged,
}

/// The states of a server transaction, of one kind or the other.
pub(super) trait ServerState: core::fmt::Debug + Send + Sync {
    /// The request has come again.
    fn on_repeated(&mut self) -> ServerVerdict;

    /// An ACK has come; `of_success` says whether it is for a 2xx.
    fn on_ack(&mut self, now: Instant, of_success: bool) -> ServerVerdict;

    /// A response with this status is sent. False if it is too late for it.
    fn on_respond(&mut self, now: Instant, status: u16) -> bool;

    /// Time has passed.
    fn on_time(&mut self, now: Instant) -> Elapsed;

    /// When time matters.
    fn deadline(&self) -> Option<Instant>;
}

/// A transaction that another end has begun: its state, and what it sends.
#[derive(Debug)]
pub(super) struct Server {
    state: Box<dyn ServerState>,
    /// By which the response goes back.
    route: Route,
    branch: Box<str>,
    method: Method,
    call_id: Box<str>,
    cseq: u32,
    /// Who has sent it, and the tag that it has in From.
    from: (Box<str>, Option<Box<str>>),
    /// The tag in To of the last response that had one.
    tag: Option<Box<str>>,
    response: Option<Box<[u8]>>,
    /// How long whoever uses this may take for an answer after a provisional one.
    ringing: Duration,
    /// Whoever uses this has forgotten to answer by then.
    forgotten: Option<Instant>,
}

impl Server {
    /// Responses go where the request came from (RFC 3581), on `route`.
    pub(super) fn new(now: Instant, timers: Timers, request: &Message, route: Route) -> Self {
        let state: Box<dyn ServerState> = if request.method() == &Method::INVITE {
            Box::new(InviteServer::new(timers))
        } else {
            Box::new(OtherServer::new(timers))
        };
        let ringing = timers.ringing + timers.patience();
        Self {
            state,
            route,
            branch: request.branch().into(),
            // A name that is not known is a piece of the datagram, all of which would stay with it.
            method: Method::from(request.method().to_string().as_str()),
            call_id: request.call_id().into(),
            cseq: request.cseq(),
            from: (request.from_user().into(), request.from_tag().map(Into::into)),
            tag: None,
            response: None,
            ringing,
            forgotten: Some(now + timers.patience().saturating_mul(4).max(ringing)),
        }
    }

    /// Where it was heard.
    pub(super) const fn heard_at(&self) -> core::net::SocketAddr {
        self.route.local
    }

    /// Where it is answered.
    pub(super) const fn answers_to(&self) -> core::net::SocketAddr {
        self.route.remote
    }

    /// Who has sent the request.
    pub(super) const fn peer(&self) -> core::net::IpAddr {
        self.route.remote.ip()
    }

    /// Who has sent the request, by the name in From.
    pub(super) fn user(&self) -> &str {
        &self.from.0
    }

    /// Whether a request is of the same sender, in the same call and with the same number, and has come to the same address of ours. A request that is
    /// repeated may come by another connection, and so from another port. RFC 3261 §17.2.3 compares sent-by; these are at least as strict, and what is
    /// said in clear is nothing that was said in TLS.
    fn is_alike(&self, request: &Message, route: Route) -> bool {
        route.local == self.route.local
            && route.remote.ip() == self.peer()
            && request.call_id() == &*self.call_id
            && request.cseq() == self.cseq
            && request.from_tag() == self.from.1.as_deref()
    }

    /// RFC 3261 §17.2.3. The ACK for a 2xx is a transaction of its own, with another branch, and goes by the dialog (§13.2.2.4), whose tag in To only those
    /// know who have had the answer.
    pub(super) fn is_of(&self, request: &Message, route: Route) -> bool {
        if !self.is_alike(request, route) {
            return false;
        }
        let same_branch = request.branch() == &*self.branch;
        if request.method() == &Method::ACK {
            let same_dialog = self.tag.is_some() && request.to_tag() == self.tag.as_deref();
            return self.method == Method::INVITE && (same_branch || same_dialog);
        }
        same_branch && request.method() == &self.method
    }

    /// Whether this is a CANCEL for this request, of whatever method that is (RFC 3261 §9.2): it has the same branch.
    pub(super) fn is_cancelled_by(&self, cancel: &Message, route: Route) -> bool {
        cancel.method() == &Method::CANCEL
            && self.method != Method::CANCEL
            && cancel.branch() == &*self.branch
            && self.is_alike(cancel, route)
    }

    /// The same with this tag in To for its first answer.
    pub(super) fn tagged(mut self, tag: Option<Token>) -> Self {
        self.tag = tag.map(|tag| tag.as_str().into());
        self
    }

    /// The tag in To that answers have.
    pub(super) fn tag(&self) -> Option<Token> {
        self.tag.as_deref().map(Token::named)
    }

    pub(super) fn on_request(
        &mut self,
        now: Instant,
        request: &Message,
        route: Route,
        output: &mut VecDeque<(Route, Vec<u8>)>,
    ) -> ServerVerdict {
        let verdict = if request.method() == &Method::ACK {
            // It is never asked for a password (RFC 3261 §22.1), and nothing is answered to it: where answers go is not its business.
            self.state.on_ack(now, request.branch() != &*self.branch)
        } else {
            self.route = route;
            self.state.on_repeated()
        };
        if verdict == ServerVerdict::Resend {
            self.send(output);
        }
        verdict
    }

    pub(super) fn respond(
        &mut self,
        now: Instant,
        response: &Message,
        output: &mut VecDeque<(Route, Vec<u8>)>,
    ) {
        if self.state.on_respond(now, response.status()) {
            self.forgotten = match response.status() {
                200.. => None,
                // Whoever uses this waits for longer (RFC 3261 §16.7, item 2).
                101.. => self.forgotten.max(Some(now + self.ringing)),
                _ => self.forgotten,
            };
            self.tag = response.to_tag().map(Into::into).or(self.tag.take());
            self.response = Some(response.to_bytes().into());
            self.send(output);
        }
    }

    pub(super) fn on_time(&mut self, now: Instant, output: &mut VecDeque<(Route, Vec<u8>)>) -> Elapsed {
        if self.forgotten.is_some_and(|at| at <= now) {
            return Elapsed::Ended;
        }
        let elapsed = self.state.on_time(now);
        if elapsed == Elapsed::Resend {
            self.send(output);
        }
        elapsed
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        [self.state.deadline(), self.forgotten].into_iter().flatten().min()
    }

    fn send(&self, output: &mut VecDeque<(Route, Vec<u8>)>) {
        output.extend(self.response.clone().map(|response| (self.route, response.into())));
    }
}
