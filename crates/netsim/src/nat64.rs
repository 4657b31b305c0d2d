use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What IPv4 addresses are called in a network that is IPv6 only and translates (RFC 6052 §2.2): these 96 bits, then the address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix(u128);

impl Prefix {
    /// The first 96 bits of `prefix`.
    pub(crate) const fn new(prefix: Ipv6Addr) -> Self {
        Self(prefix.to_bits() >> 32)
    }

    /// What an IPv4 address is called; any other is called what it is.
    pub(crate) fn embed(self, outside: SocketAddr) -> SocketAddr {
        match outside.ip() {
            IpAddr::V4(v4) => {
                let ip = Ipv6Addr::from_bits(self.0 << 32 | u128::from(v4.to_bits()));
                SocketAddr::new(ip.into(), outside.port())
            }
            IpAddr::V6(_) => outside,
        }
    }

    /// The IPv4 address that is called so.
    pub(crate) fn extract(self, inside: SocketAddr) -> Option<SocketAddr> {
        match inside.ip() {
            IpAddr::V6(v6) if v6.to_bits() >> 32 == self.0 => {
                let v4 = Ipv4Addr::from_bits(v6.to_bits() as u32);
                Some(SocketAddr::new(v4.into(), inside.port()))
            }
            IpAddr::V4(_) | IpAddr::V6(_) => None,
        }
    }
}
