//! What the machines are told and say.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::str::FromStr;

use crate::sip::{APPLICATION, AppliConfig, BadHeader, TerminalSettings};

/// An SCTP application that a session is for: the association as it was set up, and with the terminal's new address where the network has moved it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Application {
    /// The terminal's address and SCTP port.
    pub terminal: SocketAddr,
    /// The correspondent's address and SCTP port.
    pub correspondent: SocketAddr,
}

impl Application {
    /// The same with the terminal at another address.
    #[must_use]
    pub const fn at(mut self, terminal: IpAddr) -> Self {
        self.terminal = SocketAddr::new(terminal, self.terminal.port());
        self
    }
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sctp {} {}", self.terminal, self.correspondent)
    }
}

impl FromStr for Application {
    type Err = BadHeader;

    fn from_str(text: &str) -> Result<Self, BadHeader> {
        let bad = BadHeader(APPLICATION);
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some("sctp") {
            return Err(bad);
        }
        let mut address = || words.next().and_then(|word| word.parse().ok()).ok_or(bad);
        Ok(Self { terminal: address()?, correspondent: address()? })
    }
}

/// A wish.
#[derive(Clone, Debug)]
pub enum Command {
    /// To a gateway: a terminal that is here will have to go; one of these gateways takes it. The network has decided so.
    HandOver {
        /// The terminal's address here.
        terminal: IpAddr,
        /// Gateways that may take it, the preferred ones first.
        candidates: Vec<SocketAddr>,
    },
    /// To a gateway: somebody in its own network has this address, whether or not the gateway has given it. It is given to nobody else.
    Heard(IpAddr),
    /// To a gateway: it is to end. Nothing new begins, who is on the way gets there, and then the ends of its sessions are told.
    Stop,
    /// To a terminal: it cannot go where message 7A has sent it.
    CannotMove,
    /// To a terminal or a correspondent: SCTP on the same host has said this.
    Transport(whimbrel_proto::Event),
}

/// What a machine says.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// SCTP on the same host is to do this.
    Transport(TransportOrder),
    /// A session is up.
    Established(Application),
    /// A session could not be set up; the association goes on without.
    Refused(Application, Failure),
    /// A session is over, because its association is, or because nobody is there any more.
    Ended(Application),
    /// Of a terminal: its gateway is silent, or has said that it ends. The session goes on if it comes back.
    GatewaySilent,
    /// Of a terminal: its gateway answers again.
    GatewayBack,
    /// Of a gateway: a terminal goes to that gateway, both ends know.
    HandedOver {
        /// Its address here.
        terminal: IpAddr,
        /// Its new gateway.
        target: SocketAddr,
    },
    /// Of a gateway: a terminal stays here.
    Stays {
        /// Its address here.
        terminal: IpAddr,
        /// Why it does.
        failure: Failure,
    },
    /// Of a gateway: the correspondent has been told and the terminal has not answered. Where it is, nobody knows; its session has ended here.
    Astray {
        /// Its address here.
        terminal: IpAddr,
        /// What went wrong.
        failure: Failure,
    },
    /// Of a terminal: its layers 2 and 3 are to go there (message 7A).
    Move(AppliConfig, TerminalSettings),
    /// Of a terminal: the target has answered message 8. Of a gateway: a terminal has come with this address, and what waited for it has gone out.
    Arrived(IpAddr),
    /// Of a terminal: nobody has answered message 8. Of a gateway: a terminal that was expected at this address has not come in time; what waited for it is dropped.
    Lost(IpAddr, Failure),
}

/// A command to SCTP. It cannot be compared, but its text can.
#[derive(Clone, Debug)]
pub struct TransportOrder(pub whimbrel_proto::Command);

impl PartialEq for TransportOrder {
    fn eq(&self, other: &Self) -> bool {
        format!("{:?}", self.0) == format!("{:?}", other.0)
    }
}

/// Why something has not come about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// There is no such session, or it is moving already.
    #[error("no session of such a host is here, or it is on its way already")]
    NoSession,
    /// No candidate has what it takes, or has answered.
    #[error("no gateway takes the terminal")]
    NoTarget,
    /// All candidates have addresses of the other family.
    #[error(
        "hosts go from IPv4 to IPv4 and from IPv6 to IPv6, and no gateway that was named has the family of this one"
    )]
    OtherFamily,
    /// The peer has refused, with this status.
    #[error("refused with status {0}")]
    Status(u16),
    /// Nobody has answered for as long as SIP waits (RFC 3261 timers B, F, H).
    #[error("no answer")]
    NoAnswer,
    /// What came could not be understood.
    #[error("an answer that cannot be used")]
    BadAnswer,
    /// The terminal has not come.
    #[error("the terminal has not come")]
    NotCome,
    /// Its association is over.
    #[error("its connection has ended")]
    Ended,
}
