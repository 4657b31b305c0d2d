use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use bytes::Bytes;
use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{App, Context};
use whimbrel_node::Node;
use whimbrel_proto::{
    AssociationId, Command, ConnectToken, Event, Message, Part, PathId, PathShape, PathState, StreamId,
};

use super::TransferTimes;
use super::traffic::Traffic;

/// The SCTP port of all users.
const PORT: u16 = 5001;
/// Set in the payload protocol identifier of every message, for which no such identifier is assigned: analysers of captures
/// would take a message for one of theirs.
pub const NUMBERED: u32 = 0x8000_0000;
/// What messages are made of.
static CONTENT: [u8; 65_536] = [0; 65_536];

/// The user of a host: one end of an association, which one of both opens, and over which one sends and the other reads.
///
/// The payload protocol identifier of each message is [`NUMBERED`] and its number, from 0, so that whoever looks at packets can tell new
/// data from old.
pub struct User {
    /// When it opens an association, and to which addresses; until then and otherwise it waits for one.
    opens: Option<(Instant, Vec<SocketAddr>)>,
    /// What it sends.
    traffic: Option<Box<dyn Traffic>>,
    /// What paths over these addresses begin with.
    shapes: Vec<(IpAddr, PathShape)>,
    /// Paths that have begun.
    begun: Vec<PathId>,
    association: Option<AssociationId>,
    /// When the association came up.
    pub up: Option<Instant>,
    /// Which paths carried new data, from when on.
    pub uses: Vec<PathUse>,
    /// Bytes of user data delivered so far.
    pub received: u64,
    /// Messages handed over so far.
    pub sent: u32,
    /// When the last user data was delivered.
    last: Option<Instant>,
    longest_silence: Duration,
    transfer_times: Option<TransferTimes>,
}

/// New data takes a path from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathUse {
    /// When it began.
    pub at: Instant,
    /// The path that carries new data.
    pub path: PathId,
    /// The peer's address that it leads to.
    pub remote: SocketAddr,
}

const CONNECT: u64 = 0;
const SEND: u64 = 1;

impl User {
    /// Connects to `peer` at `start`, and sends as soon as the association is up.
    pub fn sender(start: Instant, peer: Vec<SocketAddr>, traffic: Box<dyn Traffic>) -> Self {
        Self::new(Some((start, peer)), Some(traffic))
    }

    /// Connects to `peer` at `start`, and reads at once what comes.
    pub fn opener(start: Instant, peer: Vec<SocketAddr>) -> Self {
        Self::new(Some((start, peer)), None)
    }

    /// Waits for an association, and sends as soon as it is up.
    pub fn replier(traffic: Box<dyn Traffic>) -> Self {
        Self::new(None, Some(traffic))
    }

    /// Waits for an association and reads at once what comes.
    pub fn reader() -> Self {
        Self::new(None, None)
    }

    /// The same, and paths over these local or remote addresses begin with something else than usual.
    pub fn shaping(self, shapes: Vec<(IpAddr, PathShape)>) -> Self {
        Self { shapes, ..self }
    }

    /// The same, and takes the time of each message that arrives.
    pub fn timing(self, transfer_times: TransferTimes) -> Self {
        Self { transfer_times: Some(transfer_times), ..self }
    }

    const fn new(opens: Option<(Instant, Vec<SocketAddr>)>, traffic: Option<Box<dyn Traffic>>) -> Self {
        Self {
            opens,
            traffic,
            shapes: Vec::new(),
            begun: Vec::new(),
            association: None,
            up: None,
            uses: Vec::new(),
            received: 0,
            sent: 0,
            last: None,
            longest_silence: Duration::ZERO,
            transfer_times: None,
        }
    }

    /// The association, once it is up.
    pub const fn association(&self) -> Option<AssociationId> {
        self.association
    }

    /// When the last user data was delivered.
    pub const fn last(&self) -> Option<Instant> {
        self.last
    }

    /// What its messages took, if it was told to take their times.
    pub const fn transfer_times(&self) -> Option<&TransferTimes> {
        self.transfer_times.as_ref()
    }

    /// When new data was first sent over another path than at first, at or after `since`.
    pub fn first_move(&self, since: Instant) -> Option<PathUse> {
        let first = self.uses.first()?;
        self.uses.iter().find(|used| used.at >= since && used.path != first.path).copied()
    }

    /// The longest time until `end` in which no user data was delivered, after the first.
    pub fn longest_silence(&self, end: Instant) -> Duration {
        let open = self.last.map(|last| end.saturating_since(last)).unwrap_or_default();
        self.longest_silence.max(open)
    }

    fn offer(&mut self, acknowledged: usize, context: &mut Context<'_, Command>) {
        let (Some(traffic), Some(association)) = (&mut self.traffic, self.association) else { return };
        let now = context.now();
        let sent = &mut self.sent;
        let next = traffic.offer(now, acknowledged, &mut |size| {
            let payload = Bytes::from_static(&CONTENT[..size.min(CONTENT.len())]);
            let mut message = Message::new(StreamId(0), payload);
            message.ppid.0 = NUMBERED | *sent;
            *sent = sent.wrapping_add(1);
            context.command(Command::Send { association, message });
        });
        if let Some(next) = next {
            context.wake_at(next, SEND);
        }
    }

    /// A path can carry data.
    fn begin(&mut self, path: PathId, route: Route, context: &mut Context<'_, Command>) {
        let Some(association) = self.association.filter(|_| !self.begun.contains(&path)) else { return };
        self.begun.push(path);
        let over = |ip: &IpAddr| *ip == route.local.ip() || *ip == route.remote.ip();
        if let Some(&(_, shape)) = self.shapes.iter().find(|(ip, _)| over(ip)) {
            context.command(Command::ShapePath { association, path, shape });
        }
    }
}

impl App<Node> for User {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        match &self.opens {
            Some((start, _)) => context.wake_at(*start, CONNECT),
            None => context.command(Command::Listen { port: PORT }),
        }
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match event {
            Event::Message { association, received } => {
                let bytes = received.payload.len();
                self.received += bytes as u64;
                let since = self.last.replace(context.now()).unwrap_or(context.now());
                self.longest_silence = self.longest_silence.max(context.now().saturating_since(since));
                if let (Some(times), Part::Whole | Part::Last) = (&mut self.transfer_times, received.part) {
                    times.on_message(context.now());
                }
                context.command(Command::Release { association, bytes });
            }
            Event::Sent { bytes, .. } => self.offer(bytes, context),
            Event::Up { association, primary, .. } => {
                self.association = Some(association);
                self.up = Some(context.now());
                // The path of the handshake is the association's first.
                let path = PathId::from_number(0);
                self.uses.push(PathUse { at: context.now(), path, remote: primary.remote });
                self.begin(path, primary, context);
                self.offer(0, context);
            }
            Event::PathInUse { path, route, .. } => {
                context.note("path-in-use", u64::from(path.number()));
                self.uses.push(PathUse { at: context.now(), path, remote: route.remote });
            }
            Event::Path { path, route, state: PathState::Active, .. } => self.begin(path, route, context),
            _ => {}
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, Command>) {
        match (token, &self.opens) {
            (CONNECT, Some((_, peer))) => context.command(Command::Connect {
                token: ConnectToken(0),
                remote: peer.clone(),
                remote_port: PORT,
                local_port: None,
            }),
            _ => self.offer(0, context),
        }
    }
}
