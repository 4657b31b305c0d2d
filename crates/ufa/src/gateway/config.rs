use core::net::{IpAddr, SocketAddr};
use core::time::Duration;

use crate::agent::Patience;
use crate::sip::{HardwareAddress, SipConfig};

/// How a gateway is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatewayConfig {
    /// Its SIP address, towards the world, other gateways and its terminals.
    pub address: SocketAddr,
    /// Its own network.
    pub access: Access,
    /// What it has for terminals.
    pub resources: Resources,
    /// In which order both ends are told.
    pub order: Order,
    /// How what has waited for a terminal leaves.
    pub release: Release,
    /// How long it waits.
    pub patience: Patience,
    /// How it speaks SIP.
    pub sip: SipConfig,
    /// What there is for those who speak in clear.
    pub clear: ClearSip,
}

/// What a gateway has for agents of others, who speak in clear.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClearSip {
    /// Proxies that are believed when they say from whom they have a request.
    pub proxies: Vec<IpAddr>,
    /// What the domain is called whose users can say where they are, besides the gateway's address.
    pub domain: Option<String>,
}

/// A gateway's own network, as message 5A describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its address on layer 2.
    pub mac: HardwareAddress,
    /// The name of the network.
    pub essid: String,
    /// The radio channel.
    pub channel: u16,
    /// The netmask of the terminals' addresses.
    pub netmask: IpAddr,
    /// Addresses that terminals are given.
    pub addresses: Vec<IpAddr>,
    /// From the gateway to a terminal, one way, without the time that sending takes.
    pub delay: Duration,
    /// By which terminals that come know the gateway, where SIP is protected.
    pub key: Option<String>,
}

/// What a gateway has for terminals, all together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// bit/s on the air.
    pub throughput: u64,
    /// bit/s that one terminal is given at most.
    pub per_terminal: u64,
    /// Bytes of IP packets that can wait for terminals that are expected.
    pub buffer: u64,
    /// Bytes that are kept for a terminal at least, where its bandwidth-delay product is less.
    pub least_buffer: u64,
}

/// In which order a source tells both ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// Messages 5, 6 and 7, then 5A, 6A and 7A, as they are numbered. A terminal is told only what its correspondent has agreed to.
    #[default]
    OneAfterTheOther,
    /// Messages 5 and 5A at once, as the paper's text has it.
    AtOnce,
}

/// How what has waited for a terminal leaves once it has come (message 8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Release {
    /// All at once, as the paper has it. What the queue of the access network does not hold is lost there.
    #[default]
    AtOnce,
    /// At the rate that the terminal has been granted, and twice as fast with each second, so that packets wait here no longer than that takes. What comes meanwhile waits behind.
    AtGrantedRate,
}
