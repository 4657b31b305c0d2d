use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::Context;
use whimbrel_proto::{Command, Event, Part, PathId};
use whimbrel_rivals::tcp::{TcpCommand, TcpEvent};

use super::{Record, Silence, TransferTimes};

/// Sums, for runs that are long.
#[derive(Debug, Default)]
pub struct Tally {
    /// When the association came up; of TCP when the last connection that was opened here did.
    pub up: Option<Instant>,
    /// Which paths carried new data, from when on.
    pub uses: Vec<PathUse>,
    /// Bytes of user data delivered so far.
    pub received: u64,
    /// Between deliveries of user data.
    pub silence: Silence,
    transfer_times: Option<TransferTimes>,
}

/// New data takes a path from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathUse {
    /// When it began.
    pub at: Instant,
    /// The path that carries new data.
    pub path: PathId,
    /// The two addresses of the path.
    pub route: Route,
}

impl Tally {
    /// Takes the time of each message that arrives from now on.
    pub fn time(&mut self, transfer_times: TransferTimes) {
        self.transfer_times = Some(transfer_times);
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

    /// What carried new data right before `at`; `None` if there was no association.
    pub fn in_use_before(&self, at: Instant) -> Option<PathUse> {
        self.uses.iter().rfind(|used| used.at < at).copied()
    }

    /// When new data was first sent over another path than `from`, at or after `since`.
    pub fn left(&self, from: PathUse, since: Instant) -> Option<Instant> {
        self.uses.iter().find(|used| used.at >= since && used.path != from.path).map(|used| used.at)
    }
}

impl Record for Tally {
    fn on_event(&mut self, event: Event, context: &mut Context<'_, Command>) {
        let now = context.now();
        match event {
            Event::Message { received, .. } => {
                self.received += received.payload.len() as u64;
                self.silence.on_delivery(now);
                if let (Some(times), Part::Whole | Part::Last) = (&mut self.transfer_times, received.part) {
                    times.on_message(now);
                }
            }
            Event::Up { primary, .. } => {
                self.up = Some(now);
                // The path of the handshake is the association's first.
                let path = PathId::from_number(0);
                self.uses.push(PathUse { at: now, path, route: primary });
            }
            Event::PathInUse { path, route, .. } => {
                context.note("path-in-use", u64::from(path.number()));
                self.uses.push(PathUse { at: now, path, route });
            }
            _ => {}
        }
    }
}

impl Record<TcpEvent, TcpCommand> for Tally {
    fn on_event(&mut self, event: TcpEvent, context: &mut Context<'_, TcpCommand>) {
        match event {
            TcpEvent::Established { .. } => self.up = Some(context.now()),
            TcpEvent::Received { bytes, .. } => {
                self.received += bytes;
                self.silence.on_delivery(context.now());
            }
            TcpEvent::Done { .. } | TcpEvent::Aborted { .. } => {}
        }
    }
}
