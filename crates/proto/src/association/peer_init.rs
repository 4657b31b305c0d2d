//! What an INIT or INIT ACK says (RFC 9260 §3.3.2, §3.3.3, §5.1.1, §5.1.2).

use core::net::{IpAddr, SocketAddr};

use smallvec::SmallVec;
use whimbrel_wire::draft::PARAMETER_KEY_MANAGEMENT;
use whimbrel_wire::{List, Parameter, Parameters, UnknownAction, parameter_type};

use crate::auth::offer::{AuthParameters, Offer, Refusal};
use crate::config::Config;
use crate::negotiate::Extensions;

/// The least a_rwnd of an INIT or INIT ACK, in bytes (RFC 9260 §3.3.2, §3.3.3): with less, no full packet could be sent.
pub(crate) const LEAST_A_RWND: u32 = 1500;

/// What to do with an INIT or INIT ACK whose parameters cannot be accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A Host Name Address parameter: abort (RFC 9260 §5.1.2 B). Holds the parameter.
    HostName(Vec<u8>),
    /// A parameter whose length is unusable: the rest cannot be found.
    Malformed,
}

/// The parameters of an INIT or INIT ACK, as far as this implementation uses them.
#[derive(Debug, Default)]
pub(crate) struct PeerParameters<'a> {
    /// Addresses listed, usable ones only, each once.
    pub(crate) addresses: SmallVec<[IpAddr; 4]>,
    pub(crate) cookie: Option<&'a [u8]>,
    /// EDMID of Zero Checksum Acceptable (RFC 9653).
    pub(crate) zero_checksum: Option<u32>,
    /// Milliseconds of Cookie Preservative (RFC 9260 §3.3.2.1.3).
    pub(crate) cookie_preservative: u32,
    /// The upper layer's code point (RFC 5061 §4.2.6).
    pub(crate) adaptation: Option<u32>,
    /// The address of its own that the peer would like to be sent to (RFC 5061 §4.2.4).
    pub(crate) primary: Option<IpAddr>,
    /// Addresses that the peer cannot send to are not offered to it.
    pub(crate) families: Families,
    /// Parameters to report as unrecognized, headers included and padded (RFC 9260 §3.2.1).
    pub(crate) unrecognized: Vec<u8>,
    /// Its list of Supported Extensions, if it has sent one.
    pub(crate) extensions: Option<Extensions>,
    /// Authentication, not judged yet.
    pub(crate) auth: AuthParameters<'a>,
    /// Its DTLS Key Management parameter without padding (chunk draft §4.1).
    pub(crate) key_management: Option<&'a [u8]>,
}

/// Address families (RFC 9260 §3.3.2.1.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Families {
    v4: bool,
    v6: bool,
}

impl Default for Families {
    /// Who names none supports all.
    fn default() -> Self {
        Self { v4: true, v6: true }
    }
}

impl Families {
    /// Those in `types`, and that of `source`, which the peer has just used.
    fn named(types: List<'_, u16>, source: IpAddr) -> Self {
        let names = |code| types.iter().any(|named| named == code);
        Self {
            v4: source.is_ipv4() || names(parameter_type::IPV4_ADDRESS),
            v6: source.is_ipv6() || names(parameter_type::IPV6_ADDRESS),
        }
    }

    /// Those that are lacking as a number, for the State Cookie: mostly 0.
    pub(crate) const fn lacking(self) -> u8 {
        !self.v4 as u8 | (!self.v6 as u8) << 1
    }

    /// What [`Self::lacking`] has made a number of; `None` if it is nothing of the kind.
    pub(crate) const fn from_lacking(bits: u8) -> Option<Self> {
        if bits > 3 { None } else { Some(Self { v4: bits & 1 == 0, v6: bits & 2 == 0 }) }
    }

    pub(crate) const fn include(self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(_) => self.v4,
            IpAddr::V6(_) => self.v6,
        }
    }
}

/// Bytes of unrecognized parameters reported at most: an answer must not be much larger than the question
/// (RFC 5062 §9).
const MAX_UNRECOGNIZED: usize = 256;

impl<'a> PeerParameters<'a> {
    /// Reads the parameters of a chunk that came from `source`. Addresses beyond `max_addresses` are ignored.
    pub(crate) fn read(
        parameters: Parameters<'a>,
        source: IpAddr,
        max_addresses: usize,
    ) -> Result<Self, Problem> {
        let mut out = Self::default();
        let mut rest = parameters;
        while let Some(raw) = rest.next_raw() {
            let Ok(raw) = raw else { return Err(Problem::Malformed) };
            match raw.decode() {
                Ok(Parameter::Ipv4Address(address)) => out.address(address.into(), source, max_addresses),
                Ok(Parameter::Ipv6Address(address)) => out.address(address.into(), source, max_addresses),
                Ok(Parameter::StateCookie(cookie)) => out.cookie = Some(cookie),
                Ok(Parameter::ZeroChecksumAcceptable(edmid)) => out.zero_checksum = Some(edmid),
                Ok(Parameter::CookiePreservative(milliseconds)) => out.cookie_preservative = milliseconds,
                Ok(Parameter::AdaptationLayerIndication(code)) => out.adaptation = Some(code),
                Ok(Parameter::SetPrimaryAddress(request)) => out.primary = Some(request.address),
                Ok(Parameter::SupportedAddressTypes(types)) => out.families = Families::named(types, source),
                Ok(Parameter::SupportedExtensions(listed)) => {
                    if out.extensions.replace(Extensions::known(listed)).is_some() {
                        out.auth.note_repeated();
                    }
                }
                Ok(Parameter::HostName(_)) => return Err(Problem::HostName(raw.bytes().to_vec())),
                Ok(Parameter::Unknown(unknown)) if unknown.parameter_type == PARAMETER_KEY_MANAGEMENT => {
                    out.key_management = Some(unknown.raw);
                }
                Ok(Parameter::Unknown(unknown)) => {
                    let action: UnknownAction = unknown.action();
                    if action.reports() && out.unrecognized.len() + raw.bytes().len() <= MAX_UNRECOGNIZED {
                        out.unrecognized.extend_from_slice(raw.bytes());
                        out.unrecognized.resize(out.unrecognized.len().next_multiple_of(4), 0);
                    }
                    if action.stops() {
                        break;
                    }
                }
                // Authentication; or known to the codec, but announcing something not in use here.
                Ok(other) => out.auth.note(&other),
                // Malformed inside, and so void.
                Err(_) => {}
            }
        }
        Ok(out)
    }

    fn address(&mut self, address: IpAddr, source: IpAddr, max: usize) {
        if is_usable(address, source) && !self.addresses.contains(&address) && self.addresses.len() < max {
            self.addresses.push(address);
        }
    }

    /// What is offered of authentication, see [`AuthParameters::judge`].
    pub(crate) fn judge_auth(&self, config: &Config) -> Result<Option<Offer>, Refusal> {
        // Who protects whole packets authenticates no chunks.
        let extensions = self.extensions.filter(|_| self.key_management.is_none());
        self.auth.judge(config, extensions.unwrap_or_default())
    }

    /// All transport addresses of the peer (RFC 9260 §5.1.2 C), see [`remotes`].
    pub(crate) fn remotes(&self, source: SocketAddr) -> Vec<SocketAddr> {
        remotes(source, self.addresses.iter().copied())
    }
}

/// The `listed` addresses and `source`. The listed ones are given the source's encapsulation port until they show
/// another (RFC 6951 §5.1), and keep their order: the n-th of the peer is paired with the n-th of ours, whichever of
/// them the handshake came to use. A source that is not listed comes first.
pub(crate) fn remotes(source: SocketAddr, listed: impl Iterator<Item = IpAddr>) -> Vec<SocketAddr> {
    let mut out: Vec<SocketAddr> = listed.map(|ip| SocketAddr::new(ip, source.port())).collect();
    if !out.contains(&source) {
        out.insert(0, source);
    }
    out
}

/// Whether an address in a chunk from `source` may be one of the peer's. Loopback addresses mean something only
/// to a peer on this very host, link-local ones only on one link. An IPv4-mapped IPv6 address must not be sent (RFC 9260
/// §3.3.2.1.2), and would escape the rules for IPv4 addresses.
pub(crate) fn is_usable(address: IpAddr, source: IpAddr) -> bool {
    if address.is_unspecified() || address.is_multicast() {
        return false;
    }
    match address {
        IpAddr::V4(v4) if v4.is_broadcast() => false,
        IpAddr::V4(v4) if v4.is_link_local() => source == address,
        IpAddr::V6(v6) if v6.is_unicast_link_local() => source == address,
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => false,
        _ => !address.is_loopback() || source.is_loopback(),
    }
}

#[cfg(test)]
#[path = "peer_init_tests.rs"]
mod tests;
