//! One TCP connection over one link in virtual time.
#![allow(dead_code, reason = "each test file uses its part")]

use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_netsim::{App, Context, HostId, LinkConfig, LinkId, World};
use whimbrel_rivals::tcp::{ConnectionId, Source, Tcp, TcpCommand, TcpConfig, TcpEvent, TcpStats};

/// Opens what it is given at the start, and notes what it is told.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) open: Vec<(Route, Box<dyn Source>)>,
    pub(crate) events: Vec<(Instant, TcpEvent)>,
    /// Bytes received in order, over all connections.
    pub(crate) received: u64,
}

impl App<Tcp> for Log {
    fn on_start(&mut self, context: &mut Context<'_, TcpCommand>) {
        for (route, source) in self.open.drain(..) {
            context.command(TcpCommand::Open { route, port: 5001, source });
        }
    }

    fn on_event(&mut self, event: TcpEvent, context: &mut Context<'_, TcpCommand>) {
        if let TcpEvent::Received { bytes, .. } = event {
            self.received += bytes;
        }
        self.events.push((context.now(), event));
    }
}

impl Log {
    /// When `condition` first held for an event.
    pub(crate) fn first(&self, condition: impl Fn(&TcpEvent) -> bool) -> Option<Instant> {
        self.events.iter().find(|(_, event)| condition(event)).map(|&(at, _)| at)
    }
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

pub(crate) fn pair(
    seed: u64,
    config: TcpConfig,
    link: [LinkConfig; 2],
    sources: Vec<Box<dyn Source>>,
) -> Pair {
    let mut world = World::new(Seed::from_u64(seed));
    let config = Arc::new(config);
    let route = Route { local: at(1), remote: at(2) };
    let open = sources.into_iter().map(|source| (route, source)).collect();
    let tcp = |name| Tcp::new(config.clone(), &Seed::from_u64(seed).child(name, 0));
    let sender = world.add_host("sender", tcp("sender"), Log { open, ..Log::default() });
    let receiver = world.add_host("receiver", tcp("receiver"), Log::default());
    let ends = [world.add_interface(sender, [at(1).ip()]), world.add_interface(receiver, [at(2).ip()])];
    let link = world.add_link(ends[0], ends[1], link[0], link[1]);
    Pair { world, sender, receiver, link }
}

impl Pair {
    pub(crate) fn run_s(&mut self, seconds: u64) {
        self.world.run_until(Instant::from_nanos(seconds * 1_000_000_000));
    }

    pub(crate) fn received(&self) -> u64 {
        self.world.app(self.receiver).received
    }

    pub(crate) fn stats(&self) -> TcpStats {
        self.world.machine(self.sender).stats(ConnectionId(0)).expect("opened")
    }
}
