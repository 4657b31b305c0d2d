use core::net::{IpAddr, SocketAddr};

use whimbrel_machine::Instant;

use super::source::Departure;
use super::target::Arrival;
use crate::interface::Application;
use crate::sip::{ClientId, Dialog, Message, ServerId, Token};

/// A session that leads through this gateway: the user agent is back to back, with a dialog each way.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) application: Application,
    /// The terminal's address: here, or where it is expected.
    pub(super) terminal: IpAddr,
    pub(super) to_terminal: Dialog,
    pub(super) to_correspondent: Dialog,
    pub(super) state: State,
    /// When its terminal was last heard of.
    pub(super) heard: Instant,
    /// The Call-ID of message 3, if it has come from another gateway.
    pub(super) brought_by: Option<String>,
}

/// What goes on in a session.
#[derive(Debug)]
pub(super) enum State {
    /// The terminal's INVITE has been passed on.
    Calling(Box<Call>),
    /// The terminal has called its INVITE off, and the correspondent has not answered what was passed on. By then it does not any more.
    CalledOff { passed_on: ClientId, until: Instant },
    /// Nothing.
    Stable,
    /// The terminal is to go to another gateway.
    Leaving(Box<Departure>),
    /// The terminal is to come here.
    Coming(Arrival),
}

/// A call that is not answered yet.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) transaction: ServerId,
    pub(super) request: Message,
    pub(super) tag: Token,
    pub(super) passed_on: ClientId,
    /// When it has rung for long enough without another word.
    pub(super) until: Instant,
    /// When it has rung for long enough in any case.
    pub(super) at_most: Instant,
}

/// A session, for whoever runs the gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionView {
    /// The association that it is for.
    pub application: Application,
    /// The terminal's address: here, or where it is expected.
    pub terminal: IpAddr,
    /// What goes on in it, in a word or two.
    pub state: &'static str,
}

impl Session {
    pub(super) fn view(&self) -> SessionView {
        let state = match self.state {
            State::Calling(_) => "calling",
            State::CalledOff { .. } => "called off",
            State::Stable => "here",
            State::Leaving(_) => "leaving",
            State::Coming(_) => "expected",
        };
        SessionView { application: self.application, terminal: self.terminal, state }
    }

    /// When its state wants to be looked at.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Stable => None,
            State::Calling(call) => Some(call.until),
            State::CalledOff { until, .. } => Some(*until),
            State::Leaving(departure) => departure.until,
            State::Coming(arrival) => Some(arrival.until),
        }
    }

    pub(super) fn is_at(&self, terminal: IpAddr) -> bool {
        self.terminal == terminal
    }
}

/// A gateway that would take a terminal, and with how many bit/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offer {
    pub(super) gateway: SocketAddr,
    pub(super) throughput: u64,
}
