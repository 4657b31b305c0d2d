//! The transports. Each opens a connection; records go over it the same way.

mod handed;
mod quic;
mod stream;
mod tcp;
mod whimbrel;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::Direction;
use crate::pace::Pace;

pub(crate) use self::handed::Network;

/// What both sides are told besides what is sent.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// After so long a silence the stream counts as broken.
    pub(crate) patience: Duration,
    /// What the hosts that are handed over need.
    pub(crate) network: Network,
}

/// What carries the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Transport {
    /// Whimbrel, SCTP over UDP.
    Whimbrel,
    /// Whimbrel with all networks at once.
    Aggregate,
    /// Whimbrel as it is with `--gateway`: its network hands it over.
    Gateway,
    /// Paper d10: SCTP of the RFC, and the host adds its new address.
    MSctp,
    /// The same, and what is in flight is sent again at once.
    #[value(name = "m-sctp+")]
    MSctpPlus,
    /// Paper d10: SCTP of the RFC, and the network hands it over.
    Ufa,
    /// The same, and what is in flight is sent again before anything new.
    #[value(name = "ufa+")]
    UfaPlus,
    /// The same, and the new path begins with the window that the gateway names.
    #[value(name = "ufa++")]
    UfaPlusPlus,
    /// The kernel's TCP.
    Tcp,
    /// The kernel's Multipath TCP.
    Mptcp,
    /// QUIC by quinn: rebinds its socket when the host's addresses change.
    Quic,
}

impl Transport {
    /// Serves one mover.
    pub(crate) async fn serve(self, listen: &[SocketAddr], terms: Terms) -> anyhow::Result<()> {
        let &first = listen.first().context("an address is needed")?;
        match self {
            Self::Tcp => tcp::serve(first, tcp::Kind::Plain, terms).await,
            Self::Mptcp => tcp::serve(first, tcp::Kind::Multipath, terms).await,
            Self::Quic => quic::serve(first, terms).await,
            _ => whimbrel::serve(self, listen, terms).await,
        }
    }

    /// Connects, and sends or receives the records.
    pub(crate) async fn connect(
        self,
        to: &[SocketAddr],
        direction: Direction,
        pace: Pace,
        terms: Terms,
    ) -> anyhow::Result<()> {
        let &first = to.first().context("an address is needed")?;
        match self {
            Self::Tcp => tcp::connect(first, tcp::Kind::Plain, direction, pace, terms).await,
            Self::Mptcp => tcp::connect(first, tcp::Kind::Multipath, direction, pace, terms).await,
            Self::Quic => quic::connect(first, direction, pace, terms).await,
            _ => whimbrel::connect(self, to, direction, pace, terms).await,
        }
    }

    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Whimbrel => "whimbrel",
            Self::Aggregate => "aggregate",
            Self::Gateway => "gateway",
            Self::MSctp => "m-sctp",
            Self::MSctpPlus => "m-sctp+",
            Self::Ufa => "ufa",
            Self::UfaPlus => "ufa+",
            Self::UfaPlusPlus => "ufa++",
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Quic => "quic",
        }
    }
}

/// How many bytes have been sent again so far: scripts take the last of these lines.
fn say_sent_again(bytes: u64) {
    println!("{{\"sent_again\":{bytes}}}");
}

/// The server is ready: scripts wait for this line.
pub(crate) fn say_ready() {
    println!("{{\"ready\":true}}");
}
