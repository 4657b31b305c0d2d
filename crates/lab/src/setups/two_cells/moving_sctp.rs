use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_handover::Policy;
use whimbrel_machine::{Instant, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{Context, LinkConfig, World};
use whimbrel_node::Node;
use whimbrel_proto::{Command, Config, Event, PathView};
use whimbrel_testbed::traffic::{File, Traffic};
use whimbrel_testbed::{Record, Tally, Uplink, User, blank};

use super::{BEGIN, Download, Way, Wires};

/// Bytes.
const MESSAGE: u64 = 1452;
/// Bytes handed over and not acknowledged: more than the receive windows of the papers.
const BACKLOG: u64 = 512 << 10;

/// Sums alone: what paths carry new data is noted by nobody.
#[derive(Default)]
pub struct Quiet(Tally);

impl Record for Quiet {
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        if !matches!(event, Event::PathInUse { .. }) {
            self.0.on_event(event, context);
        }
    }
}

/// A download over SCTP by a node that adds, changes and deletes addresses as its policy has it.
pub type MovingSctp = Download<Node, User<Quiet>>;

/// The mobile node's address in a cell.
pub fn mobile(cell: usize) -> SocketAddr {
    SocketAddr::from(([10, 1, cell as u8, 3], 0))
}

fn correspondent() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 0))
}

impl MovingSctp {
    /// Sets it up: both hosts with `config`, the mobile node with a policy.
    pub fn new(
        seed: u64,
        config: Config,
        policy: impl Fn() -> Box<dyn Policy> + Send + 'static,
        wires: &Wires,
        way: &Way,
        file: u64,
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let config = Arc::new(config);
        let node = |number, local| Node::new(Arc::clone(&config), world.seed().child("host", number), local);
        let cn_node = node(1, vec![correspondent()]);
        let mn_node = node(2, vec![mobile(0)]).with_policy(policy);
        let traffic: Box<dyn Traffic> = Box::new(File::in_messages(file, MESSAGE, BACKLOG));
        let cn = world.add_host("cn", cn_node, User::<Quiet>::reader().sending(traffic).saying(blank));
        let mn = world.add_host("mn", mn_node, User::opener(BEGIN, vec![correspondent()]));
        let core = world.add_router();
        let own = world.add_interface(cn, [correspondent().ip()]);
        world.add_link(own, core, LinkConfig::default(), LinkConfig::default());
        let radio = [0, 1].map(|cell| {
            let access = world.add_router();
            world.add_link(core, access, wires.wired(), wires.wired());
            let interface = world.add_interface(mn, [mobile(cell).ip()]);
            let link = world.add_link(access, interface, wires.radio(0, 0), wires.radio(0, 0));
            let (number, kind) = (InterfaceId(cell as u32), InterfaceKind::WirelessLan);
            Uplink { host: mn, link, interface, number, kind, address: mobile(cell) }
        });
        let mut this = Self::begin(world, [cn, mn], radio, way, file, |user| Some(&user.0));
        for radio in radio {
            let on = LinkFact::AddressOn { interface: radio.number, address: radio.address.ip() };
            radio.tell(&mut this.world, Instant::ZERO, on);
        }
        for &(at, cell, event) in &way.events {
            radio[cell].follow(&mut this.world, at, event);
        }
        this
    }

    /// Runs until the way ends or `condition` holds, which is asked after every event with the time and the correspondent
    /// node's paths.
    pub fn run_until(&mut self, mut condition: impl FnMut(Instant, &[PathView]) -> bool) -> Instant {
        let [cn, _] = self.hosts;
        self.world.run_until_or(self.until, |world| {
            condition(world.now(), &world.app(cn).paths(world.machine(cn)))
        });
        self.world.now()
    }
}
