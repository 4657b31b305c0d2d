use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use super::{BadContext, Timers};

/// What carries SIP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Transport {
    /// Datagrams, which anyone can read and forge: for networks that nobody else can reach, and for the lab.
    #[default]
    Udp,
    /// TLS over TCP. Requests are repeated here, too, although RFC 3261 §17.1 leaves that to TCP: a host that moves loses its connections, and what
    /// they carried with them.
    Tls,
}

impl Transport {
    /// The port that SIP has there (RFC 3261 §19.1.2).
    pub const fn port(self) -> u16 {
        match self {
            Self::Udp => 5060,
            Self::Tls => 5061,
        }
    }

    /// How long is waited there.
    #[must_use]
    pub fn timers(self) -> Timers {
        match self {
            Self::Udp => Timers::default(),
            Self::Tls => Timers::reliable(),
        }
    }
}

/// As Via says it (RFC 3261 §20.42).
impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Udp => "UDP",
            Self::Tls => "TLS",
        })
    }
}

impl FromStr for Transport {
    type Err = BadContext;

    fn from_str(text: &str) -> Result<Self, BadContext> {
        let known = |transport: &Self| transport.to_string() == text;
        [Self::Udp, Self::Tls].into_iter().find(known).ok_or(BadContext)
    }
}

/// How a machine speaks SIP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SipConfig {
    /// What carries it.
    pub transport: Transport,
    /// What carries it besides, at the same address and this one's port, with its own timers.
    pub besides: Option<Transport>,
    /// The timers of `transport`.
    pub timers: Timers,
    /// How often a terminal asks, by OPTIONS within its session (RFC 3261 §11), whether its gateway is there; one that has not answered by the next
    /// time is silent. A gateway ends a session whose terminal was not heard of for four times as long. Nobody asks if there is none.
    pub supervision: Option<Duration>,
}
