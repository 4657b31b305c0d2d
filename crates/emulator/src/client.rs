use core::net::SocketAddr;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};

use socket2::{Domain, Protocol, Socket, Type};
use whimbrel_machine::Instant;

/// Receive buffer asked of the system, so that a burst waits there while this process gets no CPU. The system may
/// grant less.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

/// A client of the relay, and the socket that stands for it before the server.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// Sends to the server. The receiving side is a duplicate of it in the client's task.
    pub(crate) exit: UdpSocket,
    active_at: AtomicU64,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, exit: UdpSocket, now: Instant) -> Self {
        Self { address, exit, active_at: AtomicU64::new(now.as_nanos()) }
    }

    /// Notes that the client or the server has sent something.
    pub(crate) fn touch(&self, now: Instant) {
        self.active_at.store(now.as_nanos(), Ordering::Relaxed);
    }

    pub(crate) fn active_at(&self) -> Instant {
        Instant::from_nanos(self.active_at.load(Ordering::Relaxed))
    }
}

/// A non-blocking UDP socket with large buffers.
pub(crate) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    // Less than asked for is as good as it gets.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER_BYTES);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}
