//! One TCP connection over one link in virtual time.
#![allow(dead_code, reason = "each test file uses its part")]

use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_netsim::{HostId, LinkConfig, LinkId, World};
use whimbrel_rivals::tcp::{ConnectionId, Source, Tcp, TcpConfig, TcpEvent, TcpStats};
use whimbrel_testbed::{Flow, Opening};

/// Who opens connections or reads, and what it was told.
pub(crate) type Log = Flow<Vec<(Instant, TcpEvent)>>;

/// Bytes that have come in order.
pub(crate) fn bytes(event: &TcpEvent) -> u64 {
    if let TcpEvent::Received { bytes, .. } = event { *bytes } else { 0 }
}

pub(crate) struct Pair {
    pub(crate) world: World<Tcp, Log>,
    pub(crate) sender: HostId,
    pub(crate) receiver: HostId,
    pub(crate) link: LinkId,
}

pub(crate) fn at(last: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, last], 0))
}

/// Who opens a connection for each source at once.
pub(crate) fn opening(sources: Vec<Box<dyn Source>>) -> Log {
    let route = Route { local: at(1), remote: at(2) };
    Log::sender(Opening { start: Instant::ZERO, route, port: 5001, sources })
}

pub(crate) fn pair(
    seed: u64,
    config: TcpConfig,
    link: [LinkConfig; 2],
    sources: Vec<Box<dyn Source>>,
) -> Pair {
    let mut world = World::new(Seed::from_u64(seed));
    let config = Arc::new(config);
    let tcp = |name| Tcp::new(config.clone(), &Seed::from_u64(seed).child(name, 0));
    let sender = world.add_host("sender", tcp("sender"), opening(sources));
    let receiver = world.add_host("receiver", tcp("receiver"), Log::reader());
    let ends = [world.add_interface(sender, [at(1).ip()]), world.add_interface(receiver, [at(2).ip()])];
    let link = world.add_link(ends[0], ends[1], link[0], link[1]);
    Pair { world, sender, receiver, link }
}

impl Pair {
    pub(crate) fn run_s(&mut self, seconds: u64) {
        self.world.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    }

    pub(crate) fn received(&self) -> u64 {
        self.world.app(self.receiver).record.iter().map(|(_, event)| bytes(event)).sum()
    }

    pub(crate) fn stats(&self) -> TcpStats {
        self.world.machine(self.sender).stats(ConnectionId(0)).expect("opened")
    }
}
