//! What gateways and agents tell whoever runs them.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Serialize, Serializer};
use whimbrel_ufa::Application;

/// What an association is, as a session names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SessionNews {
    /// The terminal's address and SCTP port when the association was set up.
    pub terminal: SocketAddr,
    /// The correspondent's address and SCTP port then.
    pub correspondent: SocketAddr,
}

impl From<Application> for SessionNews {
    fn from(of: Application) -> Self {
        Self { terminal: of.terminal, correspondent: of.correspondent }
    }
}

impl fmt::Display for SessionNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.terminal, self.correspondent)
    }
}

fn milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

/// What happens at a gateway.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum GatewayNews {
    /// It hears SIP there.
    Listening {
        /// Address and TCP port.
        address: SocketAddr,
    },
    /// It hears SIP in clear there, of who proves a password.
    ListeningInClear {
        /// Address and port, of UDP and of TCP.
        address: SocketAddr,
    },
    /// A session is up.
    SessionUp(SessionNews),
    /// A session could not be set up.
    SessionRefused {
        /// Of which association.
        session: SessionNews,
        /// Why.
        reason: String,
    },
    /// A session is over.
    SessionEnded(SessionNews),
    /// A terminal has gone to another gateway.
    HandedOver {
        /// Its address here.
        terminal: IpAddr,
        /// The name of its gateway.
        to: String,
        /// From the order until both ends had agreed.
        #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
        after: Duration,
    },
    /// A terminal that was to go stays here.
    Stays {
        /// Its address here.
        terminal: IpAddr,
        /// Why.
        reason: String,
    },
    /// A terminal that was to go is lost: its correspondent has been told, and it does not answer.
    Astray {
        /// Its address here.
        terminal: IpAddr,
        /// What went wrong.
        reason: String,
    },
    /// A terminal is to come, and what is sent to it waits.
    Expected {
        /// Its address here.
        terminal: IpAddr,
    },
    /// It has come.
    Arrived {
        /// Its address here.
        terminal: IpAddr,
        /// Since it was expected.
        #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
        after: Duration,
        /// Packets that have waited for it.
        waited: usize,
    },
    /// It has not come; what has waited is dropped.
    NotCome {
        /// The address that was kept for it.
        terminal: IpAddr,
    },
    /// The file has been read anew.
    Reread {
        /// How many other gateways it names.
        gateways: usize,
        /// How many hosts it names.
        hosts: usize,
        /// How many users may speak SIP in clear.
        users: usize,
        /// What has changed besides, and does not count before the gateway is started anew.
        not_yet: Vec<&'static str>,
    },
    /// Something does not work as it should, and the gateway goes on.
    Trouble {
        /// What.
        text: String,
    },
}

impl fmt::Display for GatewayNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening { address } => write!(f, "listening on {address} (SIP over TLS); Ctrl-C ends"),
            Self::ListeningInClear { address } => {
                write!(f, "listening on {address} for SIP in clear (UDP and TCP), with passwords")
            }
            Self::SessionUp(session) => write!(f, "session of {session}"),
            Self::SessionRefused { session, reason } => write!(f, "no session of {session}: {reason}"),
            Self::SessionEnded(session) => write!(f, "session of {session} is over"),
            Self::HandedOver { terminal, to, after } => {
                write!(f, "{terminal} goes to {to}; both ends knew after {:.0} ms", after.as_secs_f64() * 1e3)
            }
            Self::Stays { terminal, reason } => write!(f, "{terminal} stays here: {reason}"),
            Self::Astray { terminal, reason } => write!(f, "{terminal} is lost on its way: {reason}"),
            Self::Expected { terminal } => write!(f, "{terminal} is expected"),
            Self::Arrived { terminal, after, waited } => {
                let after = after.as_secs_f64() * 1e3;
                write!(f, "{terminal} has come after {after:.0} ms, {waited} packets have waited for it")
            }
            Self::NotCome { terminal } => write!(f, "{terminal} has not come"),
            Self::Reread { gateways, hosts, users, not_yet } => {
                write!(f, "the file has been read anew: {gateways} other gateways, {hosts} hosts")?;
                if *users > 0 {
                    write!(f, ", {users} users of SIP in clear")?;
                }
                if !not_yet.is_empty() {
                    write!(f, "; {} as before until the gateway is started anew", not_yet.join(", "))?;
                }
                Ok(())
            }
            Self::Trouble { text } => f.write_str(text),
        }
    }
}

/// What happens at a terminal or a correspondent.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AgentNews {
    /// The gateway knows of an association, and moves it when the network wants that.
    SessionUp(SessionNews),
    /// The gateway does not take it; it goes on as it would without one.
    SessionRefused {
        /// Which association.
        session: SessionNews,
        /// Why.
        reason: String,
    },
    /// A session is over.
    SessionEnded(SessionNews),
    /// The network wants this host to go there.
    NetworkMove {
        /// The gateway of the network.
        gateway: IpAddr,
        /// The network's name.
        essid: String,
        /// The address that this host has there.
        address: IpAddr,
    },
    /// It has gone there. Of the paper's parts of a handover two do not occur: nobody waits for a router to advertise itself (D2), and SCTP has nothing to signal (D5).
    NetworkArrived {
        /// Its address.
        address: IpAddr,
        /// Until layer 2 was there (D1 of the paper).
        #[serde(rename = "attach_ms", serialize_with = "milliseconds")]
        attach: Duration,
        /// Until the address was there (D3).
        #[serde(rename = "address_ms", serialize_with = "milliseconds")]
        settle: Duration,
        /// Until the gateway there had answered (D4 and a round trip).
        #[serde(rename = "answer_ms", serialize_with = "milliseconds")]
        answer: Duration,
    },
    /// It has not, and goes on as it would without a gateway.
    NetworkLost {
        /// The address it was to have.
        address: IpAddr,
        /// What went wrong.
        reason: String,
    },
    /// It cannot go there.
    CannotMove {
        /// Why.
        text: String,
    },
    /// The gateway is silent: this host decides by itself.
    GatewaySilent,
    /// It is back, and decides.
    GatewayBack,
    /// Something is not as it should be.
    Trouble {
        /// What.
        text: String,
    },
    /// The peer goes to another address, as its network says.
    PeerMoves {
        /// Where.
        address: IpAddr,
    },
}

impl fmt::Display for AgentNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        match self {
            Self::SessionUp(session) => write!(f, "the network controls where {session} goes"),
            Self::SessionRefused { session, reason } => {
                write!(
                    f,
                    "the gateway does not control where {session} goes: {reason}; this host decides by itself"
                )
            }
            Self::SessionEnded(_) => f.write_str("the network does not control this connection any more"),
            Self::NetworkMove { gateway, essid, address } => {
                write!(
                    f,
                    "the network wants this host to go to {essid:?} (gateway {gateway}), address {address}"
                )
            }
            Self::NetworkArrived { address, attach, settle, answer } => write!(
                f,
                "arrived with address {address} after {:.0} ms: {:.0} ms for the link (D1), {:.0} ms for the address (D3), {:.0} ms for the gateway (D4)",
                ms(&(*attach + *settle + *answer)),
                ms(attach),
                ms(settle),
                ms(answer)
            ),
            Self::NetworkLost { address, reason } => {
                write!(f, "nobody has taken this host with address {address}: {reason}; it decides by itself")
            }
            Self::CannotMove { text } | Self::Trouble { text } => f.write_str(text),
            Self::GatewaySilent => f.write_str("the gateway is silent; this host decides by itself"),
            Self::GatewayBack => f.write_str("the gateway is back, and decides"),
            Self::PeerMoves { address } => write!(f, "the network moves the other host to {address}"),
        }
    }
}
