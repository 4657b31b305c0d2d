//! TCP and Multipath TCP, as the kernel does them.

use std::net::SocketAddr;

use anyhow::Context as _;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::{Terms, Transport, say_ready, stream};
use crate::Direction;
use crate::pace::Pace;

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// TCP.
    Plain,
    /// Multipath TCP; the path manager is configured by `ip mptcp`.
    Multipath,
}

impl Kind {
    fn socket(self, address: SocketAddr) -> anyhow::Result<Socket> {
        let protocol = match self {
            Self::Plain => Protocol::TCP,
            Self::Multipath => Protocol::MPTCP,
        };
        Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol))
            .with_context(|| format!("no socket for {self:?}: does this kernel have it?"))
    }

    const fn transport(self) -> Transport {
        match self {
            Self::Plain => Transport::Tcp,
            Self::Multipath => Transport::Mptcp,
        }
    }
}

pub(crate) async fn serve(listen: SocketAddr, kind: Kind, terms: Terms) -> anyhow::Result<()> {
    let socket = kind.socket(listen)?;
    socket.set_reuse_address(true)?;
    socket.bind(&listen.into())?;
    socket.listen(8)?;
    socket.set_nonblocking(true)?;
    let listener = TcpListener::from_std(socket.into())?;
    say_ready();
    let (connection, _) = listener.accept().await?;
    connection.set_nodelay(true)?;
    let (mut reader, mut writer) = connection.into_split();
    stream::serve(kind.transport(), &mut reader, &mut writer, terms).await
}

pub(crate) async fn connect(
    to: SocketAddr,
    kind: Kind,
    direction: Direction,
    pace: Pace,
    terms: Terms,
) -> anyhow::Result<()> {
    let socket = kind.socket(to)?;
    socket.connect(&to.into()).with_context(|| format!("connecting to {to}"))?;
    socket.set_nonblocking(true)?;
    let connection = TcpStream::from_std(socket.into())?;
    connection.set_nodelay(true)?;
    let (mut reader, mut writer) = connection.into_split();
    stream::connect(kind.transport(), &mut reader, &mut writer, direction, pace, terms).await
}
