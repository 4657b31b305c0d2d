use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use core::task::{Context, Poll};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A socket, and what the runtime knows about it.
///
/// It is registered for reading alone. The system calls a socket writable anew each time it is done with a packet that
/// was sent from it: who is registered for that, too, is woken once per packet for nothing. So writing is only watched
/// while packets wait for room.
#[derive(Debug)]
pub(super) struct Io {
    reading: Arc<AsyncFd<UdpSocket>>,
    /// Another handle to the same socket, since one handle can be registered once.
    writing: Option<AsyncFd<UdpSocket>>,
}

impl Io {
    /// Registers a non-blocking socket with the runtime.
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        Ok(Self { reading: Arc::new(register(socket, Interest::READABLE)?), writing: None })
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        self.reading.get_ref()
    }

    /// Whether there may be something to read. If not, the task is woken when there is.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> bool {
        is_ready(self.reading.poll_read_ready(cx))
    }

    /// Reads, unless the runtime takes the socket for drained; an outcome of "would block" makes it do so.
    pub(super) fn read<R>(&self, read: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.reading.try_io(Interest::READABLE, |_| read())
    }

    /// Whether there may be room to write. If not, the task is woken when there is. From the first call until
    /// [`Io::all_written`], writing is watched.
    pub(super) fn poll_writable(&mut self, cx: &mut Context<'_>) -> bool {
        if self.writing.is_none() {
            // Without another handle nobody is woken, and what waits leaves when the driver next runs.
            let writing = self.socket().try_clone();
            self.writing = writing.and_then(|socket| register(socket, Interest::WRITABLE)).ok();
        }
        self.writing.as_ref().is_some_and(|writing| is_ready(writing.poll_write_ready(cx)))
    }

    /// Writes; while writing is watched, only if the runtime does not take the socket for full.
    pub(super) fn write<R>(&self, write: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        match &self.writing {
            Some(writing) => writing.try_io(Interest::WRITABLE, |_| write()),
            None => write(),
        }
    }

    /// Nothing waits for room any more.
    pub(super) fn all_written(&mut self) {
        self.writing = None;
    }

    /// Resolves when the system has something in the socket's error queue, once.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn error(&self) -> impl Future<Output = ()> + Send + use<> {
        let reading = self.reading.clone();
        async move {
            match reading.ready(Interest::ERROR).await {
                // So that the next error is noticed.
                Ok(mut guard) => guard.clear_ready_matching(tokio::io::Ready::ERROR),
                // The runtime's I/O driver is shutting down.
                Err(_) => core::future::pending().await,
            }
        }
    }

    /// Other systems have no error queue.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(super) fn error(&self) -> impl Future<Output = ()> + Send + use<> {
        core::future::pending()
    }
}

/// The runtime would rather have this called with a promise that the descriptor stays open as long as it is registered,
/// which safe code cannot give for any type. The standard library's socket keeps it: it owns its descriptor, never
/// replaces it, and only `AsyncFd` can drop it.
#[expect(
    deprecated,
    reason = "the successor is an unsafe function, for types that are not the standard library's"
)]
fn register(socket: UdpSocket, interest: Interest) -> io::Result<AsyncFd<UdpSocket>> {
    AsyncFd::with_interest(socket, interest)
}

/// Whether a poll came out ready without an error; an error here means that the runtime is shutting down.
fn is_ready<T>(poll: Poll<io::Result<T>>) -> bool {
    matches!(poll, Poll::Ready(Ok(_)))
}
