//! A blocking UDP socket that moves trains of equal packets: GSO out, GRO in; or, to show what that is worth, one
//! packet per system call.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};

/// The same as Whimbrel asks for.
const SOCKET_BUFFER: usize = 8 << 20;

/// A GRO train, or the largest datagram.
pub(crate) const TRAIN: usize = 1 << 16;

/// Payload of one GSO send at most.
const SEND_MAX: usize = 65_000;

pub(crate) struct TrainSocket {
    io: UdpSocket,
    /// `None`: one packet per call.
    state: Option<UdpSocketState>,
}

/// What one receive call brought: `length` bytes of packets of `segment` bytes each (the last may be shorter).
#[derive(Clone, Copy)]
pub(crate) struct Train {
    pub(crate) from: SocketAddr,
    pub(crate) length: usize,
    pub(crate) segment: usize,
}

/// Gives the socket buffers as large as Whimbrel's.
pub(crate) fn enlarge_buffers(io: &UdpSocket) -> io::Result<()> {
    let reference = socket2::SockRef::from(io);
    reference.set_recv_buffer_size(SOCKET_BUFFER)?;
    reference.set_send_buffer_size(SOCKET_BUFFER)?;
    // Beyond the system's limit, with the right to do so.
    let _ = setsockopt(io, sockopt::RcvBufForce, &SOCKET_BUFFER);
    let _ = setsockopt(io, sockopt::SndBufForce, &SOCKET_BUFFER);
    Ok(())
}

impl TrainSocket {
    pub(crate) fn bind(address: SocketAddr, trains: bool) -> anyhow::Result<Self> {
        let io = UdpSocket::bind(address)?;
        io.set_nonblocking(true)?;
        enlarge_buffers(&io)?;
        let state = if trains { Some(UdpSocketState::new(UdpSockRef::from(&io))?) } else { None };
        if state.is_some() {
            // quinn-udp's control buffer is too small with them.
            setsockopt(&io, sockopt::ReceiveTimestampns, &false)?;
        }
        Ok(Self { io, state })
    }

    /// Packets of `segment` bytes that one send call takes.
    pub(crate) fn segments_max(&self, segment: usize) -> usize {
        let gso = self.state.as_ref().map_or(1, UdpSocketState::max_gso_segments);
        gso.min(SEND_MAX / segment).max(1)
    }

    /// Sends a train, waiting while the socket is full.
    pub(crate) fn send(&self, to: SocketAddr, bytes: &[u8], segment: usize) -> io::Result<()> {
        loop {
            let outcome = match &self.state {
                Some(state) => state.try_send(
                    UdpSockRef::from(&self.io),
                    &Transmit {
                        destination: to,
                        ecn: None,
                        contents: bytes,
                        segment_size: Some(segment),
                        src_ip: None,
                    },
                ),
                None => self.io.send_to(bytes, to).map(|_| ()),
            };
            match outcome {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(PollFlags::POLLOUT, None)?;
                }
                outcome => return outcome,
            }
        }
    }

    /// Receives one train per buffer at most; `None` in `trains` from the first that did not come.
    pub(crate) fn receive(&self, buffers: &mut [&mut [u8]], trains: &mut Vec<Train>) -> io::Result<()> {
        trains.clear();
        let outcome = match &self.state {
            Some(state) => self.receive_trains(state, buffers, trains),
            None => self.io.recv_from(buffers[0]).map(|(length, from)| {
                trains.push(Train { from, length, segment: length });
            }),
        };
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            outcome => outcome,
        }
    }

    fn receive_trains(
        &self,
        state: &UdpSocketState,
        buffers: &mut [&mut [u8]],
        trains: &mut Vec<Train>,
    ) -> io::Result<()> {
        let mut metas = vec![RecvMeta::default(); buffers.len()];
        let mut slices: Vec<_> = buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let count = state.recv(UdpSockRef::from(&self.io), &mut slices, &mut metas)?;
        trains.extend(metas[..count].iter().map(|meta| Train {
            from: meta.addr,
            length: meta.len,
            segment: meta.stride.max(1),
        }));
        Ok(())
    }

    /// Waits for something to read, at most this long.
    pub(crate) fn wait_readable(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.wait(PollFlags::POLLIN, timeout)
    }

    fn wait(&self, what: PollFlags, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = match timeout {
            Some(timeout) => {
                PollTimeout::try_from(timeout.as_millis() as u64 + 1).unwrap_or(PollTimeout::MAX)
            }
            None => PollTimeout::NONE,
        };
        match poll(&mut [PollFd::new(self.io.as_fd(), what)], timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
