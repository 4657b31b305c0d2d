use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU32;
use core::task::Context;

use whimbrel_machine::Transmit;

use super::{NetworkError, ReceiveBuffers, Socket};

/// Peers kept that are reached by the host's routes and not through the device; forgetting one costs a detour.
const ELSEWHERE_MAX: usize = 64;

/// Who has been heard on the first port is remembered of so many.
const HEARD_MAX: usize = 8;

/// A local address and what sends and receives for it.
///
/// A socket that is bound to an address alone sends by the host's routing table, which looks at the destination only:
/// with two networks, everything leaves by the better default route, whatever its source address, and the other network
/// is never used. So what leaves from an address goes through a second socket, bound to the address's device, if
/// that has routes of its own. The first socket still receives what arrives by another device (Linux takes a packet for
/// any of its addresses on any of its devices), and answers it the way it came.
pub(crate) struct LocalAddress {
    socket: Socket,
    device: Option<Device>,
    /// The sockets of the first port, with and without a device, while packets leave from another one. What arrives there is received, and the port is nobody
    /// else's.
    first: Vec<Socket>,
    /// Those of the port before: nothing leaves there, and what still arrives is received.
    former: Vec<Socket>,
    /// Who has been heard on the first port since another one is in use, and since that was last looked at.
    heard: Vec<IpAddr>,
    /// The host's own addresses: they are not reached through a device.
    own: Arc<BTreeSet<IpAddr>>,
    parked: bool,
}

struct Device {
    index: NonZeroU32,
    socket: Socket,
    elsewhere: VecDeque<IpAddr>,
}

impl LocalAddress {
    pub(crate) fn new(socket: Socket) -> Self {
        let (first, former, heard) = (Vec::new(), Vec::new(), Vec::new());
        Self { socket, device: None, first, former, heard, own: Arc::default(), parked: false }
    }

    /// Address and UDP port.
    pub(crate) fn local(&self) -> SocketAddr {
        self.socket.local()
    }

    /// Sends nothing from now on. What still arrives is received.
    pub(crate) fn park(&mut self) {
        self.parked = true;
    }

    /// Sends again. Whether it was parked.
    pub(crate) fn unpark(&mut self) -> bool {
        core::mem::take(&mut self.parked)
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.parked
    }

    /// Tells which addresses are this host's.
    pub(crate) fn set_own(&mut self, own: &Arc<BTreeSet<IpAddr>>) {
        self.own = Arc::clone(own);
    }

    /// Sends through a device from now on, or by the host's routes alone. What the system does not allow is done without.
    /// True if there is a device now and there was none.
    pub(crate) fn set_device(&mut self, index: Option<NonZeroU32>) -> bool {
        if self.device.as_ref().map(|device| device.index) == index {
            return false;
        }
        let none = self.device.is_none();
        self.device = None;
        self.device = index.and_then(|index| {
            let socket = self.socket.open_twin(index).ok()?;
            Some(Device { index, socket, elsewhere: VecDeque::new() })
        });
        none && self.device.is_some()
    }

    /// Sends from another UDP port from now on, under the same name: to the machine nothing has changed, and to the peer a translator has given us another port, which it
    /// follows once that has answered (RFC 6951 §5.4). False where the system gives no port.
    pub(crate) fn renew_port(&mut self) -> bool {
        let mut any = self.local();
        any.set_port(0);
        let Ok(mut socket) = Socket::open_udp(any, self.socket.member) else { return false };
        socket.stand_for(self.local());
        self.heard.clear();
        // Of those between the first and the last nobody is heard any more.
        self.former.clear();
        let is_first = self.first.is_empty();
        let last = self.replace_socket(socket);
        if is_first {
            self.first = last
        } else {
            self.former = last
        }
        true
    }

    /// Sends from the first UDP port again. False if it does.
    pub(crate) fn return_to_first_port(&mut self) -> bool {
        // Without the one of the device: the address may have another one now.
        let Some(first) = core::mem::take(&mut self.first).into_iter().next() else { return false };
        self.former = self.replace_socket(first);
        self.heard.clear();
        true
    }

    /// Whether somebody has been heard on the first port since that was last asked by [`Self::take_heard_on_first_port`], while packets leave from another one.
    pub(crate) fn is_heard_on_first_port(&self) -> bool {
        !self.heard.is_empty()
    }

    /// Who has been. They are forgotten: anybody may send there, and leaves room for the peer so.
    pub(crate) fn take_heard_on_first_port(&mut self) -> Vec<IpAddr> {
        core::mem::take(&mut self.heard)
    }

    /// Sends through this socket, and through a device as before; returns the sockets there were.
    fn replace_socket(&mut self, socket: Socket) -> Vec<Socket> {
        let device = self.device.take();
        let mut last = vec![core::mem::replace(&mut self.socket, socket)];
        if let Some(Device { index, socket, .. }) = device {
            last.push(socket);
            self.set_device(Some(index));
        }
        last
    }

    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8]) {
        if self.parked {
            return;
        }
        let remote = transmit.route.remote.ip();
        match &mut self.device {
            Some(device)
                if !self.own.contains(&remote)
                    && !remote.is_loopback()
                    && !device.elsewhere.contains(&remote) =>
            {
                device.socket.send(transmit, bytes);
            }
            _ => self.socket.send(transmit, bytes),
        }
    }

    pub(crate) fn send_gathered(&mut self) {
        self.sockets().for_each(Socket::send_gathered);
    }

    /// Sends what the sockets had no room for, and receives what there is and `buffers` have room for.
    pub(crate) fn exchange(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &mut ReceiveBuffers,
        errors: &mut Vec<NetworkError>,
    ) {
        self.sockets().for_each(|socket| socket.flush(cx));
        if let Some(device) = &mut self.device {
            let before = buffers.len();
            device.socket.receive(cx, buffers);
            device.came_back(buffers.senders(before));
            errors.extend(device.socket.take_errors());
        }
        let before = buffers.len();
        self.socket.receive(cx, buffers);
        if let Some(device) = &mut self.device {
            device.came_elsewhere(buffers.senders(before), &self.own);
        }
        errors.extend(self.socket.take_errors());
        let before = buffers.len();
        for socket in &mut self.first {
            socket.receive(cx, buffers);
        }
        for sender in buffers.senders(before) {
            if self.heard.len() < HEARD_MAX && !self.heard.contains(&sender) {
                self.heard.push(sender);
            }
        }
        self.former.iter_mut().for_each(|socket| socket.receive(cx, buffers));
        for socket in self.first.iter_mut().chain(&mut self.former) {
            // What left from there is forgotten, and whoever refuses it says nothing about what leaves now.
            socket.take_errors().for_each(drop);
        }
    }

    /// Whether something waits for a socket to have room.
    pub(crate) fn has_unsent(&mut self) -> bool {
        self.sockets().any(|socket| socket.has_unsent())
    }

    /// See [`Socket::watch_errors`].
    pub(crate) fn watch_errors(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        for socket in self.sockets() {
            any |= socket.watch_errors(cx);
        }
        any
    }

    fn sockets(&mut self) -> impl Iterator<Item = &mut Socket> {
        let device = self.device.as_mut().map(|device| &mut device.socket);
        core::iter::once(&mut self.socket).chain(device).chain(&mut self.first).chain(&mut self.former)
    }
}

impl Device {
    fn came_back(&mut self, senders: impl Iterator<Item = IpAddr>) {
        if self.elsewhere.is_empty() {
            return;
        }
        for sender in senders {
            self.elsewhere.retain(|ip| *ip != sender);
        }
    }

    fn came_elsewhere(&mut self, senders: impl Iterator<Item = IpAddr>, own: &BTreeSet<IpAddr>) {
        for sender in senders {
            if own.contains(&sender) || self.elsewhere.contains(&sender) {
                continue;
            }
            if self.elsewhere.len() == ELSEWHERE_MAX {
                self.elsewhere.pop_front();
            }
            self.elsewhere.push_back(sender);
        }
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
