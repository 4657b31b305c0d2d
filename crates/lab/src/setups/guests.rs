//! Who uses the hosts of [`super::SharedBottleneck`].

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{App, Context, Mixed};
use whimbrel_node::Node;
use whimbrel_proto::{AssociationId, Command, ConnectToken, Event, Part, PathId, PathState};
use whimbrel_rivals::tcp::{Greedy, Tcp, TcpCommand, TcpEvent};
use whimbrel_testbed::blank;

use super::shared_bottleneck::{SecondPath, Video};

/// The port of all viewers and sinks.
const PORT: u16 = 5001;

type Commands<'a> = Context<'a, Mixed<Command, TcpCommand>>;

/// One of them.
pub enum Guest {
    /// Sends a video.
    Server(Server),
    /// Watches it.
    Viewer(Viewer),
    /// Sends as much as TCP lets it, from a time on.
    Flow(Instant, Route),
    /// Counts what a TCP flow brings, in bytes per [`BIN`].
    Sink(Vec<u64>),
}

/// The time over which TCP's throughput is measured: the papers' measurement point.
pub const BIN: Duration = Duration::from_secs(5);

/// Sends messages at fixed intervals, the first when its path changes.
pub struct Server {
    video: Video,
    /// The second path, from the server to the viewer.
    second: Route,
    viewer: [SocketAddr; 2],
    association: Option<AssociationId>,
    /// Its name.
    target: Option<PathId>,
    sent: u32,
}

/// Notes how long each message took from its generation.
pub struct Viewer {
    video: Video,
    /// By message.
    pub transfer_times: Vec<Duration>,
}

impl Viewer {
    pub(super) const fn new(video: Video) -> Self {
        Self { video, transfer_times: Vec::new() }
    }

    fn on_event(&mut self, event: &Event, context: &mut Commands<'_>) {
        let Event::Message { association, received } = event else { return };
        let (association, bytes) = (*association, received.payload.len());
        context.command(Mixed::First(Command::Release { association, bytes }));
        if matches!(received.part, Part::Whole | Part::Last) {
            let number = self.transfer_times.len() as u32;
            let generated = self.video.handover + self.video.interval * number;
            self.transfer_times.push(context.now() - generated);
        }
    }
}

impl Server {
    fn on_event(&mut self, event: &Event, context: &mut Commands<'_>) {
        match *event {
            Event::Up { association, .. } => {
                self.association = Some(association);
                // Addresses that the user names need no confirmation (RFC 9260 §5.4): the second is the second path.
                let path = *self.target.get_or_insert(PathId::from_number(1));
                if self.video.second_path == SecondPath::Measured {
                    context.command(Mixed::First(Command::RequestHeartbeat { association, path }));
                }
            }
            // With every pair of addresses a path, it is the one that was found to lead somewhere.
            Event::Path { path, route, state: PathState::Active, .. } if route == self.second => {
                self.target = Some(path);
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, context: &mut Commands<'_>) {
        let Some(association) = self.association else {
            return context.command(Mixed::First(Command::Connect {
                token: ConnectToken(0),
                remote: self.viewer.to_vec(),
                remote_port: PORT,
                local_port: None,
            }));
        };
        if let (0, Some(path)) = (self.sent, self.target) {
            context.command(Mixed::First(Command::SetPrimary { association, path }));
        }
        if self.sent < self.video.messages {
            let message = blank(self.sent, self.video.message);
            context.command(Mixed::First(Command::Send { association, message }));
            self.sent += 1;
            context.wake_at(self.video.handover + self.video.interval * self.sent, 0);
        }
    }
}

impl Guest {
    pub(super) const fn server(video: Video, server: [SocketAddr; 2], viewer: [SocketAddr; 2]) -> Self {
        let second = Route { local: server[1], remote: viewer[1] };
        Self::Server(Server { video, second, viewer, association: None, target: None, sent: 0 })
    }

    pub(super) const fn flow(start: Instant, route: Route) -> Self {
        Self::Flow(start, route)
    }

    pub(super) const fn sink() -> Self {
        Self::Sink(Vec::new())
    }

    /// The association of a server.
    pub const fn association(&self) -> Option<AssociationId> {
        match self {
            Self::Server(server) => server.association,
            _ => None,
        }
    }

    /// What a viewer has seen.
    pub fn transfer_times(&self) -> &[Duration] {
        match self {
            Self::Viewer(viewer) => &viewer.transfer_times,
            _ => &[],
        }
    }

    /// Bytes that a sink got in each measurement point.
    pub fn bins(&self) -> &[u64] {
        match self {
            Self::Sink(bins) => bins,
            _ => &[],
        }
    }
}

impl App<Mixed<Node, Tcp>> for Guest {
    fn on_start(&mut self, context: &mut Commands<'_>) {
        match self {
            Self::Server(server) => {
                context.wake_at(server.video.handover - server.video.set_up_before, 0);
                context.wake_at(server.video.handover, 0);
            }
            Self::Viewer(_) => context.command(Mixed::First(Command::Listen { port: PORT })),
            Self::Flow(start, _) => context.wake_at(*start, 0),
            Self::Sink(_) => {}
        }
    }

    fn on_event(&mut self, event: Mixed<Event, TcpEvent>, context: &mut Commands<'_>) {
        match (self, event) {
            (Self::Server(server), Mixed::First(event)) => server.on_event(&event, context),
            (Self::Viewer(viewer), Mixed::First(event)) => viewer.on_event(&event, context),
            (Self::Sink(bins), Mixed::Second(TcpEvent::Received { bytes, .. })) => {
                let bin = (context.now().as_nanos() / BIN.as_nanos() as u64) as usize;
                bins.resize(bins.len().max(bin + 1), 0);
                bins[bin] += bytes;
            }
            _ => {}
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Commands<'_>) {
        match self {
            Self::Server(server) => server.on_wake(context),
            Self::Flow(_, route) => {
                let (route, source) = (*route, Box::new(Greedy));
                context.command(Mixed::Second(TcpCommand::Open { route, port: PORT, source }));
            }
            Self::Viewer(_) | Self::Sink(_) => {}
        }
    }
}
