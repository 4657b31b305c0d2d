use std::sync::Arc;

use core::net::SocketAddr;
use core::num::NonZeroU32;
use core::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use whimbrel_handover::{Pace, Policy, Seamless};
use whimbrel_machine::Seed;
use whimbrel_proto::{BufferSizing, Config, LargeMessages, Security};

use crate::drivers::Drivers;
use crate::endpoint::Endpoint;
use crate::error::BindError;
use crate::interfaces::{self, Board, LinkSource};
use crate::link_news::Sources;
use crate::locals::Wanted;
use crate::recorder::{Recorder, SharedRecorder};
use crate::send_memory;
use crate::shared::{Client, Shared};

/// The UDP port registered for SCTP inside UDP (RFC 6951 §5.1).
pub const SCTP_OVER_UDP_PORT: u16 = 9899;

/// Shards of an endpoint, at most.
pub const SHARDS_MAX: u32 = 256;

/// How long the system may take to list its addresses before the endpoint begins without them.
const FIRST_WORD: Duration = Duration::from_secs(2);

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
pub struct EndpointBuilder {
    addresses: Vec<SocketAddr>,
    config: Config,
    security: Option<Security>,
    window: Option<usize>,
    send_memory: usize,
    large_messages: LargeMessages,
    sctp_port: Option<u16>,
    seed: Option<Seed>,
    encapsulation: Encapsulation,
    sources: Vec<Box<dyn LinkSource>>,
    policy: PolicyChoice,
    recorder: Option<Box<dyn Recorder>>,
    shards: u32,
}

/// Makes the policy of a new association.
pub(crate) type NewPolicy = Box<dyn Fn() -> Box<dyn Policy> + Send>;

enum PolicyChoice {
    /// [`Seamless`] for hosts that move.
    Usual,
    None,
    Chosen(NewPolicy),
}

impl PolicyChoice {
    /// What makes the policies of an endpoint with these addresses, if it has any.
    fn for_addresses(self, wanted: &Wanted) -> Option<NewPolicy> {
        match self {
            Self::Usual if wanted.is_any() => Some(Box::new(|| Box::new(Seamless::policy(Pace::MOBILE)))),
            Self::Usual | Self::None => None,
            Self::Chosen(new_policy) => Some(new_policy),
        }
    }
}

impl EndpointBuilder {
    pub(crate) fn new() -> Self {
        Self {
            addresses: Vec::new(),
            config: Config::mobile(),
            security: None,
            window: None,
            send_memory: send_memory::USUAL,
            large_messages: LargeMessages::Refuse,
            sctp_port: None,
            seed: None,
            encapsulation: Encapsulation::default(),
            sources: Vec::new(),
            policy: PolicyChoice::Usual,
            recorder: None,
            shards: 1,
        }
    }

    /// Adds local addresses. The port is the UDP encapsulation port, the same for all ([`SCTP_OVER_UDP_PORT`] is the
    /// registered one; 0 picks one that is free on all addresses); with [`Encapsulation::RawIp`] it does not matter.
    ///
    /// `0.0.0.0` stands for every IPv4 address that the host has, now or later, and `[::]` for every IPv6 address, loopback
    /// and link-local ones excepted. Sockets follow: they open as addresses appear and close as addresses vanish or their
    /// interface loses its carrier, named addresses too; [`Endpoint::events`] tells. Without any such address the endpoint
    /// waits for one.
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.addresses.extend(addresses);
        self
    }

    /// Protocol parameters and limits; [`Config::mobile`] unless said otherwise.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Whether packets are encrypted and both ends authenticated, whatever [`Self::config`] says. Unless this is said, everything goes in clear.
    ///
    /// ```no_run
    /// # async fn example(robot: whimbrel::secure::PublicKey) -> Result<(), Box<dyn std::error::Error>> {
    /// use whimbrel::{Endpoint, secure::{self, Identity, Trust}};
    ///
    /// let identity = Identity::load_or_create("robot.key".as_ref())?;
    /// let endpoint = Endpoint::builder()
    ///     .addresses(["0.0.0.0:9899".parse()?])
    ///     .security(secure::required(&identity, Trust::keys([robot])))
    ///     .bind()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn security(mut self, security: Security) -> Self {
        self.security = Some(security);
        self
    }

    /// Bytes that may be on their way to a peer, and as many that may have come from it and wait for the program: both buffers of
    /// [`Config::limits`](whimbrel_proto::Config::limits), whatever [`Self::config`] says. At least the rate times the round trip: 25 MB for
    /// 1 Gbit/s and 200 ms; both hosts need it. Memory is taken as it is used, and what peers have sent shares
    /// [`receive_memory`](whimbrel_proto::LimitConfig::receive_memory), what waits for peers shares [`Self::send_memory`].
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = Some(bytes);
        self
    }

    /// Bytes that all associations of the endpoint may hold together of what the program sends and peers have not acknowledged, bookkeeping
    /// included; 256 MiB unless said otherwise, and at least four times the send buffer. It is shared fairly: an association holds no more than
    /// half of what the others leave, so n that want all they can get have an (n + 1)th each. Beyond that
    /// [`Association::send`](crate::Association::send) waits. One that holds nothing may always send one message.
    pub fn send_memory(mut self, bytes: usize) -> Self {
        self.send_memory = bytes;
        self
    }

    /// What becomes of a message that is larger than the receive buffer ([`Self::window`]), whatever [`Self::config`] says: unless asked for
    /// parts, [`Association::recv`](crate::Association::recv) yields whole messages only, and one that can never be whole ends the association with
    /// [`CloseReason::MessageTooLarge`](crate::CloseReason::MessageTooLarge).
    pub fn large_messages(mut self, large: LargeMessages) -> Self {
        self.large_messages = large;
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

    /// Adds a source of link facts to the system's own: signal strength, cost, or whatever else the system does not know.
    pub fn link_source(mut self, source: impl LinkSource) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Decides for each association when and where to move; `new_policy` makes one policy per association.
    ///
    /// Unless said otherwise, an endpoint on a wildcard address, which is what a moving host uses, has
    /// [`Seamless`] at [`Pace::MOBILE`], and one on named addresses has none: these do not change by themselves.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use whimbrel::Endpoint;
    /// use whimbrel::handover::{Failover, Pace};
    ///
    /// let endpoint = Endpoint::builder()
    ///     .addresses(["0.0.0.0:9899".parse()?])
    ///     .policy(|| Failover::policy(Pace::MOBILE))
    ///     .bind()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy<P: Policy + 'static>(mut self, new_policy: impl Fn() -> P + Send + 'static) -> Self {
        self.policy = PolicyChoice::Chosen(Box::new(move || Box::new(new_policy())));
        self
    }

    /// Moves only on the program's own commands, such as [`Association::add_address`](crate::Association::add_address).
    pub fn without_policy(mut self) -> Self {
        self.policy = PolicyChoice::None;
        self
    }

    /// Tells `recorder` of whatever changes in the endpoint's associations. It costs time in each step, by the number of associations.
    pub fn recorder(mut self, recorder: impl Recorder + 'static) -> Self {
        self.recorder = Some(Box::new(recorder));
        self
    }

    /// Has the endpoint run on so many processors; 1 unless said otherwise, 0 for all that there are, and at most [`SHARDS_MAX`].
    ///
    /// Each shard has a task, sockets of its own for the same addresses and port, and its associations, which it gets in turn. One
    /// association is never faster than one processor, and nothing else shows how many shards there are. It pays for servers with many associations, on a
    /// runtime with as many threads. Limits of the endpoint are divided: each shard has its part of
    /// [`limits.associations`](whimbrel_proto::LimitConfig::associations) and of [`limits.receive_memory`](whimbrel_proto::LimitConfig::receive_memory).
    ///
    /// On Linux the system gives each shard the packets of its associations. Packets of several associations that arrive as one train (of one peer, with
    /// one UDP port, if they are small) and everything on other systems are handed over from shard to shard, which costs;
    /// [`Endpoint::hand_overs`] counts. A program of the same user that asks for the same port with `SO_REUSEPORT` is let in
    /// by the system (and gets nothing, where packets are steered); another endpoint is refused.
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = shards;
        self
    }

    /// Opens the sockets and starts the endpoint's task on the current tokio runtime.
    ///
    /// # Errors
    /// [`BindError`], each of which says what to do.
    pub async fn bind(mut self) -> Result<Endpoint, BindError> {
        if let Some(bytes) = self.window {
            let limits = &mut self.config.limits;
            (limits.send_buffer, limits.receive_buffer, limits.sizing) = (bytes, bytes, BufferSizing::Whole);
        }
        self.config.limits.large_messages = self.large_messages;
        if let Some(security) = self.security {
            self.config.security = security;
        }
        let runtime = Handle::try_current().map_err(|_| BindError::NoRuntime)?;
        self.config.validate()?;
        let wanted = wanted(&self.addresses, self.encapsulation)?;
        let seed = self.seed.map_or_else(system_seed, Ok)?;
        let mut sources = self.sources;
        // Loopback addresses do not come and go; whoever tests with them says so by a source of his own.
        if wanted.is_any() || !sources.is_empty() || wanted.named.iter().any(|ip| !ip.is_loopback()) {
            // The user's own sources come last, and have the last word.
            let mut systems: Vec<_> =
                core::iter::once(interfaces::system()).chain(interfaces::radios()).collect();
            if self.encapsulation == Encapsulation::Udp && wanted.may_be_v6() {
                systems.extend(interfaces::translators());
            }
            sources.splice(0..0, systems);
        }
        let count = shard_count(self.shards);
        let shared =
            Arc::new(Shared::new(self.encapsulation, self.sctp_port, &self.config, self.send_memory, count));
        let board = {
            let shared = Arc::downgrade(&shared);
            Board::new(move || {
                if let Some(shared) = shared.upgrade() {
                    shared.inboxes()[0].wake();
                }
            })
        };
        let running = board.start(sources);
        // Without the system's word, named addresses work, and any will once it comes.
        let _ = timeout(FIRST_WORD, board.all_have_spoken()).await;
        let interfaces = board.read();
        let client = Arc::new(Client(shared.clone()));
        let drivers = Drivers {
            config: Arc::new(self.config),
            seed,
            new_policy: self.policy.for_addresses(&wanted),
            recorder: self.recorder.map(SharedRecorder::new),
            encapsulation: self.encapsulation,
            shared: &shared,
            client: Arc::downgrade(&client),
            interfaces: &interfaces,
        };
        for driver in drivers.make(wanted, count, Sources { board, running })? {
            runtime.spawn(driver);
        }
        shared.set_interfaces(Arc::new(interfaces));
        Ok(Endpoint::new(client))
    }
}

impl core::fmt::Debug for EndpointBuilder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EndpointBuilder")
            .field("addresses", &self.addresses)
            .field("config", &self.config)
            .field("sctp_port", &self.sctp_port)
            .field("encapsulation", &self.encapsulation)
            .field("link_sources", &self.sources.iter().map(|source| source.name()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

fn shard_count(asked: u32) -> NonZeroU32 {
    let processors = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let count = if asked == 0 { processors() } else { asked };
    NonZeroU32::new(count.min(SHARDS_MAX)).unwrap_or(NonZeroU32::MIN)
}

fn system_seed() -> Result<Seed, BindError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| BindError::NoRandomness(error.to_string()))?;
    Ok(Seed::from_bytes(bytes))
}

fn wanted(addresses: &[SocketAddr], encapsulation: Encapsulation) -> Result<Wanted, BindError> {
    let port = addresses.first().ok_or(BindError::NoAddress)?.port();
    let mut wanted = Wanted { port, ..Wanted::default() };
    for (index, address) in addresses.iter().enumerate() {
        let ip = address.ip();
        if addresses[..index].iter().any(|other| other.ip() == ip) {
            return Err(BindError::Duplicate(ip));
        }
        if encapsulation == Encapsulation::Udp && address.port() != port {
            return Err(BindError::DifferentPorts { first: port, other: address.port() });
        }
        match ip.is_unspecified() {
            true if ip.is_ipv4() => wanted.any_v4 = true,
            true => wanted.any_v6 = true,
            false => wanted.named.push(ip),
        }
    }
    Ok(wanted)
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
