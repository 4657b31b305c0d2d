//! Who uses the hosts of [`super::SharedBottleneck`].

use core::net::SocketAddr;
use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{App, Context, Mixed};
use whimbrel_node::Node;
use whimbrel_proto::{Command, Event, Part, PathId, PathState};
use whimbrel_rivals::tcp::{TcpCommand, TcpEvent};
use whimbrel_testbed::traffic::ConstantRate;
use whimbrel_testbed::{Flow, Record, User, blank};

use super::shared_bottleneck::{SecondPath, Video};

/// One of them: an end of a video, or of a TCP flow.
pub type Guest = Mixed<VideoEnd, Flow<Bins>>;

/// The time over which TCP's throughput is measured: the papers' measurement point.
pub const BIN: Duration = Duration::from_secs(5);

/// Bytes that a TCP flow brings, per [`BIN`].
#[derive(Debug, Default)]
pub struct Bins(pub Vec<u64>);

impl Record<TcpEvent, TcpCommand> for Bins {
    fn on_event(&mut self, event: TcpEvent, context: &mut Context<'_, TcpCommand>) {
        if let TcpEvent::Received { bytes, .. } = event {
            let bin = (context.now().as_nanos() / BIN.as_nanos() as u64) as usize;
            self.0.resize(self.0.len().max(bin + 1), 0);
            self.0[bin] += bytes;
        }
    }
}

/// When each message was delivered.
#[derive(Debug, Default)]
pub(super) struct Seen(pub(super) Vec<Instant>);

impl Record for Seen {
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        if let Event::Message { received, .. } = event
            && matches!(received.part, Part::Whole | Part::Last)
        {
            self.0.push(context.now());
        }
    }
}

/// Who sends a video or watches it. A server begins when its primary path changes.
pub struct VideoEnd {
    pub(super) user: User<Seen>,
    handover: Option<Handover>,
}

/// What a server does before its first message.
struct Handover {
    at: Instant,
    /// The second path, from the server to the viewer.
    second: Route,
    knows: SecondPath,
    /// The identifier of the second path. Addresses that the user names need no confirmation (RFC 9260 §5.4): the second is the second path.
    target: PathId,
}

/// A wake-up that is none of the user's.
const HANDOVER: u64 = 2;

impl VideoEnd {
    /// An end that receives the video.
    pub(super) fn viewer() -> Self {
        Self { user: User::reader(), handover: None }
    }

    /// An end that sends it.
    pub(super) fn server(video: Video, server: [SocketAddr; 2], viewer: [SocketAddr; 2]) -> Self {
        let messages = ConstantRate::every(video.message, video.interval, video.messages.into());
        let start = video.handover - video.set_up_before;
        let user: User<Seen> =
            User::sender(start, viewer.to_vec(), Box::new(messages.starting(video.handover)));
        let (at, knows) = (video.handover, video.second_path);
        let second = Route { local: server[1], remote: viewer[1] };
        let handover = Handover { at, second, knows, target: PathId::from_number(1) };
        Self { user: user.saying(blank), handover: Some(handover) }
    }

    fn move_over(&self, context: &mut Context<'_, Command>) {
        if let (Some(handover), Some(association)) = (&self.handover, self.user.association()) {
            context.command(Command::SetPrimary { association, path: handover.target });
        }
    }
}

impl App<Node> for VideoEnd {
    fn on_start(&mut self, context: &mut Context<'_, Command>) {
        self.user.on_start(context);
        if let Some(handover) = &self.handover {
            context.wake_at(handover.at, HANDOVER);
        }
    }

    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        match (&event, &mut self.handover) {
            (&Event::Up { association, .. }, Some(handover)) if handover.knows == SecondPath::Measured => {
                context.command(Command::RequestHeartbeat { association, path: handover.target });
            }
            // With every pair of addresses a path, it is the one that was found to lead somewhere.
            (&Event::Path { path, route, state: PathState::Active, .. }, Some(handover))
                if route == handover.second =>
            {
                handover.target = path;
            }
            _ => {}
        }
        let late = |handover: &Handover| context.now() >= handover.at;
        let up_late = matches!(event, Event::Up { .. }) && self.handover.as_ref().is_some_and(late);
        self.user.on_event(event, context);
        // The video never goes over the first path.
        if up_late {
            self.move_over(context);
        }
    }

    fn on_wake(&mut self, token: u64, context: &mut Context<'_, Command>) {
        if token == HANDOVER {
            self.move_over(context);
        }
        self.user.on_wake(token, context);
    }
}
