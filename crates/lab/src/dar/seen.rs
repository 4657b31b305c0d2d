//! Packets as somebody in the network sees them.

use core::net::IpAddr;

use whimbrel_machine::Instant;
use whimbrel_wire::{AsconfAck, Cause, Chunk, Packet, Parameter, Parameters};

use super::keys::Sessions;

/// Whether a packet has just left its sender or is just reaching its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// On its sender's link, lost on the way or not.
    Left,
    /// At the receiver, as the receiver gets it.
    Arrived,
}

/// A packet seen.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) moment: Moment,
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    pub(crate) tag: u32,
    pub(crate) chunks: Vec<Noted>,
}

/// A chunk, as far as the rules of address reconfiguration look at it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Noted {
    /// DATA with this TSN.
    Data(u32),
    /// SACK with its cumulative TSN and the offsets of its gap ack blocks.
    Sack(u32, Vec<(u16, u16)>),
    /// INIT or INIT ACK.
    Init,
    Asconf(Asked),
    AsconfAck(Answered),
    /// Chunk type.
    Other(u8),
}

/// An ASCONF.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    pub(crate) serial: u32,
    /// The Address Parameter.
    pub(crate) lookup: IpAddr,
    pub(crate) requests: Vec<Request>,
    /// Behind an AUTH chunk with the right HMAC.
    pub(crate) authenticated: bool,
}

/// One parameter of an ASCONF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) id: u32,
    pub(crate) address: IpAddr,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Add,
    Delete,
    SetPrimary,
}

/// An ASCONF-ACK.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answered {
    pub(crate) serial: u32,
    /// Error causes, by the correlation identifier of the request.
    pub(crate) refused: Vec<(u32, u16)>,
    pub(crate) bytes: Vec<u8>,
}

impl Seen {
    /// Reads a packet; `None` if it is none. What opens with a chunk that cannot be read ends there, as it does for a receiver.
    pub(crate) fn read(
        at: Instant,
        moment: Moment,
        ends: [IpAddr; 2],
        bytes: &[u8],
        sessions: &Sessions,
    ) -> Option<Self> {
        let packet = Packet::parse(bytes).ok().filter(Packet::checksum_is_valid)?;
        let tag = packet.header().verification_tag;
        let (mut chunks, mut noted, mut authenticated) = (packet.chunks(), Vec::new(), false);
        while let Some(Ok(raw)) = chunks.next_raw() {
            let Ok(chunk) = raw.decode() else { continue };
            if let Chunk::Auth(auth) = &chunk {
                authenticated |= sessions.is_genuine(tag, auth, &bytes[raw.offset()..]);
            }
            noted.push(note(&chunk, raw.bytes(), authenticated));
        }
        let [from, to] = ends;
        Some(Self { at, moment, from, to, tag, chunks: noted })
    }

    pub(crate) fn arrived(&self) -> bool {
        self.moment == Moment::Arrived
    }

    pub(crate) fn left(&self) -> bool {
        self.moment == Moment::Left
    }

    /// The TSNs of its DATA chunks.
    pub(crate) fn data(&self) -> impl Iterator<Item = u32> {
        self.chunks.iter().filter_map(|chunk| if let Noted::Data(tsn) = chunk { Some(*tsn) } else { None })
    }

    pub(crate) fn has_data(&self) -> bool {
        self.data().next().is_some()
    }

    pub(crate) fn asconf(&self) -> Option<&Asked> {
        self.chunks.iter().find_map(|chunk| if let Noted::Asconf(asked) = chunk { Some(asked) } else { None })
    }

    pub(crate) fn asconf_ack(&self) -> Option<&Answered> {
        let answered = |chunk: &'_ Noted| matches!(chunk, Noted::AsconfAck(_));
        match self.chunks.iter().find(|chunk| answered(chunk)) {
            Some(Noted::AsconfAck(answered)) => Some(answered),
            _ => None,
        }
    }

    pub(crate) fn is_init(&self) -> bool {
        self.chunks.contains(&Noted::Init)
    }

    /// Whether it acknowledges a TSN.
    pub(crate) fn acknowledges(&self, tsn: u32) -> bool {
        self.chunks.iter().any(|chunk| {
            let Noted::Sack(cumulative, gaps) = chunk else { return false };
            let ahead = tsn.wrapping_sub(*cumulative);
            ahead == 0
                || ahead > 1 << 31
                || gaps.iter().any(|&(from, to)| (from.into()..=to.into()).contains(&ahead))
        })
    }
}

impl Asked {
    /// What is asked for, in order.
    pub(crate) fn wishes(&self) -> Vec<(Kind, IpAddr)> {
        self.requests.iter().map(|request| (request.kind, request.address)).collect()
    }

    pub(crate) fn asks(&self, kind: Kind, address: IpAddr) -> bool {
        self.wishes().contains(&(kind, address))
    }

    /// The correlation identifier of the first request of a kind.
    pub(crate) fn id(&self, kind: Kind) -> Option<u32> {
        self.requests.iter().find(|request| request.kind == kind).map(|request| request.id)
    }
}

impl Answered {
    /// The error cause with which a request was refused.
    pub(crate) fn cause(&self, id: u32) -> Option<u16> {
        self.refused.iter().find(|(refused, _)| *refused == id).map(|&(_, cause)| cause)
    }
}

/// The address requests among parameters.
pub(crate) fn requests(parameters: Parameters<'_>) -> Vec<Request> {
    let request = |parameter| {
        let (kind, request) = match parameter {
            Parameter::AddIpAddress(request) => (Kind::Add, request),
            Parameter::DeleteIpAddress(request) => (Kind::Delete, request),
            Parameter::SetPrimaryAddress(request) => (Kind::SetPrimary, request),
            _ => return None,
        };
        Some(Request { kind, id: request.correlation_id, address: request.address })
    };
    parameters.map_while(Result::ok).filter_map(request).collect()
}

fn note(chunk: &Chunk<'_>, bytes: &[u8], authenticated: bool) -> Noted {
    match chunk {
        Chunk::Data(data) => Noted::Data(data.tsn.0),
        Chunk::Sack(sack) => {
            let gaps = sack.gap_ack_blocks().map(|block| (block.start, block.end)).collect();
            Noted::Sack(sack.cumulative_tsn_ack.0, gaps)
        }
        Chunk::Init(_) | Chunk::InitAck(_) => Noted::Init,
        Chunk::Asconf(asconf) => Noted::Asconf(Asked {
            serial: asconf.sequence_number,
            lookup: asconf.address,
            requests: requests(asconf.parameters),
            authenticated,
        }),
        Chunk::AsconfAck(ack) => Noted::AsconfAck(Answered {
            serial: ack.sequence_number,
            refused: refused(ack),
            bytes: bytes.to_vec(),
        }),
        other => Noted::Other(other.chunk_type()),
    }
}

fn refused(ack: &AsconfAck<'_>) -> Vec<(u32, u16)> {
    let mut refused = Vec::new();
    for parameter in ack.parameters.map_while(Result::ok) {
        if let Parameter::ErrorCauseIndication(indication) = parameter {
            let causes = indication.causes.map_while(Result::ok);
            refused.extend(causes.map(|cause: Cause<'_>| (indication.correlation_id, cause.code())));
        }
    }
    refused
}
