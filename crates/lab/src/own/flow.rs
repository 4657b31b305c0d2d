//! The users of TCP hosts.

use core::time::Duration;

use whimbrel_machine::{Instant, Route};
use whimbrel_netsim::{App, Context};
use whimbrel_rivals::tcp::{ConnectionId, Source, Tcp, TcpCommand, TcpEvent};

/// The port of all that receive.
const PORT: u16 = 5001;

/// One end of a TCP flow: it sends from a time on, or it reads.
pub(super) struct Flow {
    /// When it is to be opened, where to, and what is sent; until it is.
    opens: Option<Opening>,
    /// What it has opened.
    pub(super) connection: Option<ConnectionId>,
    /// Bytes that have come in order.
    pub(super) received: u64,
    /// When the last of them came.
    pub(super) last: Option<Instant>,
    longest_silence: Duration,
}

struct Opening {
    start: Instant,
    route: Route,
    source: Box<dyn Source>,
}

impl Flow {
    pub(super) fn sender(start: Instant, route: Route, source: Box<dyn Source>) -> Self {
        Self { opens: Some(Opening { start, route, source }), ..Self::reader() }
    }

    pub(super) const fn reader() -> Self {
        Self { opens: None, connection: None, received: 0, last: None, longest_silence: Duration::ZERO }
    }

    /// The longest time until `end` in which nothing came, after the first.
    pub(super) fn longest_silence(&self, end: Instant) -> Duration {
        let open = self.last.map(|last| end.saturating_since(last)).unwrap_or_default();
        self.longest_silence.max(open)
    }
}

impl App<Tcp> for Flow {
    fn on_start(&mut self, context: &mut Context<'_, TcpCommand>) {
        if let Some(Opening { start, .. }) = &self.opens {
            context.wake_at(*start, 0);
        }
    }

    fn on_event(&mut self, event: TcpEvent, context: &mut Context<'_, TcpCommand>) {
        match event {
            TcpEvent::Established { connection } => self.connection = Some(connection),
            TcpEvent::Received { bytes, .. } => {
                let now = context.now();
                self.received += bytes;
                let since = self.last.replace(now).unwrap_or(now);
                self.longest_silence = self.longest_silence.max(now.saturating_since(since));
            }
            TcpEvent::Done { .. } | TcpEvent::Aborted { .. } => {}
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, TcpCommand>) {
        if let Some(Opening { route, source, .. }) = self.opens.take() {
            context.command(TcpCommand::Open { route, port: PORT, source });
        }
    }
}
