use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use whimbrel_machine::{Instant, Rng, Seed};
use whimbrel_netsim::{HostId, LinkConfig, LinkId, World};
use whimbrel_node::Node;
use whimbrel_proto::{BurstLimit, Config, HeartbeatForm, InitialWindow, PathView};
use whimbrel_testbed::blank;
use whimbrel_testbed::traffic::Traffic;

use super::User;
use crate::experiment::Watch;
use crate::profile::{IP_HEADER, SCTP_HEADERS};

/// Bytes of a full packet, IP header included, and of user data in it.
pub(crate) const PACKET: usize = MESSAGE + IP_HEADER + SCTP_HEADERS;
pub(crate) const MESSAGE: usize = 1452;

/// Three links in a row, as b08 Figure 9 has them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Row {
    /// bit/s of the outer two, both ways.
    pub(crate) outer: f64,
    /// bit/s of the middle one, there and back.
    pub(crate) middle: [f64; 2],
    /// Of each link, one way.
    pub(crate) delay: Duration,
    /// bit/s of IP packets that others send through the middle link, there.
    pub(crate) cross: f64,
}

/// Two hosts with a [`Row`] of links between them, and two others with the middle link alone.
pub(crate) struct ThreeLinks {
    /// Everything.
    pub(crate) world: World<Node, User>,
    /// Who sends.
    pub(crate) sender: HostId,
    access: LinkId,
}

/// Full messages at random times, as those of many users would come: the time between two is exponentially distributed.
struct Poisson {
    mean: Duration,
    next: Option<Instant>,
    random: Rng,
}

impl Traffic for Poisson {
    fn offer(&mut self, now: Instant, _acknowledged: usize, send: &mut dyn FnMut(usize)) -> Option<Instant> {
        let before = self.next;
        let mut next = before.unwrap_or(now);
        while next <= now {
            send(MESSAGE);
            next += self.mean.mul_f64(-(1.0 - self.random.unit()).ln());
        }
        self.next = Some(next);
        // Asked between two messages it has named its next time already.
        self.next.filter(|_| self.next != before)
    }
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 9, host, 1)), 0)
}

/// Of those who send through the middle link: neither windows nor bursts hold them up.
fn unhindered(mut config: Config) -> Config {
    const ROOM: usize = 64 << 20;
    config.heartbeat.interval = None;
    (config.limits.send_buffer, config.limits.receive_buffer) = (ROOM, ROOM);
    config.congestion.initial_window = InitialWindow::Packets(10_000);
    config.congestion.burst = BurstLimit::Packets(10_000);
    config
}

impl ThreeLinks {
    /// Sets it up: both hosts with this configuration, but that the reader sends no HEARTBEATs. The association is opened at once, and the sender
    /// sends nothing of its own accord.
    pub(crate) fn new(seed: u64, config: &Config, row: Row) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let (config, others) = (Arc::new(config.clone()), Arc::new(unhindered(config.clone())));
        let mut readers = Config::clone(&config);
        (readers.heartbeat.interval, readers.heartbeat.form) = (None, HeartbeatForm::Single);
        let readers = Arc::new(readers);
        let link =
            |rate: f64| LinkConfig { rate_bps: Some(rate as u64), delay: row.delay, ..LinkConfig::default() };
        let [near, far] = [world.add_router(), world.add_router()];
        let [there, back] = row.middle.map(link);
        world.add_link(near, far, there, back);
        let mut host = |number: u8, config: &Arc<Config>, user: User, router, link: LinkConfig| {
            let seed = world.seed().child("host", number.into());
            let node = Node::new(Arc::clone(config), seed, vec![address(number)]);
            let host = world.add_host(&format!("host{number}"), node, user);
            let interface = world.add_interface(host, [address(number).ip()]);
            (host, world.add_link(router, interface, link, link))
        };
        let (sender, access) =
            host(1, &config, User::opener(Instant::ZERO, vec![address(2)]), near, link(row.outer));
        host(2, &readers, User::reader(), far, link(row.outer));
        if row.cross > 0.0 {
            let mean = Duration::from_secs_f64(PACKET as f64 * 8.0 / row.cross);
            let random = Seed::from_u64(seed).stream("traffic.cross", 0);
            let traffic = Poisson { mean, next: None, random };
            let wide = LinkConfig::default();
            let user = User::sender(Instant::ZERO, vec![address(4)], Box::new(traffic)).saying(blank);
            host(3, &others, user, near, wide);
            host(4, &others, User::reader(), far, wide);
        }
        Self { world, sender, access }
    }

    /// The sender's path; `None` while there is no association.
    pub(crate) fn path(&self) -> Option<PathView> {
        self.world.app(self.sender).paths(self.world.machine(self.sender)).into_iter().next()
    }

    /// Records the run. The capture is what the sender's interface sees.
    ///
    /// # Errors
    /// What the writer says.
    pub(crate) fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.record(&mut self.world, &[(self.access, "sender")])
    }
}
