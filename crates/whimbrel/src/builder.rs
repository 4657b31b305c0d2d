use std::sync::Arc;

use core::net::SocketAddr;

use tokio::runtime::Handle;
use whimbrel_machine::Seed;
use whimbrel_node::Node;
use whimbrel_proto::Config;

use crate::driver::Driver;
use crate::endpoint::Endpoint;
use crate::error::BindError;
use crate::shared::{Client, Shared};
use crate::socket::Socket;

/// The UDP port registered for SCTP inside UDP (RFC 6951 §5.1).
pub const SCTP_OVER_UDP_PORT: u16 = 9899;

/// Attempts to find a UDP port that is free on every address.
const FREE_PORT_ATTEMPTS: usize = 64;

/// How SCTP packets travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encapsulation {
    /// Inside UDP (RFC 6951): needs no rights, and passes through what only knows UDP and TCP.
    #[default]
    Udp,
    /// Directly on IP, protocol 132. Needs the right to open raw sockets (`CAP_NET_RAW` on Linux). Every raw endpoint of
    /// a host sees every SCTP packet to its addresses, so each answers only packets to SCTP ports that it uses itself;
    /// the host's own SCTP stack, if it has one, must not be loaded, since it would abort what it does not know.
    RawIp,
}

/// Sets up an [`Endpoint`] whose choices are not the usual ones.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use whimbrel::{Config, Endpoint};
///
/// let mut config = Config::mobile();
/// config.limits.send_buffer = 16 << 20;
/// let endpoint =
///     Endpoint::builder().addresses(["192.0.2.7:9899".parse()?]).config(config).bind().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EndpointBuilder {
    addresses: Vec<SocketAddr>,
    config: Config,
    sctp_port: Option<u16>,
    seed: Option<Seed>,
    encapsulation: Encapsulation,
}

impl EndpointBuilder {
    pub(crate) fn new() -> Self {
        Self {
            addresses: Vec::new(),
            config: Config::mobile(),
            sctp_port: None,
            seed: None,
            encapsulation: Encapsulation::default(),
        }
    }

    /// Adds local addresses. The port is the UDP encapsulation port, the same for all ([`SCTP_OVER_UDP_PORT`] is the
    /// registered one; 0 picks one that is free on all addresses); with [`Encapsulation::RawIp`] it does not matter.
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.addresses.extend(addresses);
        self
    }

    /// Protocol parameters and limits; [`Config::mobile`] unless said otherwise.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The SCTP port that [`Endpoint::connect`] uses on our side; unless said otherwise, a random one each time.
    pub fn sctp_port(mut self, port: u16) -> Self {
        self.sctp_port = (port != 0).then_some(port);
        self
    }

    /// Where tags, cookies' keys and nonces come from. Only for tests that are to repeat: who knows the seed can take
    /// over every association. Unless given, it comes from the operating system.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Inside UDP, or directly on IP.
    pub fn encapsulation(mut self, encapsulation: Encapsulation) -> Self {
        self.encapsulation = encapsulation;
        self
    }

    /// Opens the sockets and starts the endpoint's task on the current tokio runtime.
    ///
    /// # Errors
    /// [`BindError`], each of which says what to do.
    pub async fn bind(self) -> Result<Endpoint, BindError> {
        let runtime = Handle::try_current().map_err(|_| BindError::NoRuntime)?;
        self.config.validate()?;
        check_addresses(&self.addresses, self.encapsulation)?;
        let seed = self.seed.map_or_else(system_seed, Ok)?;
        let sockets = open_all(&self.addresses, self.encapsulation)?;
        let addresses: Vec<_> = sockets.iter().map(Socket::local).collect();
        let shared =
            Arc::new(Shared::new(addresses.clone(), self.encapsulation, self.sctp_port, &self.config));
        let node = Node::new(Arc::new(self.config), seed, addresses);
        let client = Arc::new(Client(shared.clone()));
        let driver = Driver::new(node, shared, Arc::downgrade(&client), sockets);
        runtime.spawn(driver);
        Ok(Endpoint::new(client))
    }
}

fn system_seed() -> Result<Seed, BindError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| BindError::NoRandomness(error.to_string()))?;
    Ok(Seed::from_bytes(bytes))
}

fn check_addresses(addresses: &[SocketAddr], encapsulation: Encapsulation) -> Result<(), BindError> {
    let first = addresses.first().ok_or(BindError::NoAddress)?.port();
    for (index, address) in addresses.iter().enumerate() {
        if address.ip().is_unspecified() {
            return Err(BindError::Unspecified(address.ip()));
        }
        if addresses[..index].iter().any(|other| other.ip() == address.ip()) {
            return Err(BindError::Duplicate(address.ip()));
        }
        if encapsulation == Encapsulation::Udp && address.port() != first {
            return Err(BindError::DifferentPorts { first, other: address.port() });
        }
    }
    Ok(())
}

fn open_all(addresses: &[SocketAddr], encapsulation: Encapsulation) -> Result<Vec<Socket>, BindError> {
    if encapsulation == Encapsulation::RawIp {
        return addresses.iter().map(|&address| Socket::open_raw(address)).collect();
    }
    if addresses[0].port() != 0 {
        return addresses.iter().map(|&address| Socket::open_udp(address)).collect();
    }
    // The system picks a port for the first address; the others must happen to be free there too.
    for _ in 0..FREE_PORT_ATTEMPTS {
        let first = Socket::open_udp(addresses[0])?;
        let port = first.local().port();
        let mut sockets = vec![first];
        for &address in &addresses[1..] {
            match Socket::open_udp(SocketAddr::new(address.ip(), port)) {
                Ok(socket) => sockets.push(socket),
                Err(BindError::PortInUse { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        if sockets.len() == addresses.len() {
            return Ok(sockets);
        }
    }
    Err(BindError::NoFreePort)
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
