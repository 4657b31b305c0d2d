use std::io;
use std::net::UdpSocket;

use core::net::SocketAddr;
use core::num::NonZeroU32;

use quinn_udp::{UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Type};

use super::{Framing, Gathered, Io, Member, Outbox, Socket};
use crate::error::BindError;

/// Asked of the system for each direction; it may give less. A GSO train alone is 64 KiB.
pub(super) const BUFFER: usize = 8 << 20;

/// SCTP's number among the protocols above IP.
const IPPROTO_SCTP: i32 = 132;

impl Socket {
    /// A UDP socket bound to exactly this address and port, one of as many as there are shards.
    pub(crate) fn open_udp(address: SocketAddr, member: Member) -> Result<Self, BindError> {
        let open = || open(address, Type::DGRAM, Protocol::UDP, member);
        let (io, state) = open().map_err(|source| explain(address, source))?;
        let local = io.socket().local_addr().map_err(|source| explain(address, source))?;
        Ok(Self::new(local, member, Framing::Bare, io, state))
    }

    /// A raw socket for SCTP packets to this address.
    pub(crate) fn open_raw(address: SocketAddr, member: Member) -> Result<Self, BindError> {
        if !cfg!(unix) {
            return Err(BindError::RawUnsupported);
        }
        let mut address = address;
        address.set_port(0);
        let opened = open(address, Type::RAW, Protocol::from(IPPROTO_SCTP), member);
        let (io, state) = opened.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => BindError::RawNotPermitted,
            _ => explain(address, source),
        })?;
        let framing = if address.is_ipv4() { Framing::Ipv4Header } else { Framing::Bare };
        #[cfg_attr(not(any(target_os = "linux", target_os = "android")), allow(unused_mut))]
        let mut socket = Self::new(address, member, framing, io, state);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            socket._guard = super::guard::Guard::new(address, Protocol::from(IPPROTO_SCTP)).ok();
        }
        Ok(socket)
    }

    /// Another UDP socket for the same address and port, bound to a device too. The system gives it what arrives by that
    /// device, and this one what arrives otherwise.
    pub(super) fn open_twin(&self, device: NonZeroU32) -> io::Result<Self> {
        // Raw sockets would each get a copy of everything.
        if self.framing == Framing::Ipv4Header || self.local.port() == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Only while the twin is bound may the port be shared: later others must find it in use.
        let own = socket2::SockRef::from(self.io.socket());
        own.set_reuse_address(true)?;
        let bound = self.bound()?;
        let twin = open_on(bound, Type::DGRAM, Protocol::UDP, self.member, Some(device));
        own.set_reuse_address(false)?;
        let (io, state) = twin?;
        socket2::SockRef::from(io.socket()).set_reuse_address(false)?;
        Ok(Self::new(self.local, self.member, self.framing, io, state))
    }

    fn new(local: SocketAddr, member: Member, framing: Framing, io: Io, state: UdpSocketState) -> Self {
        Self {
            local,
            member,
            framing,
            alarm: Box::pin(io.error()),
            io,
            state,
            gathered: Gathered::default(),
            outbox: Outbox::default(),
            errors: Vec::new(),
            reread: false,
            expected: super::receive::EXPECTED_MIN,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            _guard: None,
        }
    }

    /// Tries again what quinn-udp has given up for good: it takes a refused train for a system without GSO.
    pub(super) fn renew_state(&mut self) {
        if let Ok(state) = prepare(self.io.socket()) {
            self.state = state;
        }
    }
}

fn open(
    address: SocketAddr,
    kind: Type,
    protocol: Protocol,
    member: Member,
) -> io::Result<(Io, UdpSocketState)> {
    open_on(address, kind, protocol, member, None)
}

fn open_on(
    address: SocketAddr,
    kind: Type,
    protocol: Protocol,
    member: Member,
    device: Option<NonZeroU32>,
) -> io::Result<(Io, UdpSocketState)> {
    let socket = socket2::Socket::new(Domain::for_address(address), kind, Some(protocol))?;
    // Raw sockets have one address family anyway, and refuse the option.
    if address.is_ipv6() && kind == Type::DGRAM {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    if device.is_some() {
        bind_device(&socket, address, device)?;
        socket.set_reuse_address(true)?;
        member.join_any(&socket)?;
    }
    if kind == Type::RAW {
        bind_raw(&socket, address, member)?;
    } else {
        member.join(&socket)?;
        socket.bind(&address.into())?;
        member.share(&socket)?;
    }
    // Small buffers only cost speed, so what the system does not grant is done without.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    let socket = UdpSocket::from(socket);
    let state = prepare(&socket)?;
    Ok((Io::new(socket)?, state))
}

/// Packets that are thrown away after binding, at most: more than fit the buffer of a new socket.
const LEFTOVERS_MAX: usize = 1 << 16;

/// Binds a non-blocking raw socket. Before that it hears what is for any address of this host, and would pass it on as having come
/// to `address`; so what came before is thrown away, and nothing is let in meanwhile.
pub(super) fn bind_raw(socket: &socket2::Socket, address: SocketAddr, member: Member) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.attach_filter(&[super::guard::DROP])?;
    socket.bind(&address.into())?;
    let mut byte = [core::mem::MaybeUninit::uninit()];
    for _ in 0..LEFTOVERS_MAX {
        // Any other error is about something that came, too.
        if socket.recv(&mut byte).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            break;
        }
    }
    if !member.is_alone() {
        return member.filter_raw(socket, address.is_ipv4());
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.detach_filter()?;
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind_device(socket: &socket2::Socket, address: SocketAddr, device: Option<NonZeroU32>) -> io::Result<()> {
    if address.is_ipv4() {
        socket.bind_device_by_index_v4(device)
    } else {
        socket.bind_device_by_index_v6(device)
    }
}

/// Elsewhere systems choose routes by source address, or nobody has tried.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bind_device(_: &socket2::Socket, _: SocketAddr, _: Option<NonZeroU32>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn prepare(io: &UdpSocket) -> io::Result<UdpSocketState> {
    let reference = UdpSockRef::from(io);
    let state = UdpSocketState::new(reference)?;
    // Where it does not work, the protocol's own timers find out, only later.
    let _ = state.enable_transport_errors(UdpSockRef::from(io));
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use nix::sys::socket::{setsockopt, sockopt};
        // quinn-udp 0.6.3 asks for time stamps, which we do not use, and then has too small a control buffer for
        // them and the ECN bits of a coalesced train: the ECN bits are lost.
        setsockopt(io, sockopt::ReceiveTimestampns, &false)?;
        // quinn-udp stops at the IPv4 option, which raw IPv6 sockets do not know.
        if io.local_addr()?.is_ipv6() {
            let _ = setsockopt(io, sockopt::Ipv6RecvErr, &true);
        }
        // With the right to do so, more than the system-wide limit.
        let _ = setsockopt(io, sockopt::RcvBufForce, &BUFFER);
        let _ = setsockopt(io, sockopt::SndBufForce, &BUFFER);
    }
    Ok(state)
}

fn explain(address: SocketAddr, source: io::Error) -> BindError {
    match source.kind() {
        io::ErrorKind::AddrNotAvailable => BindError::AddressNotHere(address.ip()),
        io::ErrorKind::AddrInUse => BindError::PortInUse { address: address.ip(), port: address.port() },
        io::ErrorKind::PermissionDenied => {
            BindError::PortNotPermitted { address: address.ip(), port: address.port() }
        }
        _ => BindError::Io { address, source },
    }
}
