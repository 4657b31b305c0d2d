use std::io;

use core::task::Context;

use quinn_udp::{EcnCodepoint, UdpSockRef};
use whimbrel_machine::{Ecn, Fragmentation, Transmit, Unreachable};

use super::gather::Train;
use super::{NetworkError, Socket, fragmentation};

/// Payload of one system call at most; with the headers it must stay below 64 KiB.
const TRAIN_BYTES_MAX: usize = 65_000;

/// How much of a packet is kept to tell the machine which one an error is about: what ICMP quotes at least, and more.
const QUOTED_BYTES: usize = 64;

impl Socket {
    /// Sends a train, or keeps it until the socket can take it. What the network refuses is lost, as it would be
    /// further down the road; the machine is told why.
    ///
    /// Single packets may wait for others of their kind until [`Socket::send_gathered`].
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8]) {
        let gathered = bytes.len() <= transmit.segment && transmit.fragmentation == Fragmentation::Forbidden;
        let leaving = if gathered {
            let limit = self.train_bytes(&Transmit { segment: bytes.len(), ..*transmit });
            self.gathered.add(transmit, bytes, limit)
        } else {
            self.gathered.take_like(transmit)
        };
        if let Some(train) = leaving {
            self.send_gathered_train(train);
        }
        if !gathered {
            self.send_or_keep(transmit, bytes);
        }
    }

    /// Sends the packets that have been waiting for others; due at the end of each step.
    pub(crate) fn send_gathered(&mut self) {
        while let Some(train) = self.gathered.take() {
            self.send_gathered_train(train);
        }
    }

    fn send_gathered_train(&mut self, train: Train) {
        self.send_or_keep(&train.transmit, &train.bytes);
        self.gathered.reuse(train);
    }

    fn send_or_keep(&mut self, transmit: &Transmit, bytes: &[u8]) {
        if !self.outbox.is_empty() {
            self.outbox.push(*transmit, bytes);
            return;
        }
        let rest = self.send_now(transmit, bytes);
        if !rest.is_empty() {
            self.outbox.push(*transmit, rest);
        }
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Sends what is kept, as far as the socket takes it; the task is woken when it takes more.
    pub(crate) fn flush(&mut self, cx: &mut Context<'_>) {
        if self.outbox.is_empty() {
            return;
        }
        while !self.outbox.is_empty() && self.io.poll_writable(cx) {
            let Some((transmit, bytes)) = self.outbox.pop() else { return };
            let rest = self.send_now(&transmit, &bytes);
            if !rest.is_empty() {
                self.outbox.put_back(transmit, rest);
            }
        }
        if self.outbox.is_empty() {
            self.io.all_written();
        }
    }

    /// Sends as much as goes without waiting and returns the rest.
    fn send_now<'a>(&mut self, transmit: &Transmit, mut bytes: &'a [u8]) -> &'a [u8] {
        while !bytes.is_empty() {
            let (train, rest) = bytes.split_at(bytes.len().min(self.train_bytes(transmit)));
            match self.send_train(transmit, train) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return bytes,
                Err(error) => self.refused(transmit, train, &error),
                Ok(()) => {}
            }
            bytes = rest;
        }
        bytes
    }

    /// How many bytes of a train go in one call. The system refuses to cut a train into datagrams that it would have
    /// to fragment, so those go one by one.
    fn train_bytes(&self, transmit: &Transmit) -> usize {
        let segment = transmit.segment.max(1);
        if transmit.fragmentation == Fragmentation::Allowed {
            return segment;
        }
        (TRAIN_BYTES_MAX / segment).clamp(1, self.state.max_gso_segments()) * segment
    }

    fn send_train(&mut self, transmit: &Transmit, train: &[u8]) -> io::Result<()> {
        match self.try_send(transmit, train) {
            // An ICMP error about an earlier packet is reported on this one. It is told once, so try again.
            Err(error) if is_pending_error(&error) => {
                self.collect_errors();
                self.try_send(transmit, train)
            }
            outcome => outcome,
        }
    }

    fn try_send(&self, transmit: &Transmit, train: &[u8]) -> io::Result<()> {
        let datagrams = quinn_udp::Transmit {
            destination: transmit.route.remote,
            ecn: ecn(transmit.ecn),
            contents: train,
            segment_size: Some(transmit.segment),
            src_ip: None,
        };
        let send = || self.io.write(|| self.state.try_send(UdpSockRef::from(self.io.socket()), &datagrams));
        match transmit.fragmentation {
            Fragmentation::Forbidden => send(),
            Fragmentation::Allowed => fragmentation::allowed(self.io.socket(), self.local, send),
        }
    }

    /// The system will not send this train: find out what can be saved, and tell the machine about the rest.
    fn refused(&mut self, transmit: &Transmit, train: &[u8], error: &io::Error) {
        if train.len() > transmit.segment {
            self.send_singly(transmit, train);
        } else if let Some(reason) = reason(error) {
            let quoted = train[..train.len().min(QUOTED_BYTES)].to_vec();
            // The system's error queue knows the MTU, where there is one, and not the packet.
            let reason = match (reason, self.collect_errors()) {
                (Unreachable::PacketTooBig { .. }, Some(mtu)) => Unreachable::PacketTooBig { mtu },
                // Where there is none in it, a router's word about an earlier packet is told on this one, once.
                (Unreachable::PacketTooBig { .. }, None) if self.try_send(transmit, train).is_ok() => return,
                (reason, _) => reason,
            };
            self.note(NetworkError { route: transmit.route, reason, quoted });
        }
    }

    /// Sends a refused train datagram by datagram. If even that fails, GSO was not to blame.
    fn send_singly(&mut self, transmit: &Transmit, train: &[u8]) {
        let mut gso_is_innocent = false;
        for datagram in train.chunks(transmit.segment) {
            match self.send_train(transmit, datagram) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.outbox.push(*transmit, datagram)
                }
                Err(error) => {
                    gso_is_innocent = true;
                    self.refused(transmit, datagram, &error);
                }
            }
        }
        if gso_is_innocent {
            self.renew_state();
        }
    }
}

/// Errors that ICMP causes on a socket.
fn is_pending_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable
    ) || error.raw_os_error().is_some_and(|code| PENDING_ERRNOS.contains(&code))
}

/// EPROTO, ENOPROTOOPT, EOPNOTSUPP: what some ICMP codes become and [`io::ErrorKind`] has no names for.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PENDING_ERRNOS: [i32; 3] = [nix::libc::EPROTO, nix::libc::ENOPROTOOPT, nix::libc::EOPNOTSUPP];
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PENDING_ERRNOS: [i32; 0] = [];

/// ENODEV, ENXIO.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NO_DEVICE_ERRNOS: [i32; 2] = [nix::libc::ENODEV, nix::libc::ENXIO];
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const NO_DEVICE_ERRNOS: [i32; 0] = [];

/// What a refusal by our own network layer means for the route.
fn reason(error: &io::Error) -> Option<Unreachable> {
    if quinn_udp::is_msg_size_err(error) {
        return Some(Unreachable::PacketTooBig { mtu: 0 });
    }
    match error.kind() {
        // No route, interface down, address gone; EINVAL is what Linux says of a source address that is gone.
        io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::InvalidInput => Some(Unreachable::Destination),
        // The device that the socket is bound to is gone.
        _ if error.raw_os_error().is_some_and(|code| NO_DEVICE_ERRNOS.contains(&code)) => {
            Some(Unreachable::Destination)
        }
        // Full device queues, firewalls: as good as lost on the way.
        _ => None,
    }
}

fn ecn(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::CongestionExperienced => Some(EcnCodepoint::Ce),
    }
}
