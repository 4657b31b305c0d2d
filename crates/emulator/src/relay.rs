use core::fmt;
use core::net::SocketAddr;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::net::UdpSocket;
use tokio::task::AbortHandle;
use whimbrel_machine::Seed;
use whimbrel_netsim::{Change, InFlight, LinkConfig, Pcapng};

use crate::client::bind;
use crate::lane::Lane;
use crate::shared::{RelayStats, Setup, Shared};
use crate::tasks;

/// How a relay is set up.
pub struct RelayConfig {
    /// Where clients send to; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The server. Only what comes from here goes back to clients.
    pub towards: SocketAddr,
    /// Where the first client's datagrams come from, as the server sees it; port 0 takes a free one. Other clients
    /// get other ports of the same address.
    pub exit: SocketAddr,
    /// From clients to the server.
    pub uplink: LinkConfig,
    /// From the server to clients.
    pub downlink: LinkConfig,
    /// For the links' random decisions.
    pub seed: Seed,
    /// At most this many clients at a time; one that has been silent for 30 s gives way to a new one.
    pub clients_max: usize,
    /// Where to write a pcapng capture of what passes on the client side: what clients send, even if it is lost then,
    /// and what they get. Call [`RelayHandle::flush_capture`] at the end.
    pub capture: Option<Box<dyn Write + Send>>,
}

impl RelayConfig {
    /// Perfect links, up to 64 clients, no capture.
    pub fn new(listen: SocketAddr, towards: SocketAddr, exit: SocketAddr) -> Self {
        Self {
            listen,
            towards,
            exit,
            uplink: LinkConfig::default(),
            downlink: LinkConfig::default(),
            seed: Seed::from_u64(0),
            clients_max: 64,
            capture: None,
        }
    }
}

impl fmt::Debug for RelayConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayConfig")
            .field("listen", &self.listen)
            .field("towards", &self.towards)
            .field("exit", &self.exit)
            .field("uplink", &self.uplink)
            .field("downlink", &self.downlink)
            .finish_non_exhaustive()
    }
}

/// Which direction of a relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From clients to the server.
    Uplink,
    /// From the server to clients.
    Downlink,
    /// Both.
    Both,
}

/// A running relay. It ends when this is dropped; what is on its way is lost then.
#[derive(Debug)]
pub struct Relay {
    handle: RelayHandle,
    tasks: [AbortHandle; 2],
}

impl Relay {
    /// Begins to relay, on the tokio runtime of the caller.
    ///
    /// # Errors
    /// The listening socket cannot be bound, the addresses are not all of one family, or the capture cannot be
    /// written.
    ///
    /// # Panics
    /// Outside a tokio runtime with I/O and time enabled.
    pub fn bind(config: RelayConfig) -> io::Result<Self> {
        let RelayConfig { listen, towards, exit, uplink, downlink, seed, clients_max, capture } = config;
        if listen.is_ipv6() != towards.is_ipv6() || towards.is_ipv6() != exit.is_ipv6() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the addresses differ in family"));
        }
        let capture = capture.map(begin_capture).transpose()?;
        let listen = bind(listen)?;
        let receiver = UdpSocket::from_std(listen.try_clone()?)?;
        let (uplink, downlink) = (Lane::new(uplink, &seed, 0), Lane::new(downlink, &seed, 1));
        let setup = Setup { uplink, downlink, listen, towards, exit, clients_max, capture };
        let shared = Arc::new(Shared::new(setup)?);
        let tasks = [
            tokio::spawn(tasks::serve_clients(Arc::clone(&shared), receiver)).abort_handle(),
            tokio::spawn(tasks::keep_time(Arc::clone(&shared))).abort_handle(),
        ];
        Ok(Self { handle: RelayHandle { shared }, tasks })
    }

    /// Controls the relay; clones of it may outlive the relay and do nothing then.
    pub const fn handle(&self) -> &RelayHandle {
        &self.handle
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.handle.shared.lock().forget_clients();
    }
}

/// Controls a relay while it runs.
#[derive(Clone)]
pub struct RelayHandle {
    shared: Arc<Shared>,
}

impl RelayHandle {
    /// Where the relay listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.listen_address()
    }

    /// Changes one direction, or both, now.
    pub fn set(&self, direction: Direction, change: Change) {
        let mut state = self.shared.lock();
        let now = self.shared.now();
        if direction != Direction::Downlink {
            state.uplink.change(now, change);
        }
        if direction != Direction::Uplink {
            state.downlink.change(now, change);
        }
        self.shared.pump(&mut state);
    }

    /// Cuts both directions: what is on its way and what comes vanishes without a word. The sockets stay open, so
    /// nobody is told by ICMP.
    pub fn down(&self) {
        self.set(Direction::Both, Change::Down(InFlight::Lost));
    }

    /// Lets both directions carry again.
    pub fn up(&self) {
        self.set(Direction::Both, Change::Up);
    }

    /// What has passed so far.
    pub fn stats(&self) -> RelayStats {
        self.shared.lock().stats()
    }

    /// Flushes the capture.
    ///
    /// # Errors
    /// The first error since the last call.
    pub fn flush_capture(&self) -> io::Result<()> {
        self.shared.lock().flush_capture()
    }
}

impl fmt::Debug for RelayHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayHandle").field("listen", &self.local_addr()).finish_non_exhaustive()
    }
}

fn begin_capture(out: Box<dyn Write + Send>) -> io::Result<Pcapng<Box<dyn Write + Send>>> {
    let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut file = Pcapng::new(out, u64::try_from(epoch.as_nanos()).unwrap_or(0))?;
    file.add_interface("client side")?;
    Ok(file)
}
