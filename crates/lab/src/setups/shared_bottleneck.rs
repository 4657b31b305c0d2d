use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use serde::Deserialize;
use whimbrel_machine::{Instant, Route, Seed};
use whimbrel_netsim::{HostId, LinkConfig, LinkId, Mixed, QueueLimit, RouterId, World};
use whimbrel_node::Node;
use whimbrel_proto::Config;
use whimbrel_rivals::tcp::{Greedy, Source, Tcp, TcpConfig};
use whimbrel_testbed::{Flow, Opening, SCTP_PORT};

use super::guests::{Guest, VideoEnd};
use super::random;
use crate::experiment::Watch;

/// The link that everybody shares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bottleneck {
    /// bit/s towards the viewers.
    pub rate: f64,
    /// Round-trip time without queues.
    pub round_trip: Duration,
    /// Bytes that may wait.
    pub queue: u64,
    /// Probability that a packet towards the viewers is lost, beside those that the queue has no room for.
    pub loss: f64,
    /// What acknowledgements meet.
    pub way_back: WayBack,
}

/// The way from the viewers to the servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum WayBack {
    /// Nothing is ever short.
    #[serde(rename = "uncongested")]
    Uncongested,
    /// The rate and the queue of the way there.
    #[serde(rename = "as the way there")]
    AsTheWayThere,
}

/// Videos over SCTP that are handed over to a path on which TCP flows are at home.
///
/// Each video has a server and a viewer with two addresses each. The first path is theirs alone and good; the second leads
/// through the bottleneck that all videos and all TCP flows share.
pub struct SharedBottleneck {
    /// Everything.
    pub world: World<Mixed<Node, Tcp>, Guest>,
    /// The server and the viewer of each video.
    videos: Vec<[HostId; 2]>,
    /// The receiver of each TCP flow.
    sinks: Vec<HostId>,
    bottleneck: LinkId,
}

/// The server's address of a video on its path 0 or 1, and the viewer's.
pub(super) fn addresses(video: u8, path: u8) -> [SocketAddr; 2] {
    [1, 2].map(|host| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1 + path, video, host)), 0))
}

/// What each video does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Video {
    /// Bytes of each message.
    pub message: usize,
    /// Between messages.
    pub interval: Duration,
    /// How many.
    pub messages: u32,
    /// When the second path becomes the primary path and the first message is sent.
    pub handover: Instant,
    /// The association is set up so long before.
    pub set_up_before: Duration,
    /// What is known of the second path by then.
    pub second_path: SecondPath,
}

/// What a sender knows of the path that it hands over to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum SecondPath {
    /// Its address, which the user has named: no round trip has been measured unless a heartbeat was due.
    #[serde(rename = "named in the handshake")]
    Named,
    /// A round trip, by a HEARTBEAT that was sent when the association was up.
    #[serde(rename = "measured by a heartbeat")]
    Measured,
}

impl SharedBottleneck {
    /// Sets it up: as many videos as `videos`, all alike, and TCP flows that start at the times in `flows`.
    pub fn new(
        seed: u64,
        bottleneck: Bottleneck,
        (config, video, videos): (Config, Video, u8),
        (tcp, flows): (TcpConfig, Vec<Instant>),
    ) -> Self {
        let mut world = World::new(Seed::from_u64(seed));
        let (near, far) = (world.add_router(), world.add_router());
        let delay = bottleneck.round_trip / 2;
        let free = LinkConfig { delay, ..LinkConfig::default() };
        let shared = LinkConfig {
            rate_bps: Some(bottleneck.rate as u64),
            queue: QueueLimit::bytes(bottleneck.queue),
            ..free
        };
        let down = LinkConfig { loss: random(bottleneck.loss), ..shared };
        let back = match bottleneck.way_back {
            WayBack::Uncongested => free,
            WayBack::AsTheWayThere => shared,
        };
        let bottleneck = world.add_link(near, far, down, back);
        let mut this = Self { world, videos: Vec::new(), sinks: Vec::new(), bottleneck };
        let config = Arc::new(config);
        for number in 0..videos {
            this.add_video(number, &config, video, [near, far]);
        }
        let tcp = Arc::new(tcp);
        for (number, start) in (0..).zip(flows) {
            this.add_flow(number, &tcp, start, [near, far]);
        }
        this
    }

    fn add_video(&mut self, number: u8, config: &Arc<Config>, video: Video, routers: [RouterId; 2]) {
        let wire = LinkConfig::default();
        let paths = [0, 1].map(|path| addresses(number, path));
        let hosts = [0, 1].map(|end: usize| {
            let seed = self.world.seed().child("video", u64::from(number) * 2 + end as u64);
            let machine = Node::new(Arc::clone(config), seed, paths.map(|path| path[end]).to_vec());
            let guest = match end {
                0 => VideoEnd::server(video, paths.map(|path| path[0]), paths.map(|path| path[1])),
                _ => VideoEnd::viewer(),
            };
            self.world.add_host(["server", "viewer"][end], Mixed::First(machine), Mixed::First(guest))
        });
        let own = [0, 1].map(|end: usize| self.world.add_interface(hosts[end], [paths[0][end].ip()]));
        self.world.add_link(own[0], own[1], wire, wire);
        for end in 0..2 {
            let interface = self.world.add_interface(hosts[end], [paths[1][end].ip()]);
            self.world.add_link(interface, routers[end], wire, wire);
        }
        self.videos.push(hosts);
    }

    fn add_flow(&mut self, number: u8, config: &Arc<TcpConfig>, start: Instant, routers: [RouterId; 2]) {
        let wire = LinkConfig::default();
        let [local, remote] = [1, 2].map(|host| SocketAddr::from(([10, 9, number, host], 0)));
        let (route, sources): (_, Vec<Box<dyn Source>>) = (Route { local, remote }, vec![Box::new(Greedy)]);
        let flow = Flow::sender(Opening { start, route, port: SCTP_PORT, sources });
        let ends = [(flow, local), (Flow::reader(), remote)];
        for (end, (guest, address)) in ends.into_iter().enumerate() {
            let seed = self.world.seed().child("tcp", u64::from(number) * 2 + end as u64);
            let machine = Mixed::Second(Tcp::new(Arc::clone(config), &seed));
            let host = self.world.add_host(["flow", "sink"][end], machine, Mixed::Second(guest));
            let interface = self.world.add_interface(host, [address.ip()]);
            self.world.add_link(interface, routers[end], wire, wire);
            if end == 1 {
                self.sinks.push(host);
            }
        }
    }

    /// Chunks of all videos that were retransmitted so far.
    pub fn retransmitted(&self) -> u64 {
        let of = |&[server, _]: &[HostId; 2]| {
            let paths = self.world.app(server).first()?.user.paths(self.world.machine(server).first()?);
            Some(paths.iter().map(|path| path.counters.data_retransmitted).sum::<u64>())
        };
        self.videos.iter().filter_map(of).sum()
    }

    /// When each message of the first video was delivered.
    pub fn delivered(&self) -> &[Instant] {
        let viewer = self.videos.first().and_then(|&[_, viewer]| self.world.app(viewer).first());
        viewer.map_or(&[], |viewer| &viewer.user.0)
    }

    /// Bytes that all TCP flows have brought in a measurement point.
    pub fn brought(&self, point: usize) -> u64 {
        let of = |&sink| self.world.app(sink).second()?.record.0.get(point).copied();
        self.sinks.iter().filter_map(of).sum()
    }

    /// Records the run. The capture is what enters the bottleneck.
    ///
    /// # Errors
    /// What the writer says.
    pub fn watch(&mut self, watch: Watch) -> io::Result<()> {
        watch.record(&mut self.world, &[(self.bottleneck, "bottleneck")])
    }
}
