//! The transports. Each opens a connection; records go over it the same way.

mod quic;
mod stream;
mod tcp;
mod whimbrel;

use std::net::SocketAddr;

use anyhow::Context as _;
use clap::ValueEnum;

use crate::pace::Pace;

/// What carries the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Transport {
    /// Whimbrel, SCTP over UDP.
    Whimbrel,
    /// The kernel's TCP.
    Tcp,
    /// The kernel's Multipath TCP.
    Mptcp,
    /// QUIC by quinn: rebinds its socket when the host's addresses change.
    Quic,
}

impl Transport {
    /// Serves one mover.
    pub(crate) async fn serve(self, listen: &[SocketAddr]) -> anyhow::Result<()> {
        let &first = listen.first().context("an address is needed")?;
        match self {
            Self::Whimbrel => whimbrel::serve(listen).await,
            Self::Tcp => tcp::serve(first, tcp::Kind::Plain).await,
            Self::Mptcp => tcp::serve(first, tcp::Kind::Multipath).await,
            Self::Quic => quic::serve(first).await,
        }
    }

    /// Connects, and sends or receives the records.
    pub(crate) async fn connect(self, to: &[SocketAddr], up: bool, pace: Pace) -> anyhow::Result<()> {
        let &first = to.first().context("an address is needed")?;
        match self {
            Self::Whimbrel => whimbrel::connect(to, up, pace).await,
            Self::Tcp => tcp::connect(first, tcp::Kind::Plain, up, pace).await,
            Self::Mptcp => tcp::connect(first, tcp::Kind::Multipath, up, pace).await,
            Self::Quic => quic::connect(first, up, pace).await,
        }
    }

    /// As on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Whimbrel => "whimbrel",
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Quic => "quic",
        }
    }
}

/// The server is ready: scripts wait for this line.
pub(crate) fn say_ready() {
    println!("{{\"ready\":true}}");
}
