use core::net::SocketAddr;
use std::sync::Arc;

use whimbrel_handover::Policy;
use whimbrel_machine::{Instant, InterfaceFact, InterfaceId, InterfaceKind, LinkFact, Seed};
use whimbrel_netsim::{
    Action, CellEvent, Change, Context, HostId, InFlight, Intruder, LinkConfig, Side, World,
};
use whimbrel_node::Node;
use whimbrel_proto::{Command, Config, Event, PathView};
use whimbrel_testbed::traffic::{File, Traffic};
use whimbrel_testbed::{Record, Tally, Uplink, User, blank};

use super::{Air, BEGIN, Journey, Way, Wires};
use crate::experiment::Watch;

/// Bytes.
const MESSAGE: u64 = 1452;
/// Bytes handed over and not acknowledged: more than the receive windows of the papers.
const BACKLOG: u64 = 512 << 10;

/// Sums alone: what paths carry new data is noted by nobody.
#[derive(Default)]
struct Quiet(Tally);

impl Record for Quiet {
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        if !matches!(event, Event::PathInUse { .. }) {
            self.0.on_event(event, context);
        }
    }
}

/// A download over SCTP by a node that adds, changes and deletes addresses as its policy has it.
pub struct MovingSctp {
    world: World<Node, User<Quiet>>,
    cn: HostId,
    mn: HostId,
    radio: [Uplink; 2],
    air: Air,
    until: Instant,
    /// Bytes.
    file: u64,
}

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
        let (air, ear) = super::listen([mobile(0).ip(), mobile(1).ip()]);
        world.set_intruder(Some(ear));
        let mut this = Self { world, cn, mn, radio, air, until: way.until, file };
        this.follow(way);
        this
    }

    /// Has `observer` see what is about to arrive, instead of what notes arrivals for [`Journey`].
    pub fn observe(&mut self, observer: Box<dyn Intruder>) {
        self.world.set_intruder(Some(observer));
    }

    /// Runs until the way ends or `condition` holds, which is asked after every event with the time and the correspondent
    /// node's paths.
    pub fn run_until(&mut self, mut condition: impl FnMut(Instant, &[PathView]) -> bool) -> Instant {
        let cn = self.cn;
        self.world.run_until_or(self.until, |world| {
            let paths = world.app(cn).association().map(|id| world.machine(cn).paths(id)).unwrap_or_default();
            condition(world.now(), &paths)
        });
        self.world.now()
    }

    /// Has nothing pass over a cell any more, without telling anybody.
    pub fn cut(&mut self, cell: usize) {
        self.world.act(Action::Link(self.radio[cell].link, Side::Both, Change::Down(InFlight::Lost)));
    }

    /// Of everything that has happened.
    pub const fn fingerprint(&self) -> u64 {
        self.world.trace_hash()
    }

    /// Turns the events of the radio into changes of links and facts.
    fn follow(&mut self, way: &Way) {
        self.radio[1].cut(&mut self.world, Instant::ZERO);
        for radio in self.radio {
            let on = LinkFact::AddressOn { interface: radio.number, address: radio.address.ip() };
            radio.tell(&mut self.world, Instant::ZERO, on);
        }
        for &(at, cell, event) in &way.events {
            let (radio, world) = (self.radio[cell], &mut self.world);
            match event {
                CellEvent::Signal(power) => radio.about(world, at, InterfaceFact::Signal(power)),
                CellEvent::Attached => {
                    radio.about(world, at, InterfaceFact::Up(radio.kind));
                    radio.about(world, at, InterfaceFact::HandoverComplete);
                    radio.heal(world, at);
                }
                CellEvent::Addressed => radio.tell(world, at, LinkFact::AddressUp(radio.address)),
                CellEvent::Lost => {
                    radio.tell(world, at, LinkFact::AddressDown(radio.address));
                    radio.about(world, at, InterfaceFact::Down);
                    radio.cut(world, at);
                }
            }
        }
    }

    /// Records the run from now on.
    pub fn record(&mut self, watch: Watch) {
        let _ =
            watch.record(&mut self.world, &[(self.radio[0].link, "cell 0"), (self.radio[1].link, "cell 1")]);
    }

    /// Runs until the file is there, or the way ends.
    pub fn run(mut self, watch: Watch) -> Journey {
        self.record(watch);
        let (mn, file) = (self.mn, self.file);
        self.world.run_until_or(self.until, |world| world.app(mn).0.received >= file);
        let _ = self.world.finish();
        let (began, reader) = (self.world.app(self.cn).0.up, &self.world.app(mn).0);
        let done = reader.silence.last().filter(|_| reader.received >= file);
        Journey::over(&self.world, self.radio, &self.air, (began, done))
    }
}
