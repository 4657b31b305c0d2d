use core::net::SocketAddr;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use whimbrel_machine::{Ecn, Instant, Route};
use whimbrel_netsim::{Captured, DirectionStats, DropReason, Framing, Pcapng};

use crate::client::{Client, bind};
use crate::lane::Lane;
use crate::tasks;

/// A client that has been silent this long gives way to a new one when the table is full.
const IDLE_AFTER: Duration = Duration::from_secs(30);

/// What a relay has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RelayStats {
    /// Client to server.
    pub uplink: DirectionStats,
    /// Server to client.
    pub downlink: DirectionStats,
    /// Datagrams on their way now, in both directions.
    pub in_flight: usize,
    /// Clients known now.
    pub clients: usize,
    /// Datagrams of clients for which there was no room, or no socket.
    pub refused: u64,
    /// Datagrams that were due and that the system did not take.
    pub unsent: u64,
}

/// A known client; forgetting it ends its task.
struct Known {
    client: Arc<Client>,
    task: AbortHandle,
}

impl Drop for Known {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A capture and its first error.
struct Capture {
    file: Pcapng<Box<dyn Write + Send>>,
    error: Option<io::Error>,
}

/// Everything that changes while the relay runs.
pub(crate) struct State {
    pub(crate) uplink: Lane<Arc<Client>>,
    pub(crate) downlink: Lane<Arc<Client>>,
    clients: BTreeMap<SocketAddr, Known>,
    /// The exit address of the first client is the configured one, port included; those of others only share its IP.
    exit: SocketAddr,
    clients_max: usize,
    capture: Option<Capture>,
    /// When the timer task will wake by itself.
    pub(crate) armed_at: Instant,
    refused: u64,
    unsent: u64,
}

/// What the relay's tasks and handles have in common.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) timer_moved: Notify,
    epoch: std::time::Instant,
    listen: UdpSocket,
    listen_address: SocketAddr,
    towards: SocketAddr,
    header_bytes: u32,
}

pub(crate) struct Setup {
    pub(crate) uplink: Lane<Arc<Client>>,
    pub(crate) downlink: Lane<Arc<Client>>,
    pub(crate) listen: UdpSocket,
    pub(crate) towards: SocketAddr,
    pub(crate) exit: SocketAddr,
    pub(crate) clients_max: usize,
    pub(crate) capture: Option<Pcapng<Box<dyn Write + Send>>>,
}

impl Shared {
    pub(crate) fn new(setup: Setup) -> io::Result<Self> {
        let Setup { uplink, downlink, listen, towards, exit, clients_max, capture } = setup;
        let capture = capture.map(|file| Capture { file, error: None });
        let listen_address = listen.local_addr()?;
        let framing = Framing { v6: listen_address.is_ipv6(), udp: true };
        Ok(Self {
            state: Mutex::new(State {
                uplink,
                downlink,
                clients: BTreeMap::new(),
                exit,
                clients_max,
                capture,
                armed_at: Instant::FAR_FUTURE,
                refused: 0,
                unsent: 0,
            }),
            timer_moved: Notify::new(),
            epoch: std::time::Instant::now(),
            listen,
            listen_address,
            towards,
            header_bytes: framing.header_bytes() as u32,
        })
    }

    /// Nobody panics while holding the state on purpose; if it happened, the state is still the best there is.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The relay's time.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// `at` on the system's clock.
    pub(crate) fn system_time(&self, at: Instant) -> Option<std::time::Instant> {
        self.epoch.checked_add(at.saturating_since(Instant::ZERO))
    }

    pub(crate) const fn listen_address(&self) -> SocketAddr {
        self.listen_address
    }

    /// Whether a datagram from `address` is the server's.
    pub(crate) fn is_server(&self, address: SocketAddr) -> bool {
        address == self.towards
    }

    /// A datagram from a client.
    pub(crate) fn take_uplink(self: &Arc<Self>, state: &mut State, address: SocketAddr, bytes: &[u8]) {
        let now = self.now();
        let Some(client) = self.client(state, now, address) else {
            state.refused += 1;
            return;
        };
        client.touch(now);
        let dropped = state.uplink.offer(now, &client, self.header_bytes + bytes.len() as u32, bytes);
        let route = Route { local: address, remote: self.listen_address };
        state.capture(now, route, false, bytes, dropped);
    }

    /// A datagram from the server to a client.
    pub(crate) fn take_downlink(&self, state: &mut State, client: &Arc<Client>, bytes: &[u8]) {
        let now = self.now();
        client.touch(now);
        state.downlink.offer(now, client, self.header_bytes + bytes.len() as u32, bytes);
    }

    /// Sends what is due, and sees to it that the timer task wakes in time for the rest.
    pub(crate) fn pump(&self, state: &mut State) {
        let now = self.now();
        while let Some(due) = state.uplink.pop_due(now) {
            state.unsent += u64::from(due.owner.exit.send_to(&due.bytes, self.towards).is_err());
            state.uplink.recycle(due.bytes);
        }
        while let Some(due) = state.downlink.pop_due(now) {
            let address = due.owner.address;
            state.unsent += u64::from(self.listen.send_to(&due.bytes, address).is_err());
            state.capture(now, Route { local: self.listen_address, remote: address }, true, &due.bytes, None);
            state.downlink.recycle(due.bytes);
        }
        if state.next_due() < state.armed_at {
            self.timer_moved.notify_one();
        }
    }

    fn client(self: &Arc<Self>, state: &mut State, now: Instant, address: SocketAddr) -> Option<Arc<Client>> {
        if let Some(known) = state.clients.get(&address) {
            return Some(Arc::clone(&known.client));
        }
        if state.clients.len() >= state.clients_max {
            let (&idlest, known) = state.clients.iter().min_by_key(|(_, known)| known.client.active_at())?;
            if now - known.client.active_at() < IDLE_AFTER {
                return None;
            }
            state.clients.remove(&idlest);
        }
        let exit = bind(state.exit).ok()?;
        let receiver = tokio::net::UdpSocket::from_std(exit.try_clone().ok()?).ok()?;
        // The address itself can be bound but once.
        state.exit.set_port(0);
        let client = Arc::new(Client::new(address, exit, now));
        let task = tokio::spawn(tasks::serve_client(Arc::clone(self), Arc::clone(&client), receiver));
        let known = Known { client: Arc::clone(&client), task: task.abort_handle() };
        state.clients.insert(address, known);
        Some(client)
    }
}

impl State {
    pub(crate) fn next_due(&self) -> Instant {
        let due = [self.uplink.next_due(), self.downlink.next_due()];
        due.into_iter().flatten().min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Ends the tasks of all clients.
    pub(crate) fn forget_clients(&mut self) {
        self.clients.clear();
    }

    pub(crate) fn stats(&self) -> RelayStats {
        RelayStats {
            uplink: *self.uplink.link().stats(),
            downlink: *self.downlink.link().stats(),
            in_flight: self.uplink.len() + self.downlink.len(),
            clients: self.clients.len(),
            refused: self.refused,
            unsent: self.unsent,
        }
    }

    pub(crate) fn flush_capture(&mut self) -> io::Result<()> {
        let Some(capture) = &mut self.capture else { return Ok(()) };
        capture.error.take().map_or_else(|| capture.file.flush(), Err)
    }

    fn capture(
        &mut self,
        now: Instant,
        route: Route,
        inbound: bool,
        payload: &[u8],
        dropped: Option<DropReason>,
    ) {
        let Some(capture) = &mut self.capture else { return };
        if capture.error.is_none() {
            let comment = dropped.map(|reason| format!("dropped: {}", reason.name()));
            let captured =
                Captured { route, ecn: Ecn::NotCapable, payload, inbound, comment: comment.as_deref() };
            capture.error = capture.file.write(0, now, &captured).err();
        }
    }
}
