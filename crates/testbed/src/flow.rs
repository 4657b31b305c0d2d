use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use whimbrel_machine::{Instant, Machine, Route};
use whimbrel_netsim::{App, Context, Mixed};
use whimbrel_rivals::mobile_ip::{ForeignAgent, HomeAgent, MobileNode};
use whimbrel_rivals::tcp::{ConnectionId, Source, Tcp, TcpCommand, TcpEvent};

use crate::record::{Record, Tally};

/// A host that speaks TCP, or TCP over Mobile IP, or an agent of that.
pub type Rival = Mixed<Mixed<Tcp, MobileNode<Tcp>>, Mixed<HomeAgent, ForeignAgent>>;

/// Who uses it; agents have no user.
pub type RivalUser<R = Tally> = Mixed<Mixed<Flow<R>, Flow<R>>, ()>;

/// The host's TCP, whatever is below it.
pub fn tcp(rival: &Rival) -> Option<&Tcp> {
    match rival.first()? {
        Mixed::First(tcp) => Some(tcp),
        Mixed::Second(node) => Some(node.inner()),
    }
}

/// The user of the host's TCP.
pub fn flow<R>(user: &RivalUser<R>) -> Option<&Flow<R>> {
    let (Mixed::First(flow) | Mixed::Second(flow)) = user.first()?;
    Some(flow)
}

/// An address as hosts have it whose packets are in no UDP.
pub const fn plain(ip: Ipv4Addr) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(ip), 0)
}

/// One end of TCP connections: it opens them and sends, or it is called and reads, and keeps a record of what it is told.
#[derive(Debug, Default)]
pub struct Flow<R = Tally> {
    opens: Option<Opening>,
    /// The last that it has opened.
    pub connection: Option<ConnectionId>,
    /// What it was told.
    pub record: R,
}

/// Connections that are to be opened.
#[derive(Debug)]
pub struct Opening {
    /// When it is opened.
    pub start: Instant,
    /// The local and the remote address.
    pub route: Route,
    /// The peer's TCP port.
    pub port: u16,
    /// What is sent: one connection for each.
    pub sources: Vec<Box<dyn Source>>,
}

impl<R: Record<TcpEvent, TcpCommand>> Flow<R> {
    /// Reads what comes.
    pub fn reader() -> Self {
        Self { opens: None, connection: None, record: R::default() }
    }

    /// Opens connections and sends.
    pub fn sender(opening: Opening) -> Self {
        Self { opens: Some(opening), ..Self::reader() }
    }
}

impl<M, R> App<M> for Flow<R>
where
    M: Machine<Command = TcpCommand, Event = TcpEvent>,
    R: Record<TcpEvent, TcpCommand>,
{
    fn on_start(&mut self, context: &mut Context<'_, TcpCommand>) {
        if let Some(Opening { start, .. }) = self.opens {
            context.wake_at(start, 0);
        }
    }

    fn on_wake(&mut self, _token: u64, context: &mut Context<'_, TcpCommand>) {
        let Some(Opening { route, port, sources, .. }) = self.opens.take() else { return };
        for source in sources {
            context.command(TcpCommand::Open { route, port, source });
        }
    }

    fn on_event(&mut self, event: TcpEvent, context: &mut Context<'_, TcpCommand>) {
        if let TcpEvent::Established { connection } = event {
            self.connection = Some(connection);
        }
        self.record.on_event(event, context);
    }
}
