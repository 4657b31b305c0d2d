//! What agents and mobile nodes send: packets in tunnels, and registrations.

use core::net::Ipv4Addr;

use whimbrel_machine::IpProtocol;

const HEADER_BYTES: usize = 20;
const VERSION_AND_LENGTH: u8 = 0x45;
const TYPE_REQUEST: u8 = 1;
const TYPE_REPLY: u8 = 3;
const REGISTRATION_BYTES: usize = 24;
const REPLY_BYTES: usize = 20;

/// A message. The first byte tells which kind: registrations begin with their type (RFC 5944 §3.3, §3.4), a packet with
/// IP's version and header length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Message<'a> {
    /// An IP packet inside another (RFC 2003).
    Packet { source: Ipv4Addr, destination: Ipv4Addr, payload: &'a [u8] },
    /// Registration Request (RFC 5944 §3.3).
    Request { home: Ipv4Addr, agent: Ipv4Addr, care_of: Ipv4Addr, identification: u64 },
    /// Registration Reply (RFC 5944 §3.4); a code of 0 accepts.
    Reply { code: u8, home: Ipv4Addr, agent: Ipv4Addr, identification: u64 },
}

impl<'a> Message<'a> {
    /// What a message is on IP.
    pub(super) const fn protocol(&self) -> IpProtocol {
        match self {
            Self::Packet { .. } => IpProtocol::Ipv4,
            Self::Request { .. } => {
                IpProtocol::Simplified("Mobile IP Registration Request, without UDP (port 434)")
            }
            Self::Reply { .. } => {
                IpProtocol::Simplified("Mobile IP Registration Reply, without UDP (port 434)")
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Packet { source, destination, payload } => {
                let length = (HEADER_BYTES + payload.len()) as u16;
                out.extend_from_slice(&[VERSION_AND_LENGTH, 0]);
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&[0, 0, 0, 0, 64, IpProtocol::Tcp.number(), 0, 0]);
                out.extend_from_slice(&source.octets());
                out.extend_from_slice(&destination.octets());
                out.extend_from_slice(payload);
            }
            Self::Request { home, agent, care_of, identification } => {
                out.extend_from_slice(&[TYPE_REQUEST, 0, 0xff, 0xff]);
                out.extend_from_slice(&home.octets());
                out.extend_from_slice(&agent.octets());
                out.extend_from_slice(&care_of.octets());
                out.extend_from_slice(&identification.to_be_bytes());
            }
            Self::Reply { code, home, agent, identification } => {
                out.extend_from_slice(&[TYPE_REPLY, *code, 0xff, 0xff]);
                out.extend_from_slice(&home.octets());
                out.extend_from_slice(&agent.octets());
                out.extend_from_slice(&identification.to_be_bytes());
            }
        }
    }

    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let address = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(Ipv4Addr::from_octets);
        let number = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        match (*bytes.first()?, bytes.len()) {
            (VERSION_AND_LENGTH, HEADER_BYTES..) => Some(Self::Packet {
                source: address(12)?,
                destination: address(16)?,
                payload: &bytes[HEADER_BYTES..],
            }),
            (TYPE_REQUEST, REGISTRATION_BYTES) => Some(Self::Request {
                home: address(4)?,
                agent: address(8)?,
                care_of: address(12)?,
                identification: number(16)?,
            }),
            (TYPE_REPLY, REPLY_BYTES) => Some(Self::Reply {
                code: bytes[1],
                home: address(4)?,
                agent: address(8)?,
                identification: number(12)?,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
