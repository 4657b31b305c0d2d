use std::collections::VecDeque;

use sip_types::Method;
use whimbrel_machine::{Instant, Route};

use super::invite_server::InviteServer;
use super::other_server::OtherServer;
use super::{Elapsed, Timers};
use crate::sip::Message;

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
pub(super) trait ServerState: core::fmt::Debug + Send {
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
    branch: String,
    method: Method,
    call_id: String,
    cseq: u32,
    response: Option<Vec<u8>>,
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
        Self {
            state,
            route,
            branch: request.branch().to_owned(),
            method: request.method().clone(),
            call_id: request.call_id().to_owned(),
            cseq: request.cseq(),
            response: None,
            forgotten: Some(now + timers.patience().saturating_mul(4)),
        }
    }

    /// Where it was heard.
    pub(super) const fn heard_at(&self) -> core::net::SocketAddr {
        self.route.local
    }

    /// Who has sent the request.
    pub(super) const fn peer(&self) -> core::net::IpAddr {
        self.route.remote.ip()
    }

    /// RFC 3261 §17.2.3. The ACK for a 2xx is a transaction of its own, with another branch, and goes by call and number. A request that is repeated may come by
    /// another connection.
    pub(super) fn is_of(&self, request: &Message, route: Route) -> bool {
        let from_there = route.remote.ip() == self.peer();
        if request.method() == &Method::ACK {
            let same = request.call_id() == self.call_id && request.cseq() == self.cseq;
            return self.method == Method::INVITE && same;
        }
        from_there && request.branch() == self.branch && request.method() == &self.method
    }

    pub(super) fn on_request(
        &mut self,
        now: Instant,
        request: &Message,
        route: Route,
        output: &mut VecDeque<(Route, Vec<u8>)>,
    ) -> ServerVerdict {
        self.route = route;
        let verdict = if request.method() == &Method::ACK {
            self.state.on_ack(now, request.branch() != self.branch)
        } else {
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
            if response.status() >= 200 {
                self.forgotten = None;
            }
            self.response = Some(response.to_bytes());
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
        output.extend(self.response.clone().map(|response| (self.route, response)));
    }
}
