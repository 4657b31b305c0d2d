//! Where the hosts of the torture table are, and by which addresses.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;

use whimbrel_machine::{InterfaceKind, Nat64Prefix};

const UDP: u16 = 9899;

/// A NAT box forgets who has been silent for so long.
pub(super) const NAT_IDLE: Duration = Duration::from_secs(30);

/// A network that a host is in: the mobile host's, and the server's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Network {
    Core = 1,
    Core2 = 2,
    Wifi = 3,
    Lte = 4,
    Wired = 5,
    Satellite = 6,
}

impl Network {
    /// The server's first, each in the order of its number.
    pub(super) const ALL: [Self; 6] =
        [Self::Core, Self::Core2, Self::Wifi, Self::Lte, Self::Wired, Self::Satellite];

    pub(super) fn is_servers(self) -> bool {
        matches!(self, Self::Core | Self::Core2)
    }

    /// Among those of its host, from 1.
    const fn number(self) -> u8 {
        match self {
            Self::Core | Self::Wifi => 1,
            Self::Core2 | Self::Lte => 2,
            Self::Wired => 3,
            Self::Satellite => 4,
        }
    }

    pub(super) const fn kind(self) -> InterfaceKind {
        match self {
            Self::Wifi => InterfaceKind::WirelessLan,
            Self::Lte | Self::Satellite => InterfaceKind::Cellular,
            Self::Core | Self::Core2 | Self::Wired => InterfaceKind::Wired,
        }
    }

    /// What stands for it beyond a NAT.
    pub(super) const fn public(self) -> Ipv4Addr {
        Ipv4Addr::new(203, 0, 113, self.number())
    }
}

/// Families of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Families {
    V4,
    V6,
    Both,
}

impl Families {
    pub(super) fn include(self, address: IpAddr) -> bool {
        self == Self::Both || address.is_ipv4() == (self == Self::V4)
    }

    /// Whether hosts with these can reach each other.
    pub(super) fn meet(self, other: Self) -> bool {
        self == other || self == Self::Both || other == Self::Both
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::V4 => "ipv4",
            Self::V6 => "ipv6",
            Self::Both => "dual",
        }
    }
}

/// What stands between the mobile host's networks and the rest of the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Translation {
    None,
    /// NAT boxes for IPv4. The server has public addresses.
    Nats,
    /// The same, and the addresses behind them look public: some provider uses those of others inside its network.
    PublicInside,
    /// The same, and IPv4 is reached from IPv6 (RFC 6146), by the well-known prefix.
    Nat64,
    /// By a prefix of the network's own, which it tells.
    OwnNat64,
}

impl Translation {
    /// What IPv4 addresses are called in a network of the mobile host.
    pub(super) fn prefix(self, network: Network) -> Option<Nat64Prefix> {
        let own = match network {
            Network::Wifi => "2001:db8:64::/96",
            _ => "2001:db8:65:4600::/56",
        };
        match self {
            Self::None | Self::Nats | Self::PublicInside => None,
            Self::Nat64 => Some(Nat64Prefix::WELL_KNOWN),
            Self::OwnNat64 => own.parse().ok(),
        }
    }
}

/// A host's addresses in a network; another `host` is another one there.
pub(super) fn addresses(
    network: Network,
    families: Families,
    translation: Translation,
    host: u8,
) -> impl Iterator<Item = SocketAddr> {
    let n = network.number();
    let (v4, side) = match (network.is_servers(), translation) {
        (false, Translation::PublicInside) => ([25, 61, n, host], 0x61),
        (false, _) => ([10, 61, n, host], 0x61),
        (true, Translation::None) => ([10, 62, n, host], 0x62),
        (true, _) => ([198, 51, 99 + n, host], 0x62),
    };
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, side, n.into(), 0, 0, 0, host.into());
    [IpAddr::from(v4), v6.into()]
        .into_iter()
        .filter(move |ip| families.include(*ip))
        .map(|ip| SocketAddr::new(ip, UDP))
}

/// What an IPv4 address is called where this prefix counts.
pub(super) fn called(address: SocketAddr, prefix: Nat64Prefix) -> SocketAddr {
    let IpAddr::V4(v4) = address.ip() else { return address };
    SocketAddr::new(prefix.synthesise(v4).into(), address.port())
}
