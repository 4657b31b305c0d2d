//! The body of a cookie as bytes: fixed fields, the route, the addresses. Big-endian.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use core::time::Duration;

use smallvec::SmallVec;
use whimbrel_machine::{Instant, Route};
use whimbrel_wire::Tsn;

use super::{CookieContents, MAX_COOKIE_ADDRESSES};
use crate::association::peer_init::Families;
use crate::auth::offer::{MAX_CHUNKS, MAX_HMACS, Offer};
use crate::negotiate::{Agreement, Extensions};
use crate::protection::negotiate::{MAX_PARAMETER, PeerProtection};

const IPV4: u8 = 4;
const IPV6: u8 = 6;

/// Whether something optional follows.
const ABSENT: u8 = 0;
const PRESENT: u8 = 1;

pub(super) fn write(contents: &CookieContents, out: &mut Vec<u8>) {
    let agreement = &contents.agreement;
    let lifetime = u64::try_from(contents.lifetime.as_nanos()).unwrap_or(u64::MAX);
    out.extend_from_slice(&contents.created.as_nanos().to_be_bytes());
    out.extend_from_slice(&lifetime.to_be_bytes());
    out.extend_from_slice(&contents.local_tag.to_be_bytes());
    out.extend_from_slice(&agreement.peer_tag.to_be_bytes());
    out.extend_from_slice(&contents.tie_tags.0.to_be_bytes());
    out.extend_from_slice(&contents.tie_tags.1.to_be_bytes());
    out.extend_from_slice(&contents.local_port.to_be_bytes());
    out.extend_from_slice(&contents.peer_port.to_be_bytes());
    out.extend_from_slice(&contents.local_initial_tsn.0.to_be_bytes());
    out.extend_from_slice(&agreement.peer_initial_tsn.0.to_be_bytes());
    out.extend_from_slice(&agreement.peer_a_rwnd.to_be_bytes());
    out.extend_from_slice(&agreement.outbound_streams.to_be_bytes());
    out.extend_from_slice(&agreement.inbound_streams.to_be_bytes());
    out.extend_from_slice(&agreement.zero_checksum.unwrap_or(0).to_be_bytes());
    write_socket_address(contents.route.local, out);
    write_socket_address(contents.route.remote, out);
    let count = contents.peer_addresses.len().min(MAX_COOKIE_ADDRESSES);
    out.push(count as u8);
    for &address in &contents.peer_addresses[..count] {
        write_address(address, out);
    }
    let present = |value: Option<u32>| if value.is_some() { PRESENT } else { ABSENT };
    let (adaptation, cut) = (agreement.adaptation, contents.named_below);
    let protection = agreement.protection.as_ref().filter(|peer| peer.parameter.len() <= MAX_PARAMETER);
    let protected = if protection.is_some() { PRESENT } else { ABSENT };
    out.push(protected << 4 | present(cut) << 3 | contents.families.lacking() << 1 | present(adaptation));
    adaptation.iter().chain(&cut).for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    if let Some(PeerProtection { parameter, digest }) = protection {
        out.push(parameter.len() as u8);
        out.extend_from_slice(parameter);
        out.extend_from_slice(digest);
    }
    write_optional(agreement.primary, out, write_address);
    write_optional(agreement.auth.as_ref(), out, write_offer);
    // A cookie is no longer for the extensions that a peer does not have.
    let extensions = agreement.extensions.list();
    if agreement.auth.is_some() || !extensions.is_empty() {
        out.push(extensions.len() as u8);
        out.extend_from_slice(&extensions);
    }
}

/// `None` unless `bytes` are exactly one body.
pub(super) fn read(bytes: &[u8]) -> Option<CookieContents> {
    let mut reader = Reader(bytes);
    let created = Instant::from_nanos(reader.u64()?);
    let lifetime = Duration::from_nanos(reader.u64()?);
    let (local_tag, peer_tag) = (reader.u32()?, reader.u32()?);
    let tie_tags = (reader.u64()?, reader.u64()?);
    let (local_port, peer_port) = (reader.u16()?, reader.u16()?);
    let (local_initial_tsn, peer_initial_tsn) = (Tsn(reader.u32()?), Tsn(reader.u32()?));
    let peer_a_rwnd = reader.u32()?;
    let (outbound_streams, inbound_streams) = (reader.u16()?, reader.u16()?);
    let zero_checksum = Some(reader.u32()?).filter(|&edmid| edmid != 0);
    let route = Route { local: reader.socket_address()?, remote: reader.socket_address()? };
    let count = Some(usize::from(reader.u8()?)).filter(|&count| count <= MAX_COOKIE_ADDRESSES)?;
    let peer_addresses = (0..count).map(|_| reader.address()).collect::<Option<_>>()?;
    let flags = reader.u8()?;
    let families = Families::from_lacking(flags >> 1 & 3)?;
    let adaptation = if flags & 1 == PRESENT { Some(reader.u32()?) } else { None };
    let named_below = if flags >> 3 & 1 == PRESENT { Some(reader.u32()?) } else { None };
    let protection = match flags >> 4 {
        ABSENT => None,
        PRESENT => Some(reader.protection()?),
        _ => return None,
    };
    let primary = reader.optional(Reader::address)?;
    let auth = reader.optional(Reader::offer)?;
    let mut extensions = Extensions::default();
    if auth.is_some() || !reader.0.is_empty() {
        let count = usize::from(reader.u8()?);
        let listed = reader.bytes(count)?;
        extensions = Extensions::known(listed);
        if extensions.list()[..] != *listed || (count == 0 && auth.is_none()) {
            return None;
        }
    }
    let agreement = Agreement {
        peer_tag,
        peer_initial_tsn,
        peer_a_rwnd,
        outbound_streams,
        inbound_streams,
        zero_checksum,
        adaptation,
        primary,
        extensions,
        auth,
        protection,
    };
    let contents = CookieContents {
        created,
        lifetime,
        local_tag,
        tie_tags,
        local_port,
        peer_port,
        local_initial_tsn,
        route,
        peer_addresses,
        families,
        named_below,
        agreement,
    };
    reader.0.is_empty().then_some(contents)
}

fn write_optional<T>(value: Option<T>, out: &mut Vec<u8>, write: impl FnOnce(T, &mut Vec<u8>)) {
    out.push(if value.is_some() { PRESENT } else { ABSENT });
    if let Some(value) = value {
        write(value, out);
    }
}

fn write_offer(offer: &Offer, out: &mut Vec<u8>) {
    out.extend_from_slice(&offer.random);
    // One more than the length: 0 if there was no such parameter, which is not the same as an empty one.
    let chunks = offer.chunks.as_ref().map_or(0, |chunks| chunks.len() as u16 + 1);
    out.extend_from_slice(&chunks.to_be_bytes());
    out.extend_from_slice(offer.chunks.as_deref().unwrap_or_default());
    out.push(offer.hmacs.len() as u8);
    offer.hmacs.iter().for_each(|id| out.extend_from_slice(&id.to_be_bytes()));
}

fn write_address(address: IpAddr, out: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => {
            out.push(IPV4);
            out.extend_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            out.push(IPV6);
            out.extend_from_slice(&address.octets());
        }
    }
}

fn write_socket_address(address: SocketAddr, out: &mut Vec<u8>) {
    write_address(address.ip(), out);
    out.extend_from_slice(&address.port().to_be_bytes());
    if let SocketAddr::V6(address) = address {
        // Link-local addresses mean nothing without the interface they are on.
        out.extend_from_slice(&address.scope_id().to_be_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn bytes(&mut self, len: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// `None` if what is there cannot be read.
    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.u8()? {
            ABSENT => Some(None),
            PRESENT => read(self).map(Some),
            _ => None,
        }
    }

    fn offer(&mut self) -> Option<Offer> {
        let random = self.take()?;
        let chunks = match usize::from(self.u16()?).checked_sub(1) {
            None => None,
            Some(count) if count > MAX_CHUNKS => return None,
            Some(count) => Some(SmallVec::from_slice(self.bytes(count)?)),
        };
        let count = usize::from(self.u8()?);
        if count > MAX_HMACS {
            return None;
        }
        let hmacs = (0..count).map(|_| self.u16()).collect::<Option<_>>()?;
        Some(Offer { random, chunks, hmacs })
    }

    fn protection(&mut self) -> Option<PeerProtection> {
        let len = Some(usize::from(self.u8()?)).filter(|&len| len <= MAX_PARAMETER)?;
        let parameter = SmallVec::from_slice(self.bytes(len)?);
        Some(PeerProtection { parameter, digest: self.take()? })
    }

    fn address(&mut self) -> Option<IpAddr> {
        match self.u8()? {
            IPV4 => self.take().map(|octets: [u8; 4]| Ipv4Addr::from(octets).into()),
            IPV6 => self.take().map(|octets: [u8; 16]| Ipv6Addr::from(octets).into()),
            _ => None,
        }
    }

    fn socket_address(&mut self) -> Option<SocketAddr> {
        let address = self.address()?;
        let port = self.u16()?;
        Some(match address {
            IpAddr::V4(_) => SocketAddr::new(address, port),
            IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, self.u32()?).into(),
        })
    }
}
