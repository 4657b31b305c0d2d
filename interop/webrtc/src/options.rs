use std::net::{IpAddr, SocketAddr};

use clap::{Parser, ValueEnum};

/// Interoperation peer on dcsctp or sctp-proto. Content is that of `../common/assorted.rs`; both SCTP ports are 5000.
#[derive(Parser, Debug, Clone)]
#[command(name = "webrtc-peer", args_override_self = true)]
pub(crate) struct Options {
    /// Whose SCTP it is.
    #[arg(long)]
    pub stack: StackName,
    /// Take one association.
    #[arg(long, conflicts_with = "connect", required_unless_present = "connect")]
    pub listen: bool,
    /// Set one up, to this address.
    #[arg(long)]
    pub connect: Option<IpAddr>,
    /// Local address.
    #[arg(long)]
    pub bind: IpAddr,
    /// Local UDP port.
    #[arg(long, default_value_t = 9899)]
    pub udp: u16,
    /// The peer's UDP port.
    #[arg(long, default_value_t = 9899)]
    pub udp_remote: u16,
    /// Messages to send.
    #[arg(long, default_value_t = 0)]
    pub send: u64,
    /// Round robin over this many streams.
    #[arg(long, default_value_t = 1)]
    pub streams: u16,
    /// Send every message back on its stream.
    #[arg(long)]
    pub echo: bool,
    /// Wait for so many messages before closing.
    #[arg(long, default_value_t = 0)]
    pub expect: u64,
    /// Stay up so many milliseconds before closing.
    #[arg(long, default_value_t = 0)]
    pub hold: u64,
    /// How to close.
    #[arg(long)]
    pub close: Option<Close>,
    /// HB.interval in milliseconds; 0: off. Only of dcsctp: sctp-proto sends none.
    #[arg(long, default_value_t = 0)]
    pub heartbeat: u64,
    /// Give up after so many seconds.
    #[arg(long, default_value_t = 60)]
    pub timeout: u64,
}

/// The stacks there are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StackName {
    /// WebRTC's own, by its authors.
    Dcsctp,
    /// That of str0m.
    SctpProto,
}

/// How to close.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Close {
    /// Gracefully.
    Shutdown,
    /// With an ABORT, where the stack has one.
    Abort,
    /// Without a word.
    Vanish,
    /// When the peer does.
    Wait,
}

impl Options {
    pub(crate) fn closing(&self) -> Close {
        self.close.unwrap_or(if self.listen { Close::Wait } else { Close::Shutdown })
    }

    pub(crate) fn local(&self) -> SocketAddr {
        SocketAddr::new(self.bind, self.udp)
    }

    /// Whom to set an association up with.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        self.connect.map(|ip| SocketAddr::new(ip, self.udp_remote))
    }
}
