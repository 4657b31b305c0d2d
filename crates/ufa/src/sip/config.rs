use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use super::transaction::Repeats;
use super::{BadContext, Timers};

/// What carries SIP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Transport {
    /// Datagrams, which anyone can read and forge: for networks that nobody else can reach, and for the lab.
    #[default]
    Udp,
    /// The same over TCP.
    Tcp,
    /// TLS over TCP. Requests are repeated here, too, although RFC 3261 §17.1 leaves that to TCP: a host that moves loses its connections, and what
    /// they carried with them.
    Tls,
}

impl Transport {
    /// The port that SIP has there (RFC 3261 §19.1.2).
    pub const fn port(self) -> u16 {
        match self {
            Self::Udp | Self::Tcp => 5060,
            Self::Tls => 5061,
        }
    }

    /// What stands for the port of this end in a [`Route`](whimbrel_machine::Route): UDP and TCP have one number, and a route does not say which of them
    /// it is.
    pub const fn local_port(self) -> u16 {
        match self {
            Self::Tcp => 5062,
            Self::Udp | Self::Tls => self.port(),
        }
    }

    /// What [`Self::local_port`] stands for.
    pub fn at_local_port(port: u16) -> Option<Self> {
        [Self::Udp, Self::Tcp, Self::Tls].into_iter().find(|transport| transport.local_port() == port)
    }

    /// Whether anyone on the way can read and change it.
    pub const fn is_clear(self) -> bool {
        matches!(self, Self::Udp | Self::Tcp)
    }

    /// Whether who is known by one of them may go on by the other one.
    pub fn is_like(self, other: Self) -> bool {
        self.is_clear() == other.is_clear()
    }

    /// What a URI asks for by this parameter (RFC 3261 §19.1.1), and `usual` if by none; `None` is what nobody here speaks in clear.
    pub(super) fn asked(parameter: Option<&str>, usual: Self) -> Option<Self> {
        match parameter {
            None => Some(usual),
            Some(word) if word.eq_ignore_ascii_case("udp") => Some(Self::Udp),
            Some(word) if word.eq_ignore_ascii_case("tcp") => Some(Self::Tcp),
            Some(_) => None,
        }
    }

    /// How long is waited there.
    #[must_use]
    pub fn timers(self) -> Timers {
        match self {
            Self::Udp => Timers::default(),
            // RFC 3261 §17: agents of others take it that TCP loses nothing.
            Self::Tcp => Timers { repeats: Repeats::ByTransport, ..Timers::default() },
            Self::Tls => Timers::reliable(),
        }
    }
}

/// As Via says it (RFC 3261 §20.42).
impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Tls => "TLS",
        })
    }
}

impl FromStr for Transport {
    type Err = BadContext;

    fn from_str(text: &str) -> Result<Self, BadContext> {
        let known = |transport: &Self| transport.to_string() == text;
        [Self::Udp, Self::Tcp, Self::Tls].into_iter().find(known).ok_or(BadContext)
    }
}

/// How a machine speaks SIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SipConfig {
    /// What carries it.
    pub transport: Transport,
    /// What carries it besides, at the same address and this one's port, with its own timers. UDP is not without TCP (RFC 3261 §18).
    pub besides: Option<Transport>,
    /// The timers of `transport`.
    pub timers: Timers,
    /// How often a terminal asks, by OPTIONS within its session (RFC 3261 §11), whether its gateway is there; one that has not answered by the next
    /// time is silent. A gateway ends a session whose terminal was not heard of for four times as long. Nobody asks if there is none.
    pub supervision: Option<Duration>,
}
