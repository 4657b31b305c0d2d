use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::io;
use std::sync::Arc;

use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_netsim::{Action, HostId, InterfaceId, LinkConfig, LinkId, Mixed, World};
use whimbrel_node::Node;
use whimbrel_rivals::tcp::{ConnectionId, Greedy as Endless, Tcp};
use whimbrel_testbed::traffic::Greedy;
use whimbrel_testbed::{Flow as TcpUser, Opening, Tally, UDP_PORT, User, blank};

use super::contender::{Contender, Speaks};
use super::place::Place;
use crate::experiment::Watch;

/// Bytes of a message.
const MESSAGE: usize = 16_384;
/// TCP's port.
const PORT: u16 = 5001;

/// Hosts that send as fast as they can, each to one of its own, through one bottleneck.
pub(super) struct Bed {
    pub(super) world: Everything,
    pub(super) flows: Vec<Flow>,
    pub(super) bottleneck: LinkId,
}

/// Hosts of both kinds.
type Everything = World<Mixed<Node, Tcp>, Mixed<User<Tally>, TcpUser<Tally>>>;

/// A sender and its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    sender: HostId,
    receiver: HostId,
}

/// What became of a flow until now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Totals {
    /// Bytes that the receiving user has.
    pub(super) delivered: u64,
    /// Chunks or segments sent, repeated ones included.
    pub(super) sent: u64,
    /// Those sent again.
    pub(super) retransmitted: u64,
    /// Those that came twice, although the network doubles nothing: they were sent again without need. TCP's receiver does not count them.
    pub(super) needless: Option<u64>,
    /// Expirations of the retransmission timer.
    pub(super) timeouts: u64,
}

impl Bed {
    /// Flows that begin at these times.
    pub(super) fn new(seed: u64, place: Place, flows: &[(Contender, Instant)]) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let mut ends = Vec::new();
        let mut added = Vec::new();
        for (number, &(contender, start)) in (0_u8..).zip(flows) {
            let (flow, interfaces) = add(&mut world, number, contender, start, place.buffers());
            added.push(flow);
            ends.extend(interfaces);
        }
        let bottleneck = join(&mut world, &ends, place.link());
        for (side, at, change) in place.changes() {
            world.schedule(at, Action::Link(bottleneck, side, change));
        }
        Self { world, flows: added, bottleneck }
    }

    /// Records the run: the capture is what enters and leaves the bottleneck at the senders' side.
    pub(super) fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.record(&mut self.world, &[(self.bottleneck, "bottleneck")])
    }

    /// When a flow could send its first data, if it could yet.
    pub(super) fn up(&self, flow: Flow) -> Option<Instant> {
        self.record(flow.sender).up
    }

    fn record(&self, host: HostId) -> &Tally {
        match self.world.app(host) {
            Mixed::First(user) => &user.record,
            Mixed::Second(user) => &user.record,
        }
    }

    /// What has become of a flow.
    pub(super) fn totals(&self, flow: Flow) -> Totals {
        let ends = (self.world.machine(flow.sender), self.world.machine(flow.receiver));
        match ends {
            (Mixed::First(sender), Mixed::First(receiver)) => self.of_sctp(flow, sender, receiver),
            (Mixed::Second(sender), Mixed::Second(receiver)) => of_tcp(sender, receiver),
            _ => Totals::default(),
        }
    }

    fn of_sctp(&self, flow: Flow, sender: &Node, receiver: &Node) -> Totals {
        let user = |host| self.world.app(host).first();
        let stats = |host, node: &Node| user(host)?.association().and_then(|one| node.stats(one));
        let (Some(sent), Some(received)) = (stats(flow.sender, sender), stats(flow.receiver, receiver))
        else {
            return Totals::default();
        };
        let association = user(flow.sender).and_then(User::association);
        let paths = association.map(|association| sender.paths(association)).unwrap_or_default();
        Totals {
            delivered: self.record(flow.receiver).received,
            sent: sent.data_sent + sent.data_retransmitted,
            retransmitted: sent.data_retransmitted,
            needless: Some(received.duplicates_received),
            timeouts: paths.iter().map(|path| path.counters.timeouts).sum(),
        }
    }
}

fn of_tcp(sender: &Tcp, receiver: &Tcp) -> Totals {
    let stats = |tcp: &Tcp| tcp.stats(ConnectionId(0)).unwrap_or_default();
    let (sent, received) = (stats(sender), stats(receiver));
    Totals {
        delivered: received.received,
        sent: sent.segments,
        retransmitted: sent.retransmissions,
        needless: None,
        timeouts: sent.timeouts,
    }
}

/// Adds the hosts of a flow, and for each of its paths an interface at either end.
fn add(
    world: &mut Everything,
    number: u8,
    contender: Contender,
    start: Instant,
    buffers: usize,
) -> (Flow, Vec<[InterfaceId; 2]>) {
    let by_path =
        |path: u8, end: u8, port| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, number, path, end)), port);
    let address = |end, port| by_path(0, end, port);
    let seed = |world: &Everything, end: u64| world.seed().child("host", u64::from(number) * 2 + end);
    let hosts = match contender.speaks(buffers + MESSAGE) {
        Speaks::Sctp(config) => {
            let config = Arc::new(*config);
            let ends = [1, 2].map(|end| -> Vec<_> {
                (0..contender.paths()).map(|path| by_path(path, end, UDP_PORT)).collect()
            });
            let node = |world: &Everything, end: usize| {
                Mixed::First(Node::new(Arc::clone(&config), seed(world, end as u64), ends[end].clone()))
            };
            let traffic = Box::new(Greedy::new(MESSAGE, buffers));
            let sender = User::<Tally>::sender(start, ends[1].clone(), traffic).saying(blank);
            let (machine, other) = (node(world, 0), node(world, 1));
            let receiver = world.add_host("receiver", other, Mixed::First(User::reader()));
            [world.add_host("sender", machine, Mixed::First(sender)), receiver]
        }
        Speaks::Tcp(config) => {
            let config = Arc::new(config);
            let route = Route { local: address(1, 0), remote: address(2, 0) };
            let tcp =
                |world: &Everything, end| Mixed::Second(Tcp::new(Arc::clone(&config), &seed(world, end)));
            let (machine, other) = (tcp(world, 0), tcp(world, 1));
            let receiver = world.add_host("receiver", other, Mixed::Second(TcpUser::reader()));
            let opening = Opening { start, route, port: PORT, sources: vec![Box::new(Endless)] };
            [world.add_host("sender", machine, Mixed::Second(TcpUser::sender(opening))), receiver]
        }
    };
    let interfaces =
        |path| [0, 1].map(|end| world.add_interface(hosts[end], [by_path(path, end as u8 + 1, 0).ip()]));
    let interfaces = (0..contender.paths()).map(interfaces).collect();
    (Flow { sender: hosts[0], receiver: hosts[1] }, interfaces)
}

/// One path has the bottleneck for itself, without a router, which would make a run longer.
fn join(world: &mut Everything, ends: &[[InterfaceId; 2]], [there, back]: [LinkConfig; 2]) -> LinkId {
    if let [[sender, receiver]] = *ends {
        return world.add_link(sender, receiver, there, back);
    }
    let (near, far) = (world.add_router(), world.add_router());
    for &[sender, receiver] in ends {
        world.add_link(sender, near, LinkConfig::default(), LinkConfig::default());
        world.add_link(far, receiver, LinkConfig::default(), LinkConfig::default());
    }
    world.add_link(near, far, there, back)
}
