//! The users of TCP hosts.

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{App, Context, Mixed};
use whimbrel_rivals::tcp::{ConnectionId, Source, TcpCommand, TcpEvent};

use super::rivals::{Rival, RivalCommand, RivalEvent};
use super::world::START;
use crate::setups::Silence;

/// The port of all that receive.
const PORT: u16 = 5001;

/// One end of a TCP flow: it sends from a time on, or it reads. Agents have one that does nothing.
pub(super) struct Flow {
    /// When it is to be opened, where to, and what is sent; until it is.
    opens: Option<Opening>,
    /// What it has opened.
    pub(super) connection: Option<ConnectionId>,
    /// Bytes that have come in order.
    pub(super) received: u64,
    /// Between them.
    pub(super) silence: Silence,
}

pub(super) struct Opening {
    pub(super) start: Instant,
    pub(super) route: Route,
    pub(super) source: Box<dyn Source>,
    /// For the kind of host that it is on.
    pub(super) wrap: fn(TcpCommand) -> RivalCommand,
}

impl Flow {
    pub(super) fn sender(opening: Opening) -> Self {
        let mut flow = Self::reader();
        flow.opens = Some(opening);
        flow
    }

    pub(super) fn reader() -> Self {
        let silence = Silence::from(Instant::ZERO + START);
        Self { opens: None, connection: None, received: 0, silence }
    }
}

impl App<Rival> for Flow {
    fn on_start(&mut self, context: &mut Context<'_, RivalCommand>) {
        if let Some(Opening { start, .. }) = &self.opens {
            context.wake_at(*start, 0);
        }
    }

    fn on_event(&mut self, event: RivalEvent, context: &mut Context<'_, RivalCommand>) {
        let Mixed::First(Mixed::First(event) | Mixed::Second(event)) = event else { return };
        match event {
            TcpEvent::Established { connection } => self.connection = Some(connection),
            TcpEvent::Received { bytes, .. } => {
                self.received += bytes;
                self.silence.on_delivery(context.now());
            }
            TcpEvent::Done { .. } | TcpEvent::Aborted { .. } => {}
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, RivalCommand>) {
        if let Some(Opening { route, source, wrap, .. }) = self.opens.take() {
            context.command(wrap(TcpCommand::Open { route, port: PORT, source }));
        }
    }
}
