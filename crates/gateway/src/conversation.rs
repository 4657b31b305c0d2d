//! What is said by one connection, and how it ends.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use whimbrel::Route;
use whimbrel::secure::PublicKey;

use crate::framing::Frames;

/// For what was sent to be acknowledged: a host that has moved does not say goodbye.
const UNHEARD: Duration = Duration::from_secs(10);

/// A message that has come.
pub(crate) struct Arrival {
    /// The address of ours that it has come to, and the one under which the peer can be answered.
    pub(crate) route: Route,
    /// Whose key the connection has shown.
    pub(crate) key: PublicKey,
    pub(crate) message: Vec<u8>,
}

/// What is said by a connection.
pub(crate) enum Saying {
    Message(Vec<u8>),
    /// Nothing more. The other end says what it has to say, and ends it.
    NoMore,
}

/// Has the kernel notice that the other end is gone.
pub(crate) fn watch(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(UNHEARD).with_interval(UNHEARD / 4))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(UNHEARD))?;
    Ok(())
}

/// Carries messages both ways until one end has had enough.
pub(crate) async fn converse(
    stream: impl AsyncRead + AsyncWrite,
    route: Route,
    key: PublicKey,
    mut queue: mpsc::Receiver<Saying>,
    arrivals: &mpsc::Sender<Arrival>,
) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (mut frames, mut buffer) = (Frames::default(), vec![0; 4096]);
    loop {
        tokio::select! {
            read = reader.read(&mut buffer) => {
                let read = read?;
                if read == 0 {
                    return Ok(());
                }
                frames.push(&buffer[..read]);
                while let Some(message) = frames.next().map_err(io::Error::other)? {
                    let arrival = Arrival { route, key, message };
                    arrivals.send(arrival).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
                }
            }
            saying = queue.recv() => match saying {
                Some(Saying::Message(message)) => timeout(UNHEARD, async {
                    writer.write_all(&message).await?;
                    writer.flush().await
                }).await??,
                Some(Saying::NoMore) => timeout(UNHEARD, writer.shutdown()).await??,
                None => return Ok(()),
            },
        }
    }
}
