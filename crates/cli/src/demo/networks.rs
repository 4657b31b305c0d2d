//! The demo's two access networks: emulated links between UDP ports of this machine.
//!
//! Client and server are each bound to two loopback addresses, one per network, with one UDP port. A relay per
//! network listens on its address at one port and passes on from another, the same two ports in both networks: so
//! the addresses inside INIT and INIT ACK are the true ones, and only UDP ports differ on the way, which SCTP over
//! UDP learns from the packets (RFC 6951 §5.4).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, bail};
use whimbrel_emulator::{Relay, RelayConfig, RelayHandle};
use whimbrel_machine::Seed;
use whimbrel_netsim::{LinkConfig, Loss, QueueLimit};

use super::capture::{CaptureSink, Overheard};

/// How often to look for ports that are free on both addresses.
const ATTEMPTS: usize = 64;

/// What a network is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    pub(super) name: &'static str,
    pub(super) megabits: u64,
    /// There and back, without queues.
    pub(super) rtt: Duration,
    pub(super) loss: f64,
}

/// The network that dies.
pub(super) const WIFI: Profile =
    Profile { name: "Wi-Fi", megabits: 40, rtt: Duration::from_millis(8), loss: 0.0005 };
/// The network that takes over.
pub(super) const LTE: Profile =
    Profile { name: "LTE", megabits: 25, rtt: Duration::from_millis(35), loss: 0.0 };

impl Profile {
    fn link(&self) -> LinkConfig {
        LinkConfig {
            rate_bps: Some(self.megabits * 1_000_000),
            // 60 ms of buffer, as access networks like to have.
            queue: QueueLimit::bytes(self.megabits * 1_000_000 / 8 * 60 / 1000),
            delay: self.rtt / 2,
            loss: if self.loss > 0.0 { Loss::Bernoulli(self.loss) } else { Loss::None },
            ..LinkConfig::default()
        }
    }
}

/// A running network.
pub(super) struct Network {
    pub(super) profile: Profile,
    pub(super) address: IpAddr,
    /// What somebody hears there who has no keys.
    pub(super) overheard: Arc<Mutex<Overheard>>,
    relay: Relay,
}

impl Network {
    /// Cuts and mends it, and says what has passed.
    pub(super) fn handle(&self) -> &RelayHandle {
        self.relay.handle()
    }
}

/// Both addresses: one IPv4 and one IPv6, or two of IPv4 where there is no IPv6.
pub(super) fn addresses() -> anyhow::Result<[IpAddr; 2]> {
    let first: IpAddr = Ipv4Addr::LOCALHOST.into();
    for second in [Ipv6Addr::LOCALHOST.into(), IpAddr::from(Ipv4Addr::new(127, 0, 0, 2))] {
        if UdpSocket::bind((second, 0)).is_ok() {
            return Ok([first, second]);
        }
    }
    bail!("the demo needs a second loopback address, ::1 or 127.0.0.2, and this machine has neither")
}

/// Builds both networks in front of a server at `server_port`, with somebody in them who listens for `secrets`. Returns them and the port
/// clients send to.
pub(super) fn build(
    addresses: [IpAddr; 2],
    server_port: u16,
    seed: &Seed,
    secrets: &[Vec<u8>],
    capture: Option<&Path>,
) -> anyhow::Result<([Network; 2], u16)> {
    let exit = free_port(addresses)?;
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let listen = free_port(addresses)?;
        let network = |profile: Profile, index: usize| -> anyhow::Result<Network> {
            let address = addresses[index];
            let at = |port| SocketAddr::new(address, port);
            let overheard = Arc::<Mutex<Overheard>>::default();
            let file = capture.map(|directory| {
                let name = profile.name.to_lowercase().replace('-', "");
                let path = directory.join(format!("whimbrel-demo-{name}.pcapng"));
                std::fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))
            });
            let sink = CaptureSink::new(Arc::clone(&overheard), secrets.to_vec(), file.transpose()?);
            let relay = Relay::bind(RelayConfig {
                uplink: profile.link(),
                downlink: profile.link(),
                seed: seed.child("network", index as u64),
                capture: Some(Box::new(sink)),
                ..RelayConfig::new(at(listen), at(server_port), at(exit))
            })?;
            Ok(Network { profile, address, overheard, relay })
        };
        match network(WIFI, 0).and_then(|wifi| Ok([wifi, network(LTE, 1)?])) {
            Ok(networks) => return Ok((networks, listen)),
            // Another program has taken the port in between.
            Err(error) if is_taken(&error) => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(no_port))
}

fn is_taken(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn no_port() -> anyhow::Error {
    anyhow::anyhow!("no UDP port is free on both loopback addresses")
}

fn free_port(addresses: [IpAddr; 2]) -> anyhow::Result<u16> {
    for _ in 0..ATTEMPTS {
        let first = UdpSocket::bind((addresses[0], 0))?;
        let port = first.local_addr()?.port();
        if UdpSocket::bind((addresses[1], port)).is_ok() {
            return Ok(port);
        }
    }
    Err(no_port())
}
