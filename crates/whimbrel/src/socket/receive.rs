use std::io::{self, IoSliceMut};

use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use core::task::Context;

use quinn_udp::{EcnCodepoint, RecvMeta, UdpSockRef};
use whimbrel_machine::{Ecn, Input, Route};

use super::{ERRORS_MAX, Framing, Socket};

/// Trains received before the machine is asked: enough to share the cost of a step, few enough to stay in the cache.
const TRAINS: usize = 16;

/// Trains that room is offered for at least: one, and one more to see that the socket is drained.
pub(super) const EXPECTED_MIN: usize = 2;

/// Each buffer takes a whole GRO train, or the largest datagram.
const TRAIN_BYTES: usize = 1 << 16;

/// Where received trains lie until the machine has read them. Memory that no train has touched is never backed.
pub(crate) struct ReceiveBuffers {
    storage: Vec<u8>,
    arrivals: Vec<Arrival>,
    used: usize,
}

/// One received train.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    route: Route,
    ecn: Ecn,
    range: Range<usize>,
    segment: usize,
}

impl ReceiveBuffers {
    pub(crate) fn new() -> Self {
        Self { storage: vec![0; TRAINS * TRAIN_BYTES], arrivals: Vec::with_capacity(TRAINS), used: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.arrivals.clear();
        self.used = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.arrivals.len()
    }

    /// Who sent the trains from number `first` on.
    pub(crate) fn senders(&self, first: usize) -> impl Iterator<Item = IpAddr> {
        self.arrivals[first..].iter().map(|arrival| arrival.route.remote.ip())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.used == TRAINS
    }

    /// Bytes of each train, and of the packets in it but the last.
    pub(crate) fn trains(&self) -> impl Iterator<Item = (usize, usize)> {
        self.arrivals.iter().map(|arrival| (arrival.range.len(), arrival.segment))
    }

    /// The trains as inputs, in order of arrival per socket.
    pub(crate) fn inputs<C>(&self) -> impl Iterator<Item = Input<'_, C>> {
        self.arrivals.iter().map(|arrival| Input::Datagrams {
            route: arrival.route,
            ecn: arrival.ecn,
            bytes: &self.storage[arrival.range.clone()],
            segment: arrival.segment,
        })
    }
}

impl Socket {
    /// Receives as many trains as there are, and as there are buffers for. Whatever goes wrong on a socket is no
    /// reason to stop: the machine finds out by its timers.
    pub(crate) fn receive(&mut self, cx: &mut Context<'_>, buffers: &mut ReceiveBuffers) {
        let mut errors = 0;
        while !buffers.is_full() && errors < ERRORS_MAX && (self.io.poll_readable(cx) || self.reread) {
            let (count, outcome) = self.receive_once(buffers);
            self.reread = false;
            buffers.used += count;
            match outcome {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    // An ICMP error announces itself this way. It is told once, so what lies behind it can be read.
                    self.collect_errors();
                    self.reread = true;
                    errors += 1;
                }
                _ => {}
            }
        }
    }

    /// One system call. The trains it yields are noted in `buffers`; returns how many buffers it used.
    fn receive_once(&mut self, buffers: &mut ReceiveBuffers) -> (usize, io::Result<()>) {
        let start = buffers.used * TRAIN_BYTES;
        let offered = self.expected.min(TRAINS - buffers.used);
        let mut metas = [RecvMeta::default(); TRAINS];
        let mut chunks = buffers.storage[start..].chunks_exact_mut(TRAIN_BYTES);
        let mut slices: [IoSliceMut<'_>; TRAINS] =
            core::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let mut count = 0;
        let mut receive = || {
            count =
                self.state.recv(UdpSockRef::from(self.io.socket()), &mut slices[..offered], &mut metas)?;
            // Fewer than could be: the socket is drained. Saying so to the runtime saves a call that finds nothing.
            if count < offered { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        };
        // The runtime lets nothing through while it takes the socket for drained.
        let outcome = if self.reread { receive() } else { self.io.read(receive) };
        self.expected = next_expected(self.expected, offered, count);
        for (index, meta) in metas[..count].iter().enumerate() {
            let arrival = self.arrival(meta, start + index * TRAIN_BYTES, &buffers.storage);
            buffers.arrivals.extend(arrival);
        }
        (count, outcome)
    }

    fn arrival(&self, meta: &RecvMeta, start: usize, storage: &[u8]) -> Option<Arrival> {
        let header = match self.framing {
            Framing::Bare => 0,
            Framing::Ipv4Header => ipv4_header_length(&storage[start..start + meta.len])?,
        };
        // An empty datagram is no packet.
        if meta.len <= header || meta.stride == 0 {
            return None;
        }
        let range = start + header..start + meta.len;
        let segment = if header == 0 { meta.stride } else { range.len() };
        Some(Arrival {
            route: Route { local: self.local, remote: canonical(meta.addr) },
            ecn: ecn(meta.ecn),
            range,
            segment,
        })
    }
}

/// How many trains to expect after a call that was offered room for some and brought `count`: all there is room for once
/// the room was too small, since another call costs more than room; then fewer again, slowly.
fn next_expected(expected: usize, offered: usize, count: usize) -> usize {
    if count == offered { TRAINS } else { expected.saturating_sub(1).max(EXPECTED_MIN).max(count + 1) }
}

fn ipv4_header_length(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    (first >> 4 == 4).then_some(usize::from(first & 0x0f) * 4)
}

/// The address as the machine knows it: without the flow label, which is not part of a peer's name.
fn canonical(mut address: SocketAddr) -> SocketAddr {
    if let SocketAddr::V6(address) = &mut address {
        address.set_flowinfo(0);
    }
    address
}

fn ecn(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::CongestionExperienced,
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
